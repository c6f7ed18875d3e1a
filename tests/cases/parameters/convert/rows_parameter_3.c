/* Names for the rows; packing, sending and unpacking are functions of their own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1600

static double u[N], v[N];
static double *sbuf[2], *rbuf[2];

enum { DOWN, UP };

static void pack(int dir)
{
    for (int i = 0; i < N; i++)
        sbuf[dir][i] = u[i] + dir;
}

static void post(int dir, int peer, MPI_Request *request)
{
    MPI_Isend(sbuf[dir], N, MPI_DOUBLE, peer, dir, MPI_COMM_WORLD, request); //~ give(sbuf[dir])
}

static void unpack(int dir, int peer)
{
    MPI_Recv(rbuf[dir], N, MPI_DOUBLE, peer, dir, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf[dir])
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
    for (int dir = 0; dir < 2; dir++) {
        sbuf[dir] = malloc(N * sizeof(double));
        rbuf[dir] = malloc(N * sizeof(double));
    }
    if (rank < 2) {
        MPI_Request request[2];
        pack(UP);
        post(UP, 1 - rank, &request[0]);
        pack(DOWN);
        post(DOWN, 1 - rank, &request[1]);
        unpack(DOWN, 1 - rank);
        unpack(UP, 1 - rank);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
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
