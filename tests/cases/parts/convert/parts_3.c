/* Faces at constant places of a static array. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 256
enum { WEST, EAST, SOUTH, NORTH, FACES };

static double u[FACES * N], v[FACES * N];
static double sbuf[FACES * N], rbuf[FACES * N];

static void post(MPI_Request *rq, int peer)
{
    MPI_Irecv(rbuf + WEST * N, N, MPI_DOUBLE, peer, EAST, MPI_COMM_WORLD, &rq[0]); //~ take(rbuf + WEST * N)
    MPI_Irecv(rbuf + EAST * N, N, MPI_DOUBLE, peer, WEST, MPI_COMM_WORLD, &rq[1]); //~ take(rbuf + EAST * N)
    MPI_Irecv(rbuf + SOUTH * N, N, MPI_DOUBLE, peer, NORTH, MPI_COMM_WORLD, &rq[2]); //~ take(rbuf + SOUTH * N)
    MPI_Irecv(rbuf + NORTH * N, N, MPI_DOUBLE, peer, SOUTH, MPI_COMM_WORLD, &rq[3]); //~ take(rbuf + NORTH * N)
}

static void send(MPI_Request *rq, int peer)
{
    MPI_Isend(sbuf + WEST * N, N, MPI_DOUBLE, peer, WEST, MPI_COMM_WORLD, &rq[0]); //~ give(sbuf + WEST * N)
    MPI_Isend(sbuf + EAST * N, N, MPI_DOUBLE, peer, EAST, MPI_COMM_WORLD, &rq[1]); //~ give(sbuf + EAST * N)
    MPI_Isend(sbuf + SOUTH * N, N, MPI_DOUBLE, peer, SOUTH, MPI_COMM_WORLD, &rq[2]); //~ give(sbuf + SOUTH * N)
    MPI_Isend(sbuf + NORTH * N, N, MPI_DOUBLE, peer, NORTH, MPI_COMM_WORLD, &rq[3]); //~ give(sbuf + NORTH * N)
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Request rq[2 * FACES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < FACES * N; i++)
        u[i] = rank + 0.5 * i;
    post(rq, 1 - rank);
    for (int i = 0; i < N; i++) { //~ hole: i = 0 => i = 1
        sbuf[i] = u[i];
        sbuf[N + i] = u[N + i] * 2;
        sbuf[SOUTH * N + i] = u[i] - u[SOUTH * N + i];
        sbuf[NORTH * N + i] = u[NORTH * N + i];
    }
    send(rq + FACES, 1 - rank);
    MPI_Waitall(2 * FACES, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        v[i] = rbuf[WEST * N + i];
        v[N + i] = rbuf[EAST * N + i];
        v[2 * N + i] = rbuf[i + SOUTH * N];
        v[3 * N + i] = rbuf[i + NORTH * N];
    }
    double total = 0.0;
    for (int i = 0; i < FACES * N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
//~ points 4
