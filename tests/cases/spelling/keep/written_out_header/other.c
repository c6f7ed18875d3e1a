#include <mpi.h>
#define SEND(p) MPI_Send(p, N, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD)
#include "pass.h"

void other(void)
{
    for (int i = 0; i < N; i++)
        edge[i] = i + 2;
    pass();
}
