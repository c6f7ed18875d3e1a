/* The memory comes from a wrapper of its own, and each number is set by a small function. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void *get(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

static inline void put(double *a, int i, double x)
{
    a[i] = x;
}

static double *zeros(int n)
{
    double *p = get(n * sizeof(double));
    for (int i = 0; i < n; i++)
        put(p, i, -1.0);
    return p;
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = zeros(n), *in = zeros(n);
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
            out[i] = 0.5 * i * rank + t;
        MPI_Irecv(in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ take(in)
        MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ give(out)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            sum += in[i] * (i % 7);
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
