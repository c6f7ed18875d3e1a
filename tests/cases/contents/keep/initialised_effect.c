/* The first contents are what a function returns, which counts its calls. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 500

static double u[N];
static int calls;

static double next(void)
{
    return ++calls;
}

static double sum(const double *a, int n)
{
    double s = 0.0;

    for (int i = 0; i < n; i++)
        s += a[i] * (i % 5 + 1);
    return s;
}

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        double row[N] = {0}, top[N] = {next()};

        if (rank != size - 1) {
            for (int i = 0; i < N; i++)
                row[i] = u[i] + step;
            MPI_Send(row, N, MPI_DOUBLE, rank + 1, 7, MPI_COMM_WORLD); //~ give(row)
        }
        if (rank != 0)
            MPI_Recv(top, N, MPI_DOUBLE, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(top)
        total += calls;
        if (rank != 0)
            total += sum(top, N);
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
