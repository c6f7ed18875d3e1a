/* A persistent send of the same buffer is active. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], r1[N], r2[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Request rq, rr[2];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < N; i++)
        sbuf[i] = 2.0 * u[i];
    MPI_Irecv(r1, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rr[0]);
    MPI_Irecv(r2, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, &rr[1]);
    MPI_Send_init(sbuf, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &rq);
    MPI_Start(&rq);
    MPI_Send(sbuf, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD); //~ keep OPI106
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    MPI_Request_free(&rq);
    MPI_Waitall(2, rr, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = r1[i] - 3.0 * r2[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
