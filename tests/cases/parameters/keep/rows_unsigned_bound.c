/* How far an unsigned number counts is told by the caller: both rows are filled at once. */
#include <mpi.h>
#include <stdio.h>

#define N 1600

static double u[N], v[N];
static double sbuf[2][N], rbuf[2][N];

static void pack(int dir, unsigned parts)
{
    for (unsigned i = 0; i < parts * N; i++)
        sbuf[dir][i] = u[i % N] * (i / N + 1);
}

static void swap(int dir, int peer)
{
    MPI_Sendrecv(sbuf[dir], N, MPI_DOUBLE, peer, dir, rbuf[dir], N, MPI_DOUBLE, peer, dir, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(sbuf[dir]) //~ take(rbuf[dir])
    for (int i = 0; i < N; i++)
        v[i] += rbuf[dir][i];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank < 2) {
        pack(0, argc + 1);
        swap(0, 1 - rank);
        swap(1, 1 - rank);
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
