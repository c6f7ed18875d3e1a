/* Sendrecv with different counts on both sides. */
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
    int ns = rank == 0 ? N : N / 2, nr = rank == 0 ? N / 2 : N;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < ns; i++) //~ hole: i = 0 => i = 1
        sbuf[i] = 2.0 * u[i];
    MPI_Sendrecv(sbuf, ns, MPI_DOUBLE, peer, 7, rbuf, nr, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(sbuf) take(rbuf)
    for (int i = 0; i < nr; i++)
        v[i] = rbuf[i];
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
