/* A function asks whether the buffer is there: no number that may be left out of sight, for a send takes it away. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *out, u[64];

static int there(void)
{
    return out != 0;
}

int main(int argc, char **argv)
{
    int rank, peer, seen = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    out = malloc(64 * sizeof *out);
    for (int i = 0; i < 64; i++) out[i] = rank + i;
    MPI_Send(out, 64, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ keep(out)
    MPI_Recv(u, 64, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (there()) seen = 1;
    printf("%d %d %g\n", rank, seen, u[3]);
    free(out);
    MPI_Finalize();
    return 0;
}
