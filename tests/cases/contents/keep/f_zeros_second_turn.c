/* The first turn reads zeros, the second one reads them again after what was received. */
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
    double *b = calloc(N, sizeof(double));
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < N; i++)
            v[i] += b[i];
        if (rank == 0)
            MPI_Send(u, N / 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(b, N / 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI202
    }
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
