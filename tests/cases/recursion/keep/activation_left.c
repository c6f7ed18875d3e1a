/* A level leaves its buffer to the one above, with more in it than it received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static double seen;

static double *left;

static void f(int depth)
{
    double *mine = malloc(N * sizeof *mine);

    if (depth > 0) {
        f(depth - 1);
        seen += left[N - 1];
    }
    mine[N - 1] = depth;
    MPI_Recv(mine, N / 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(mine)
    seen += mine[3];
    left = mine;
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        for (int d = 0; d < 3; d++)
            MPI_Send(u, N / 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    else if (rank == 1)
        f(2);
    total += seen;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
