/* A row has a short name for its message, in a loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double sbuf[2][N], rbuf[2][N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request rq[4];
    for (int k = 0; k < 2; k++) {
        double *in = rbuf[k];
        MPI_Irecv(in, N, MPI_DOUBLE, 1 - rank, k, MPI_COMM_WORLD, &rq[k]); //~ take(in)
    }
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[k][i] = rank + k + 0.5 * i;
        double *out = sbuf[k];
        MPI_Isend(out, N, MPI_DOUBLE, 1 - rank, k, MPI_COMM_WORLD, &rq[2 + k]); //~ give(out)
    }
    MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++)
            sum += (k + 1) * rbuf[k][i];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
