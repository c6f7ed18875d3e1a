/* Bits of one argument say what is done. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 800
#define GATHER 1u
#define SCATTER 2u
#define CLEAR 4u

static double u[CELLS];

static void move(double *b, unsigned what)
{
    if (what & GATHER)
        for (int i = 0; i < CELLS; i++)
            b[i] = u[(i * 7) % CELLS];
    if (what & SCATTER)
        for (int i = 0; i < CELLS; i++)
            u[(i * 7) % CELLS] += 0.5 * b[i];
    if (what & CLEAR)
        for (int i = 0; i < CELLS; i++)
            u[i] = 0.75 * u[i];
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
    double there[CELLS], here[CELLS];
    if (peer < size)
        for (int t = 0; t < 3; t++) {
            move(there, GATHER | CLEAR);
            if (rank < peer) {
                MPI_Send(there, CELLS, MPI_DOUBLE, peer, t, MPI_COMM_WORLD); //~ give(there)
                MPI_Recv(here, CELLS, MPI_DOUBLE, peer, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(here)
            } else {
                MPI_Recv(here, CELLS, MPI_DOUBLE, peer, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(here)
                MPI_Send(there, CELLS, MPI_DOUBLE, peer, t, MPI_COMM_WORLD); //~ give(there)
            }
            move(here, SCATTER);
        }
    double s = 0;
    for (int i = 0; i < CELLS; i++)
        s += u[i] * (i % 13 + 1);
    printf("%d %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
