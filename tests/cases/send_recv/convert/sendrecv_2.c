/* Sendrecv in a loop over steps. */
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
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 4; step++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[i] = u[i] * step;
        MPI_Sendrecv(sbuf, N, MPI_DOUBLE, peer, 7, rbuf, N, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
        for (int i = 0; i < N; i++)
            u[i] += rbuf[i];
    }
    for (int i = 0; i < N; i++)
        v[i] = u[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
