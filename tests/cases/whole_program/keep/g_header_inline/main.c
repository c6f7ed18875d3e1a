/* One function of a header packs the first half for this file, and the second half for another: a call put into it for the
   first would be made for the second as well. */
#include <mpi.h>
#include <stdio.h>
#include "put.h"

double sbuf[1000];

void other(int turn);

int main(int argc, char **argv)
{
    int rank;
    static double rbuf[1000];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
            put(0, turn);
            other(turn);
            MPI_Send(sbuf, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI112
        } else if (rank == 1) {
            MPI_Recv(rbuf, 1000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%g %g\n", rbuf[499], rbuf[999]);
        }
    }
    MPI_Finalize();
    return 0;
}
