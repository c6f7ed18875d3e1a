/* A mode that no caller asks for would read what was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 900

enum mode { PACK, SEND, UNPACK, SAVE };

static double u[CELLS], saved[CELLS];
static double message[CELLS];

static void step(int mode, int peer, int tag)
{
    switch (mode) {
    case PACK:
        for (int i = 0; i < CELLS; i++)
            message[i] = u[CELLS - 1 - i];
        break;
    case SEND:
        MPI_Send(message, CELLS, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD); //~ give(message)
        break;
    case UNPACK:
        for (int i = 0; i < CELLS; i++)
            u[i] -= 0.125 * message[i];
        break;
    case SAVE:
        memcpy(saved, message, sizeof message);
        break;
    default:
        abort();
    }
}

static void receive(int peer, int tag)
{
    MPI_Recv(message, CELLS, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(message)
    step(UNPACK, peer, tag);
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
        for (int t = 0; t < 2; t++) {
            if (rank % 2 == t) {
                step(PACK, peer, t);
                step(SEND, peer, t);
            } else {
                receive(peer, t);
            }
        }
    double s = 0;
    for (int i = 0; i < CELLS; i++)
        s += u[i] * (i % 13 + 1);
    printf("%d %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
