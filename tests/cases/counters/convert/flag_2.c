/* One function sends or receives, as its argument says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 700

enum way { SENDS, RECEIVES };

static double u[CELLS];
static double buf[CELLS];

static void transfer(enum way way, int peer, int tag)
{
    if (way == SENDS) {
        for (int i = 0; i < CELLS; i++)
            buf[i] = u[i] * 0.5;
        MPI_Send(buf, CELLS, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD); //~ give(buf)
    } else {
        MPI_Recv(buf, CELLS, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(buf)
        for (int i = 0; i < CELLS; i++)
            u[i] += buf[i];
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < CELLS; i++)
        u[i] = rank + i * 0.25;
    int peer = rank ^ 1;
    if (peer < size)
        for (int t = 0; t < 4; t++) {
            if (rank % 2 == t % 2)
                transfer(SENDS, peer, t);
            else
                transfer(RECEIVES, peer, t);
        }
    double s = 0;
    for (int i = 0; i < CELLS; i++)
        s += u[i] * (i % 13 + 1);
    printf("%d %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
