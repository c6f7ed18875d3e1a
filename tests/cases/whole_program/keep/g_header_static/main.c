/* A static buffer in a header: each of the two files has its own, and this one's alone is sent. */
#include <mpi.h>
#include <stdio.h>
#include "own.h"

double total(int turn);

int main(int argc, char **argv)
{
    int rank;
    static double rbuf[500];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
            pack(turn);
            MPI_Send(sbuf, 500, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI112
        } else if (rank == 1) {
            MPI_Recv(rbuf, 500, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%g\n", rbuf[499]);
        }
        printf("%g\n", total(turn));
    }
    MPI_Finalize();
    return 0;
}
