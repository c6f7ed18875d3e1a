/* The region begins under an `#if`, and what it is about stands after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double in[N], out[N];

static double total(const double *x, int n)
{
    double sum = 0.0;
#ifdef THREADS
#pragma omp parallel reduction(+ : sum)
    {
#endif
        for (int i = 0; i < n; i++)
            sum += x[i];
#ifdef THREADS
    }
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
        MPI_Sendrecv(out, N, MPI_DOUBLE, (rank + 1) % size, 0, in, N, MPI_DOUBLE, (rank + size - 1) % size, 0, //~ keep(in)
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += total(in, N);
    }
    printf("%d: %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
