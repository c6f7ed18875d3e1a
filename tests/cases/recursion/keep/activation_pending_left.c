/* What a level begins is complete only after all of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static MPI_Request request[4];

static void begin(int depth)
{
    double *mine = malloc(N * sizeof *mine);

    for (int i = 0; i < N; i++)
        mine[i] = u[i] + depth;
    MPI_Isend(mine, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &request[depth]); //~ keep(mine)
}

static void down(int depth)
{
    if (depth > 0)
        down(depth - 1);
    begin(depth);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        down(3);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    } else if (rank == 1)
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
