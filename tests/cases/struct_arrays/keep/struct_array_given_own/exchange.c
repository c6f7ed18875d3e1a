#include <mpi.h>
#include "edge.h"

void exchange(struct edge *e, MPI_Comm comm)
{
    MPI_Request rq;
    MPI_Irecv(e->in, e->n, MPI_DOUBLE, e->peer, 3, comm, &rq); //~ keep(e->in)
    MPI_Send(e->out, e->n, MPI_DOUBLE, e->peer, 3, comm); //~ keep(e->out)
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    side.n++;
}
