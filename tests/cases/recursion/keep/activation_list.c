/* A deeper level follows a pointer to what the level above has, not to its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static double seen;

struct how {
    struct how *above;
    int depth, again;
};

static void f(struct how *above, int depth)
{
    struct how here = {above, depth, 0};
    double *mine = malloc(N * sizeof *mine);
    int again = 0;

    for (int i = 0; i < N; i++)
        mine[i] = u[i] + depth;
    MPI_Send(mine, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(mine)
    for (; above; above = above->above)
        again += above->again;
    if (again)
        seen += mine[5];
    free(mine);
    here.again = 1;
    if (depth > 0)
        f(&here, depth - 1);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        f(NULL, 2);
    else if (rank == 1)
        for (int d = 0; d < 3; d++) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            total += v[9] + v[N - 1];
        }
    total += seen;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
