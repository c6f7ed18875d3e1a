/* Zeros are read beyond the message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *zeros(int n)
{
    double *p = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        p[i] = 0.0;
    return p;
}

int main(int argc, char **argv)
{
    int rank, n = 300;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = zeros(n), *in = zeros(n);
    double *other = zeros(3);
    other[0] = argc;
    for (int t = 0; t < 3 && rank < 2; t++) {
        MPI_Request rq[2];
        for (int i = 0; i < n; i++)
            out[i] = 0.5 * i * rank + t;
        MPI_Irecv(in, n - 10, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in) OPI201
        MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]);
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            sum += in[i] * (i % 7);
    }
    printf("%d %.17g\n", rank, sum + 0 * other[0]);
    free(out);
    free(in);
    free(other);
    MPI_Finalize();
    return 0;
}
