/* Rows of cells in memory of calloc: characters, of which as many are read as came. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = size - 1 - rank;
    unsigned char *mine = malloc(N), *out = calloc(N, 1), *in = calloc(N, 1);
    for (int i = 0; i < N; i++)
        mine[i] = (i + rank) % 3 == 0;
    for (int t = 0; t < 3; t++) {
        MPI_Request rq;
        MPI_Irecv(in, N, MPI_UNSIGNED_CHAR, peer, 7, MPI_COMM_WORLD, &rq); //~ take(in)
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            out[i] = mine[i];
        MPI_Send(out, N, MPI_UNSIGNED_CHAR, peer, 7, MPI_COMM_WORLD); //~ give(out)
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            if (in[i])
                mine[i] = !mine[i];
    }
    int alive = 0;
    for (int i = 0; i < N; i++)
        alive += mine[i];
    printf("%d: %d\n", rank, alive);
    free(in);
    free(out);
    free(mine);
    MPI_Finalize();
    return 0;
}
