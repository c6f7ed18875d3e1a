/* The function is called through a pointer as well, which gives it another array. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[2][N], rbuf[2][N];

static double tbuf[2][N];

static void pack(double (*to)[N], int k)
{
    while (k < 0)
        return;
    for (int i = 0; i < N; i++)
        to[k][i] = u[i] * (k + 1);
}

static void (*const packing)(double (*)[N], int) = pack;

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
        MPI_Irecv(rbuf[k], N, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rr[k]);
    for (int k = 0; k < 2; k++) {
        pack(sbuf, k);
        packing(tbuf, k);
        MPI_Isend(sbuf[k], N, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &rs[k]); //~ keep(sbuf)
    }
    int left = 2;
    while (left > 0) {
        int which;
        MPI_Waitany(2, rr, &which, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            v[i] += rbuf[which][i] * (which + 2);
        left--;
    }
    MPI_Waitall(2, rs, MPI_STATUSES_IGNORE);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1) + tbuf[1][i];
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
