/* Some levels wait after the next one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static void down(int depth)
{
    double *mine = malloc(N * sizeof *mine);
    MPI_Request request;

    for (int i = 0; i < N; i++)
        mine[i] = u[i] + depth;
    MPI_Isend(mine, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &request); //~ keep(mine)
    if (depth % 2 == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (depth > 0)
        down(depth - 1);
    if (depth % 2 != 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(mine);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        down(3);
    else if (rank == 1)
        for (int d = 0; d < 4; d++) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            total += v[9] + v[N - 1];
        }
    for (int i = 0; i < N; i++)
        total += (u[i] + v[i]) * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
