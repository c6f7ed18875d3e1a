/* A pointer that is nothing but another name is set between MPI_Irecv and
 * MPI_Wait and used after it. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    MPI_Irecv(rbuf, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ take(rbuf)
    const double *in = rbuf;
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD); //~ give(sbuf)
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = in[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
