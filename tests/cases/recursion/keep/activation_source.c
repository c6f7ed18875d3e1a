/* Deeper levels receive from nobody. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static void f(int from, int depth)
{
    double *mine = malloc(N * sizeof *mine);

    for (int i = 0; i < N; i++)
        mine[i] = u[i] + depth;
    MPI_Recv(mine, N, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace(mine)
    for (int i = 0; i < N; i++)
        v[i] += mine[i];
    free(mine);
    if (depth > 0)
        f(MPI_PROC_NULL, depth - 1);
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0)
        MPI_Send(u, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    else if (rank == 1)
        f(0, 2);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
