/* Explicit diffusion of NSPEC species on a 2-D grid, distributed over a 2-D
 * grid of ranks.  Shared declarations. */
#ifndef HALO2D_H
#define HALO2D_H

#include <mpi.h>
#include <stddef.h>

#define NSPEC   32              /* species per grid point, stored together */
#define MAXEDGE 512             /* longest local edge, in grid points */
#define MAXFACE (MAXEDGE * NSPEC)
#define NDIR    8               /* 4 faces and 4 corners */

/* One rank's part of the grid: nx * ny interior points and one ghost layer. */
typedef struct {
    int px, py;                 /* the process grid */
    int cx, cy;                 /* this rank's place in it */
    int nx, ny;                 /* local interior points */
    int x0, y0;                 /* global index of the first interior point */
} grid_t;

/* Offset of the species at local point (i, j); 0 and n+1 are ghosts. */
#define AT(g, i, j) (((size_t)(i) * ((g)->ny + 2) + (j)) * NSPEC)

/* Directions: faces first, then corners; d and OPPOSITE(d) face each other. */
extern const int dir_x[NDIR], dir_y[NDIR];
#define OPPOSITE(d) ((d) ^ 1)

/* Message buffers and neighbours, one per direction (defined in exchange.c). */
extern double sbuf[NDIR][MAXFACE];
extern double rbuf[NDIR][MAXFACE];
extern int nbr[NDIR];

/* exchange.c */
void find_neighbours(const grid_t *g);
void exchange(const grid_t *g, double *u);

/* pack.c */
int pack(const grid_t *g, const double *u, int d);
void unpack(const grid_t *g, double *u, int d);

#endif
