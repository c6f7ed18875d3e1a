/* Receives are completed before the unpacking, sends after it. */
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
    MPI_Request sends[1], receives[1];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    MPI_Irecv(rbuf, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &receives[0]); //~ take(rbuf)
    for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
        sbuf[i] = 2.0 * u[i];
    MPI_Isend(sbuf, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &sends[0]); //~ give(sbuf)
    MPI_Waitall(1, receives, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = rbuf[i];
    MPI_Waitall(1, sends, MPI_STATUSES_IGNORE);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
