/* One of several ways, with a directive inside a loop that is left out as well. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double in[N], out[N];

static double total(const double *x, int n)
{
    double sum = 0.0;
#if defined THREADS_OUTER
#pragma omp parallel for reduction(+ : sum) collapse(2)
    for (int i = 0; i < n; i += 2)
        for (int k = 0; k < 2; k++)
            sum += x[i + k];
#elif defined THREADS_INNER
    for (int i = 0; i < n; i += 2) {
#pragma omp taskloop
        for (int k = 0; k < 2; k++)
            sum += x[i + k];
    }
#else
    for (int i = 0; i < n; i++)
        sum += x[i];
#endif
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < N; i++)
            out[i] = rank + step * i;
        MPI_Sendrecv(out, N, MPI_DOUBLE, (rank + 1) % size, 0, in, N, MPI_DOUBLE, (rank + size - 1) % size, 0, //~ take(in)
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += total(in, N);
    }
    printf("%d: %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
