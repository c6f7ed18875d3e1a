/* A level puts its buffer where the level above says, with more in it than it received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static double seen;

static void f(double **out, int depth)
{
    double *mine = malloc(N * sizeof *mine), *below = NULL;

    if (depth > 0) {
        f(&below, depth - 1);
        seen += below[N - 1];
    }
    mine[N - 1] = depth;
    MPI_Recv(mine, N / 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(mine)
    seen += mine[3];
    *out = mine;
}

int main(int argc, char **argv)
{
    double total = 0.0;
    double *last = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        for (int d = 0; d < 3; d++)
            MPI_Send(u, N / 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    else if (rank == 1)
        f(&last, 2);
    total += seen;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
