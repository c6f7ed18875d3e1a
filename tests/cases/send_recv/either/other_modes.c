/* Synchronous, buffered and replacing forms. */
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
    static char space[N * sizeof(double) + MPI_BSEND_OVERHEAD];
    void *detached;
    int size;
    MPI_Buffer_attach(space, sizeof space);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Ssend(sbuf, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++)
            sbuf[i] = -u[i];
        MPI_Bsend(sbuf, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += 3.0 * rbuf[i];
    }
    for (int i = 0; i < N; i++)
        u[i] = v[i] + rank;
    MPI_Sendrecv_replace(u, N, MPI_DOUBLE, peer, 3, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        v[i] = u[i];
    MPI_Buffer_detach(&detached, &size);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ points 11
