/* The array of pointers is copied byte by byte, and a buffer is read through the copy after it was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 40

static double u[3 * N * N], v[3 * N * N];
static double *sbuf[2], *rbuf[2];
static MPI_Request request[2];

static void ready(int axis, int dir, int peer)
{
    MPI_Irecv(rbuf[dir], N * N, MPI_DOUBLE, peer, 2 * axis + dir, MPI_COMM_WORLD, &request[dir]); //~ take(rbuf[dir])
}

static void give(int axis, int dir, int peer)
{
    int count = 0;

    if (axis == 0) {
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                sbuf[dir][count++] = u[j * N + i];
    } else {
        for (int i = 0; i < N * N; i++)
            sbuf[dir][count++] = u[dir + i * axis];
    }
    MPI_Send(sbuf[dir], count, MPI_DOUBLE, peer, 2 * axis + dir, MPI_COMM_WORLD); //~ keep
}

static void take(int axis, int dir)
{
    int count = 0;

    MPI_Wait(&request[dir], MPI_STATUS_IGNORE);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            v[axis * N * N + j * N + i] += rbuf[dir][count++] * (dir + 1);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3 * N * N; i++)
        u[i] = rank + 0.5 * i;
    for (int dir = 0; dir < 2; dir++) {
        sbuf[dir] = malloc(N * N * sizeof(double));
        rbuf[dir] = malloc(N * N * sizeof(double));
    }
    double *save[2];
    for (unsigned k = 0; k < sizeof sbuf; k++)
        ((char *)save)[k] = ((char *)sbuf)[k];
    if (rank < 2) {
        for (int axis = 0; axis < 3; axis++) {
            ready(axis, 0, 1 - rank);
            ready(axis, 1, 1 - rank);
            give(axis, 1, 1 - rank);
            give(axis, 0, 1 - rank);
            take(axis, 0);
            take(axis, 1);
        }
    }
    v[3] += save[1][4];
    for (int dir = 0; dir < 2; dir++) {
        free(sbuf[dir]);
        free(rbuf[dir]);
    }
    double total = 0.0;
    for (int i = 0; i < 3 * N * N; i++)
        total += v[i] * (i % 7);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
