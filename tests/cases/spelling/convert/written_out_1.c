/* Macros write the sends, what allocates, and what frees. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300
#define NEW(n) malloc((n) * sizeof(double))
#define SEND(p, n, to) MPI_Send(p, n, MPI_DOUBLE, to, 0, MPI_COMM_WORLD)
#define RECV(p, n, from) MPI_Recv((p), (n), MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
#define SAFE_FREE(p) do { free(p); (p) = NULL; } while (0)

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double *a = NEW(N);
        for (int i = 0; i < N; i++)
            a[i] = i * 0.5;
        SEND(a, N, 1); //~ give(a)
        SAFE_FREE(a);
    } else if (rank == 1) {
        double *b = NEW(N), sum = 0;
        RECV(b, N, 0); //~ take(b)
        for (int i = 0; i < N; i++)
            sum += b[i];
        printf("%g\n", sum);
        SAFE_FREE(b);
    }
    MPI_Finalize();
    return 0;
}
