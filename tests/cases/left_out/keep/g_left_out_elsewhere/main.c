/* What this file leaves out of a header, another one compiles. */
#include "show.h"

#include <mpi.h>
#include <stdio.h>

double sbuf[500];
static double rbuf[500];
double traced(void);

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 2; step++) {
        if (rank == 0) {
            for (int i = 0; i < 500; i++)
                sbuf[i] = step + 0.5 * i;
            printf("%g\n", traced());
            MPI_Send(sbuf, 500, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, 500, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%g\n", rbuf[499]);
        }
    }
    MPI_Finalize();
    return 0;
}
