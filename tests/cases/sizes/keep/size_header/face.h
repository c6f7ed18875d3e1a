/* One file makes a face, another packs it: a variable of the header would be another one in each. */
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
    for (int i = 0; i < f->n; i++)
        f->out[i] = u[i] + step;
}
