/* One row in one branch, the other in the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1600

static double u[N], v[N];
static double *sbuf[2], *rbuf[2];

static void give(int dir, int peer)
{
    int count = 0;

    for (int i = 0; i < N; i++)
        sbuf[dir][count++] = u[dir ? N - 1 - i : i];
    MPI_Send(sbuf[dir], count, MPI_DOUBLE, peer, dir, MPI_COMM_WORLD); //~ give(sbuf[dir])
}

static void take(int dir, int peer)
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
        for (int turn = 0; turn < 3; turn++) {
            if (rank == 0) {
                give(0, 1);
                take(1, 1);
            } else {
                take(0, 0);
                give(1, 0);
            }
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
