/* Only this file is given: what calls its function, and how often, is not known. */
//~ analyse line.c
#include <mpi.h>

#define N 3000

static double in[N];

void from_left(double *v, int left)
{
    MPI_Recv(in, N, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in) OPI210
    for (int i = 0; i < N; i++)
        v[i] += in[i];
}
