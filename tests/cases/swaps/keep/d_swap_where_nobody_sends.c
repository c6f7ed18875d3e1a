/* Rank 0 sends nothing, and frees by the other name what would be a block of the sends'. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double got[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *now = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        now[i] = rank + 0.5 * i;
    if (rank == 1)
        MPI_Send(now, N, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD); //~ keep
    if (rank == 0) {
        double *spare = malloc(N * sizeof(double));
        for (int i = 0; i < N; i++)
            spare[i] = 0.25 * i;
        MPI_Recv(got, N, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double *t = spare;
        spare = now;
        now = t;
        for (int i = 0; i < N; i++)
            total += got[i] + now[i] - spare[i];
        free(spare);
    }
    printf("%d: %.17g\n", rank, total);
    free(now);
    MPI_Finalize();
    return 0;
}
