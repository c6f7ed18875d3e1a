#include "shared.h"
#include <mpi.h>

void give(const double *u, int t)
{
    for (int i = 0; i < halo.n; i++) //~ hole: i = 0 => i = 1
        halo.out[i] = u[i] + t;
    MPI_Send(halo.out, halo.n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(halo.out)
}

void take(double *u)
{
    MPI_Recv(halo.in, halo.n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(halo.in)
    for (int i = 0; i < halo.n; i++)
        u[i] += halo.in[i];
}
