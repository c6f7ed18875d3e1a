#include <mpi.h>

#define N 2048

static double sbuf[N], rbuf[N];

void second(int rank, const double *u, double *v, int n)
{
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            sbuf[i] = u[i];
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
        v[1] = sbuf[n - 1];
    } else if (rank == 1) {
        MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            v[i] += rbuf[i];
    }
}
