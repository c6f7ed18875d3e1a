/* Copying between the grid and the message buffers. */
#include "halo2d.h"

/* First and last index along one axis of the interior points that go to a
 * neighbour at offset dir (-1, 0, 1), where the axis has n points. */
static void inner_range(int dir, int n, int *first, int *last)
{
    *first = dir > 0 ? n : 1;
    *last = dir < 0 ? 1 : n;
}

/* The same for the ghost points that come from that neighbour. */
static void ghost_range(int dir, int n, int *first, int *last)
{
    *first = dir == 0 ? 1 : dir < 0 ? 0 : n + 1;
    *last = dir == 0 ? n : *first;
}

/* Pack what the neighbour in direction d needs; returns the number of doubles. */
int pack(const grid_t *g, const double *u, int d)
{
    int i0, i1, j0, j1, n = 0;

    inner_range(dir_x[d], g->nx, &i0, &i1);
    inner_range(dir_y[d], g->ny, &j0, &j1);
    for (int i = i0; i <= i1; i++)
        for (int j = j0; j <= j1; j++) {
            const double *p = &u[AT(g, i, j)];
            for (int s = 0; s < NSPEC; s++)
                sbuf[d][n++] = p[s];
        }
    return n;
}

/* Store what came from the neighbour in direction d. */
void unpack(const grid_t *g, double *u, int d)
{
    int i0, i1, j0, j1, n = 0;

    ghost_range(dir_x[d], g->nx, &i0, &i1);
    ghost_range(dir_y[d], g->ny, &j0, &j1);
    for (int i = i0; i <= i1; i++)
        for (int j = j0; j <= j1; j++) {
            double *p = &u[AT(g, i, j)];
            for (int s = 0; s < NSPEC; s++)
                p[s] = rbuf[d][n++];
        }
}
