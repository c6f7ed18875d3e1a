/* The pointer is a local variable of a function that returns before the
 * request completes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N];

static double *start(int peer, MPI_Request *rq)
{
    double *p = malloc(N * sizeof(double));
    MPI_Irecv(p, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, rq); //~ keep OPI206
    return p;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Request rq;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *in = start(peer, &rq);
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD);
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = in[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(in);
    MPI_Finalize();
    return 0;
}
