/* The function that fills keeps the address, and a number is read through it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *last;

static void clear(double *to, int n)
{
    last = to;
    for (int i = 0; i < n; i++)
        to[i] = 0.0;
}

static double *zeros(int n)
{
    double *p = malloc(n * sizeof(double));
    clear(p, n);
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
        for (int i = 0; i < n; i++)
            out[i] = 0.5 * i * rank + t;
        MPI_Irecv(in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in)
        MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]);
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            sum += in[i] * (i % 7);
        sum += last[t];
    }
    printf("%d %.17g\n", rank, sum);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
