/* The first call makes it, and large; the other one would make it small, and sends more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double *b;

static void step(int rank, int n, int t)
{
    if (rank == 0) {
        if (!b)
            b = malloc(n * sizeof(double));
        for (int i = 0; i < N / 2; i++)
            b[i] = u[i] + t;
        MPI_Send(b, N / 2, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b)
    } else if (rank == 1) {
        MPI_Recv(v, N / 2, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    step(rank, N, 1);
    step(rank, N / 64, 2);
    free(b);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
