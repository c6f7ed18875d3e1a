/* The name points after the beginning. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double u[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.25 * i;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    double *out = sbuf;
    const double *in = rbuf + 8;
    for (int t = 0; t < 3; t++) {
        for (int i = 0; i < N; i++)
            out[i] = 2.0 * u[i] + t;
        MPI_Sendrecv(sbuf, N, MPI_DOUBLE, 1 - rank, 7, rbuf, N, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI205
        for (int i = 0; i < N; i++)
            u[i] += 0.5 * in[i - 8];
    }
    free(sbuf);
    free(rbuf);
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += u[i] * (i + 1);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
