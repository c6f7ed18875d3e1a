#include <mpi.h>

#define N 2048

double sbuf[N];
static double rbuf[N];

void ship(int rank, double x)
{
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = x * i;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI112
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
