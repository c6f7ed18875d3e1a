/* A struct takes the buffer to the deeper level. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static double seen;

struct box {
    double *b;
    int depth;
};

static void f(struct box above)
{
    struct box here = {malloc(N * sizeof(double)), above.depth - 1};

    for (int i = 0; i < N; i++)
        here.b[i] = u[i] + here.depth;
    MPI_Send(here.b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
    if (above.b)
        seen += above.b[5];
    if (here.depth > 0)
        f(here);
    free(here.b);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        f((struct box){NULL, 3});
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
