/* A message comes while deeper levels wait for theirs by the same request. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static MPI_Request request[2];

static void down(int depth)
{
    double *mine = malloc(N * sizeof *mine);

    MPI_Irecv(mine, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &request[depth % 2]); //~ keep(mine)
    if (depth > 0)
        down(depth - 1);
    MPI_Wait(&request[depth % 2], MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] += mine[i];
    free(mine);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 1)
        down(1);
    else if (rank == 0)
        for (int d = 0; d < 2; d++)
            MPI_Send(u, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(u)
    for (int i = 0; i < N; i++)
        total += (u[i] + v[i]) * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
