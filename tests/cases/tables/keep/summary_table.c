/* A function that touches no message changes a number that a cell of an array of pointers leads to. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double out[4096], u[4096];
static int *counts[4];

static void widen(int row)
{
    *counts[row] = 128;
}

int main(int argc, char **argv)
{
    int rank, peer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int i = 0; i < 4; i++) {
        counts[i] = malloc(sizeof *counts[i]);
        *counts[i] = 64;
    }
    for (int i = 0; i < *counts[1]; i++) out[i] = rank + i;
    widen(argc);
    MPI_Send(out, *counts[1], MPI_DOUBLE, peer, 0, MPI_COMM_WORLD); //~ keep(out)
    MPI_Recv(u, 128, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d %g %g\n", rank, u[3], u[127]);
    for (int i = 0; i < 4; i++) free(counts[i]);
    MPI_Finalize();
    return 0;
}
