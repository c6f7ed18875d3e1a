/* The allocating function changes its parameter before it asks for memory; another one is given sums and short types. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double *twice(int n)
{
    n = n * 2;
    return malloc(n * sizeof(double));
}

static double *items(int n)
{
    return malloc(n * sizeof(double));
}

static double *table(int n, int size)
{
    return calloc(n + 1, size);
}

static void message(int rank, double *b, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = rank + 0.5 * i;
}

static double sum(const double *b, int n)
{
    double out = 0.0;
    for (int i = 0; i < n; i++)
        out += b[i] * (i + 1);
    return out;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = twice(N / 2), *b = items(N - 1), *c = table(N - 1, 4 + 4);
    if (rank == 0) {
        message(rank, a, N);
        MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        message(rank, b, N - 1);
        MPI_Send(b, N - 1, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
        message(rank, c, N);
        MPI_Send(c, N, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(a, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(b, N - 1, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(c, N, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%.17g %.17g %.17g\n", sum(a, N), sum(b, N - 1), sum(c, N));
    }
    free(a);
    free(b);
    free(c);
    MPI_Finalize();
    return 0;
}
