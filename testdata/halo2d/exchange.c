/* Ghost exchange with the eight neighbours. */
#include "halo2d.h"

const int dir_x[NDIR] = { -1, 1, 0, 0, -1, 1, -1, 1 };
const int dir_y[NDIR] = { 0, 0, -1, 1, -1, 1, 1, -1 };

double sbuf[NDIR][MAXFACE];
double rbuf[NDIR][MAXFACE];
int nbr[NDIR];

/* Ranks are numbered row by row; beyond an open border there is nobody. */
static int rank_at(const grid_t *g, int cx, int cy)
{
    if (cx < 0 || cx >= g->px || cy < 0 || cy >= g->py)
        return MPI_PROC_NULL;
    return cx * g->py + cy;
}

void find_neighbours(const grid_t *g)
{
    for (int d = 0; d < NDIR; d++)
        nbr[d] = rank_at(g, g->cx + dir_x[d], g->cy + dir_y[d]);
}

/* Fill the ghost layer of u.  A message carries the direction in which it
 * travels as its tag. */
void exchange(const grid_t *g, double *u)
{
    MPI_Request rq[2 * NDIR];

    for (int d = 0; d < NDIR; d++)
        MPI_Irecv(rbuf[d], MAXFACE, MPI_DOUBLE, nbr[d], OPPOSITE(d),
                  MPI_COMM_WORLD, &rq[d]);

    for (int d = 0; d < NDIR; d++) {
        int n = pack(g, u, d);
        if (n > MAXFACE)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Isend(sbuf[d], n, MPI_DOUBLE, nbr[d], d,
                  MPI_COMM_WORLD, &rq[NDIR + d]);
    }

    MPI_Waitall(2 * NDIR, rq, MPI_STATUSES_IGNORE);

    /* At an open border the ghosts keep their boundary value. */
    for (int d = 0; d < NDIR; d++)
        if (nbr[d] != MPI_PROC_NULL)
            unpack(g, u, d);
}
