/* realloc keeps the zeros, and what it adds holds nothing. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *b = calloc(N / 2, sizeof(double));
    b = realloc(b, N * sizeof(double));
    for (int i = N / 2; i < N; i++)
        b[i] = u[i];
    if (rank == 0) {
        MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
    }
    if (rank == 1) {
        MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
