/* The row passes through two calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1600

static double u[N], v[N];
static double *sbuf[2], *rbuf[2];

static void put(int row, double value, int at)
{
    sbuf[row][at] = value;
}

static void send(int row, int peer)
{
    for (int i = 0; i < N; i++)
        put(row, 3 * u[i] + row, i);
    MPI_Send(sbuf[row], N, MPI_DOUBLE, peer, row, MPI_COMM_WORLD); //~ give(sbuf[row])
}

static void receive(int row, int peer)
{
    MPI_Recv(rbuf[row], N, MPI_DOUBLE, peer, row, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf[row])
    for (int i = 0; i < N; i++)
        v[i] += rbuf[row][i];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int dir = 0; dir < 2; dir++) {
        sbuf[dir] = malloc(N * sizeof(double));
        rbuf[dir] = malloc(N * sizeof(double));
    }
    if (rank < 2) {
        if (rank == 0) {
            send(0, 1);
            send(1, 1);
            receive(0, 1);
            receive(1, 1);
        } else {
            receive(0, 0);
            receive(1, 0);
            send(0, 0);
            send(1, 0);
        }
    }
    for (int dir = 0; dir < 2; dir++) {
        free(sbuf[dir]);
        free(rbuf[dir]);
    }
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
