/* A tree of calls, two in each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static int rank;

static double tree(int level, int leaf)
{
    double *b, sum = 0.0;
    int n = N >> level;

    if (level > 3)
        return leaf;
    b = (double *)malloc(sizeof(double) * n);
    if (b == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    sum = tree(level + 1, 2 * leaf);
    for (int step = 0; step < 2; step++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                b[i] = u[i] + leaf + sum + step;
            MPI_Send(b, n, MPI_DOUBLE, 1, level, MPI_COMM_WORLD); //~ give(b)
        } else if (rank == 1) {
            MPI_Recv(b, n, MPI_DOUBLE, 0, level, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            for (int i = 0; i < n; i++)
                v[i] += b[i];
        }
    }
    sum += tree(level + 1, 2 * leaf + 1);
    free(b);
    return sum;
}

int main(int argc, char **argv)
{
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    total = tree(0, 1);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
