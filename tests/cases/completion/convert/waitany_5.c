/* MPI_Waitsome until as many have come as there are requests. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[2][N], rbuf[2][N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Request rr[2], rs[2];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int k = 0; k < 2; k++)
        MPI_Irecv(rbuf[k], N, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rr[k]); //~ take(rbuf[k])
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < N; i++)
            sbuf[k][i] = u[i] * (k + 1);
        MPI_Isend(sbuf[k], N, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rs[k]); //~ give(sbuf[k])
    }
    int come = 0;
    while (come < 2) {
        int some, which[2];
        MPI_Waitsome(2, rr, &some, which, MPI_STATUSES_IGNORE);
        come += some;
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++)
            v[i] += rbuf[k][i] * (k + 2);
    MPI_Waitall(2, rs, MPI_STATUSES_IGNORE);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
