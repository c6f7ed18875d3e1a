/* The function reads what it wrote, and keeps the sum. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double top;

static double *zeros(int n)
{
    double *p = malloc(n * sizeof(double));
    p[0] = 1.0;
    for (int i = 1; i < n; i++)
        p[i] = p[i - 1] + 1.0;
    top = p[n - 1];
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
        MPI_Irecv(in, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[0]); //~ keep(in) OPI215
        MPI_Isend(out, n, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &rq[1]); //~ keep(out) OPI114
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            sum += in[i] * (i % 7);
    }
    printf("%d %.17g\n", rank, sum + 0 * other[0] + top);
    free(out);
    free(in);
    free(other);
    MPI_Finalize();
    return 0;
}
