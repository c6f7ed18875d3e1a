/* All of it stands in a header that one file includes: a variable there keeps the size. */
#include <mpi.h>
#include <stdlib.h>

typedef struct {
    int n, peer;
    double *out;
} face_t;

static inline face_t *face_make(int n, int peer)
{
    face_t *f = malloc(sizeof *f);
    f->n = n;
    f->peer = peer;
    f->out = malloc(n * sizeof(double));
    return f;
}

static inline void face_pack(face_t *f, const double *u, int step)
{
    for (int i = 0; i < f->n; i++) //~ hole: i = 0 => i = 1
        f->out[i] = u[i] + step;
}

static inline void face_send(face_t *f, const double *u, int step)
{
    face_pack(f, u, step);
    MPI_Send(f->out, f->n, MPI_DOUBLE, f->peer, 7, MPI_COMM_WORLD); //~ give(f->out)
}
