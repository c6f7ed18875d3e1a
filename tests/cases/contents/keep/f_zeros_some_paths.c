/* On one path the block is given and comes anew, and the zeros of the other path are read after both. */
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
        if (rank == 0 && step == 1) {
            for (int i = 0; i < N; i++)
                b[i] = u[i];
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI101
        }
        b[step] = 1.0;
        for (int i = 0; i < N; i++)
            v[i] += b[i];
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
