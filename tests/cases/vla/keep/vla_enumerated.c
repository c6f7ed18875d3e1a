/* Another array of the statement declares a number by a name in the length. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTS = 4 };

static double total;

static void turn(int rank, int t, int n)
{
    double out[PARTS * n], more[sizeof(enum { PARTS = 1 })];
    more[0] = t;
    if (rank == 0) {
        for (int i = 0; i < 1200; i++)
            out[i] = i + more[0];
        MPI_Send(out, 1200, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI114
    } else if (rank == 1) {
        MPI_Recv(out, 1200, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(out) OPI215
        for (int i = 0; i < 1200; i++)
            total += out[i] * (i + 1);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++)
        turn(rank, t, 300);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
