/* Sendrecv in a function of its own, both ways one after the other. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

static void shift(int peer, int tag)
{
    MPI_Sendrecv(sbuf, N, MPI_DOUBLE, peer, tag, rbuf, N, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int tag = 0; tag < 2; tag++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[i] = 2.0 * u[i];
        shift(peer, tag);
        for (int i = 0; i < N; i++)
            v[i] += rbuf[i];
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
