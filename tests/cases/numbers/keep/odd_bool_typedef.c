/* A _Bool behind a typedef holds 1, whatever it is given: less is packed than is sent. */
#include <mpi.h>
#include <stdio.h>

#define N 400

typedef _Bool flag_t;

static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        sbuf[i] = 7;
    for (int turn = 0; turn < 2; turn++) {
        flag_t f = 4;
        if (rank == 0) {
            for (int i = 0; i < f * 100; i++)
                sbuf[i] = turn + i;
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%g %g\n", rbuf[99], rbuf[399]);
        }
    }
    MPI_Finalize();
    return 0;
}
