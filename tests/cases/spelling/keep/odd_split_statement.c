/* Two headers of one loop: a call put before it would be compiled in one configuration only. */
#include <mpi.h>
#include <stdio.h>

#define N 500
#ifndef BACKWARD
#define BACKWARD 0
#endif

static double sbuf[N];

int main(int argc, char **argv)
{
    int rank;
    static double rbuf[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
#if BACKWARD
            for (int i = N - 1; i >= 0; i--)
#else
            for (int i = 0; i < N; i++)
#endif
                sbuf[i] = turn + 0.5 * i;
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI109
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%g\n", rbuf[N - 1]);
        }
    }
    MPI_Finalize();
    return 0;
}
//~ silent: the text is what forbids it
