/* Rows chosen by a parameter; unsigned numbers count in them. */
#include <mpi.h>
#include <stdio.h>

#define N 1600

static double u[N], v[N];
static double sbuf[2][N], rbuf[2][N];

static void swap(int dir, int peer)
{
    for (unsigned i = 0; i < N; i++)
        sbuf[dir][i] = u[i] * (dir + 1);
    MPI_Sendrecv(sbuf[dir], N, MPI_DOUBLE, peer, dir, rbuf[dir], N, MPI_DOUBLE, peer, dir, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf[dir]) //~ take(rbuf[dir])
    for (unsigned i = 0; i < N; i++)
        v[i] += rbuf[dir][i];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (unsigned i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank < 2) {
        swap(0, 1 - rank);
        swap(1, 1 - rank);
    }
    double total = 0.0;
    for (unsigned i = 0; i < N; i++)
        total += v[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
