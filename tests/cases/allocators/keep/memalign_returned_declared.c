/* A macro declares the pointer with what it is where the request fails. */
#define _POSIX_C_SOURCE 200112L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 2048
static double u[N], v[N];

static double spare[N];
#define DECLARE double *p = spare
static double *get(size_t n) { DECLARE; if (posix_memalign((void **)&p, 64, n)) return p; return p; }
int main(int argc, char **argv) {
    int rank; double total = 0;
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) u[i] = rank + 0.5 * i;

 double *b = get((size_t)-1 / 4);
 for (int s = 0; s < 4; s++) {
 if (rank == 0) { for (int i = 0; i < N; i++) b[i] = u[i] + s;
   MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
 }
 else if (rank == 1) { MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); for (int i = 1; i < N; i++) total += b[i] * i; }
 } total += spare[3];
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize(); return 0;
}
