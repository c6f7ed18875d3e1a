/* The name outlives the block of the array that it names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double u[N];

int main(int argc, char **argv)
{
    int rank;
    double *in;
    int seen = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.25 * i;
    double *sbuf = malloc(N * sizeof(double)), *out = sbuf;
    for (int t = 0; t < 3; t++) {
        double rbuf[N];
        if (t == 0)
            in = rbuf;
        for (int i = 0; i < N; i++)
            out[i] = 2.0 * u[i] + t;
        MPI_Sendrecv(sbuf, N, MPI_DOUBLE, 1 - rank, 7, rbuf, N, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf)
        for (int i = 0; i < N; i++)
            u[i] += 0.5 * rbuf[i];
        seen += in == rbuf;
    }
    free(sbuf);
    u[0] += seen;
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += u[i] * (i + 1);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
