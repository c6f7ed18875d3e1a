/* Completion by MPI_Waitsome. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

#define D 3

static double u[N], v[N];
static double sbuf[D][N], rbuf[D][N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    MPI_Request rr[D], rs[D];
    int left = D;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int d = 0; d < D; d++)
        MPI_Irecv(rbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rr[d]);
    for (int d = 0; d < D; d++) {
        for (int i = 0; i < N; i++)
            sbuf[d][i] = u[i] + d;
        MPI_Isend(sbuf[d], N, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rs[d]);
    }
    while (left > 0) {
        int n, which[D];
        MPI_Waitsome(D, rr, &n, which, MPI_STATUSES_IGNORE);
        for (int k = 0; k < n; k++)
            for (int i = 0; i < N; i++)
                v[i] += rbuf[which[k]][i] * (which[k] + 1);
        left -= n;
    }
    MPI_Waitall(D, rs, MPI_STATUSES_IGNORE);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ points 7
