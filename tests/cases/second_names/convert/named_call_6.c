/* Nonblocking calls with local names. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 4; step++) {
        MPI_Request rq[2];
        double *out = sbuf, *in = rbuf;
        MPI_Irecv(in, N, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, &rq[0]); //~ take(rbuf)
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[i] = u[i] + step;
        MPI_Isend(out, N, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, &rq[1]); //~ give(sbuf)
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += rbuf[i];
    }
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
