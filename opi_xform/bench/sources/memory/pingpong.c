/* Ping-pongs of neighbours, 8 bytes to 256 KiB: the ranks 0 and 1, 2 and 3, ... */
#include "memory.h"

#define MOST (1 << 18)

static char out[MOST], in[MOST];

static void send_one(int bytes, int peer, int seed)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (char)(seed + i);
    MPI_Send(out, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
}

static long receive_one(int bytes, int peer, int seed)
{
    long wrong = 0;

    MPI_Recv(in, bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < bytes; i++)
        wrong += in[i] != (char)(seed + i);
    return wrong;
}

int main(int argc, char **argv)
{
    long wrong = 0;

    start(&argc, &argv);
    int peer = rank ^ 1;
    for (int bytes = 8; bytes <= MOST && peer < size; bytes *= 8)
        for (int i = 0; i < 3; i++) {
            if (rank < peer)
                send_one(bytes, peer, i);
            wrong += receive_one(bytes, peer, i);
            if (rank > peer)
                send_one(bytes, peer, i);
        }
    return finish(argc, argv, wrong);
}
