/* A gas in a periodic box after an explosion: finite volumes on a 3-D grid that
 * is cut into bricks, with a ghost layer filled from all 26 neighbours. */
#ifndef HYDRO_H
#define HYDRO_H

#include <mpi.h>
#include <stddef.h>

#define NFIELD 5                /* density, momentum (3), energy */
#define NDIR   27               /* offsets -1, 0, 1 in each dimension; 13 is the brick itself */
#define HERE   13

typedef struct {
    MPI_Comm comm;
    int rank, size;
    int grid[3], place[3];      /* bricks along each dimension, and which one is ours */
    int n[3];                   /* cells of this brick, without ghosts */
    int first[3];               /* global index of the first */
    int neighbour[NDIR];        /* ranks */
    double *field[NFIELD];      /* (n[0] + 2) * (n[1] + 2) * (n[2] + 2) cells each */
    double *next[NFIELD];
} brick;

#define CELL(b, i, j, k) (((size_t)(i) * ((b)->n[1] + 2) + (j)) * ((b)->n[2] + 2) + (k))

/* exchange.c */
void exchange_setup(brick *b);
void exchange_ghosts(brick *b);
void exchange_end(void);

/* gas.c */
double fastest(const brick *b);
void advance(brick *b, double dt_over_h);

/* main.c */
void stop(const char *message);

#endif
