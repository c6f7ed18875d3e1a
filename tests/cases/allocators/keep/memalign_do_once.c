/* The request is in a do { } while (0) of a macro, where older memory was freed on some ways. */
#define _POSIX_C_SOURCE 200112L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 2048
static double u[N], v[N];

#define MUST(e) do { if (e) { fprintf(stderr, "%s\n", #e); MPI_Abort(MPI_COMM_WORLD, 1); } } while (0)
static double *b; static int room;
static void grow(int n) { if (n > room) { if (room > 0) free(b); MUST(posix_memalign((void **)&b, 64, n * sizeof *b)); room = n; } }
int main(int argc, char **argv) {
    int rank; double total = 0;
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) u[i] = rank + 0.5 * i;

 for (int s = 0; s < 4; s++) { int n = 400 + 300 * s; grow(n);
 if (rank == 0) { for (int i = 0; i < n; i++) b[i] = u[i] + s;
   MPI_Send(b, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
 }
 else if (rank == 1) { MPI_Recv(b, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); for (int i = 1; i < n; i++) total += b[i] * i; }
 } free(b);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize(); return 0;
}
