/* Migration of particles between neighbouring slabs. */
#include "particles.h"

#include <mpi.h>

#define MAXMOVE 8192            /* particles per message, at most */

enum { TAG_COUNT_LEFT, TAG_COUNT_RIGHT, TAG_LEFT, TAG_RIGHT };

static particle to_left[MAXMOVE], to_right[MAXMOVE];
static particle from_left[MAXMOVE], from_right[MAXMOVE];

/* Move particles that left the slab into the buffers and close the gaps;
 * positions wrap around at the ends of the ring. */
static void pack(slab *s, int *nleft, int *nright)
{
    int kept = 0, nl = 0, nr = 0;

    for (int i = 0; i < s->n; i++) {
        const particle *q = &s->p[i];
        if (q->x < s->lo) {
            if (nl == MAXMOVE)
                fail("too many particles leave to the left");
            to_left[nl] = *q;
            if (q->x < 0.0)
                to_left[nl].x += 1.0;
            nl++;
        } else if (q->x >= s->hi) {
            if (nr == MAXMOVE)
                fail("too many particles leave to the right");
            to_right[nr] = *q;
            if (q->x >= 1.0)
                to_right[nr].x -= 1.0;
            nr++;
        } else {
            s->p[kept++] = *q;
        }
    }
    s->n = kept;
    *nleft = nl;
    *nright = nr;
}

static void unpack(slab *s, const particle *buf, int n)
{
    if (s->n + n > s->room)
        fail("too many particles in one slab");
    for (int i = 0; i < n; i++)
        s->p[s->n++] = buf[i];
}

void migrate(slab *s)
{
    int nleft, nright;          /* particles that leave */
    int mleft, mright;          /* particles that come, from left and right */
    MPI_Comm comm = MPI_COMM_WORLD;

    pack(s, &nleft, &nright);

    MPI_Sendrecv(&nleft, 1, MPI_INT, s->left, TAG_COUNT_LEFT,
                 &mright, 1, MPI_INT, s->right, TAG_COUNT_LEFT,
                 comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&nright, 1, MPI_INT, s->right, TAG_COUNT_RIGHT,
                 &mleft, 1, MPI_INT, s->left, TAG_COUNT_RIGHT,
                 comm, MPI_STATUS_IGNORE);

    MPI_Sendrecv(to_left, nleft * (int)sizeof(particle), MPI_BYTE, s->left, TAG_LEFT,
                 from_right, mright * (int)sizeof(particle), MPI_BYTE, s->right, TAG_LEFT,
                 comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(to_right, nright * (int)sizeof(particle), MPI_BYTE, s->right, TAG_RIGHT,
                 from_left, mleft * (int)sizeof(particle), MPI_BYTE, s->left, TAG_RIGHT,
                 comm, MPI_STATUS_IGNORE);

    unpack(s, from_right, mright);
    unpack(s, from_left, mleft);
}
