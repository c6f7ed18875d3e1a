#include <mpi.h>

#include "face.h"

void face_send(face_t *f, const double *u, int step)
{
    face_pack(f, u, step);
    MPI_Send(f->out, f->n, MPI_DOUBLE, f->peer, 7, MPI_COMM_WORLD); //~ keep(out)
}
