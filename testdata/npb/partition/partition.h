/* The cube in cells that the ranks share out so that along every axis each has
 * one cell at each place: a sweep along any axis keeps all ranks busy. */
#ifndef PARTITION_H
#define PARTITION_H

#include "../flow/flow.h"

#include <mpi.h>

#define MAXCELLS 8

extern int rank, size;
extern int width;                       /* cells along an axis, and of each rank */
extern cell_t cells[MAXCELLS];
extern int place[MAXCELLS][3];          /* where each cell is... */
extern int cell_at[3][MAXCELLS];        /* ...and which cell is there, along an axis */
extern int neighbour[3][2];             /* the rank with all the next cells: below, above */
extern int longest;                     /* points along a cell, at most */

int make_cells(void);
void free_cells(void);
void exchange_init(void);
void exchange_finish(void);
void exchange_faces(void);
void report(const char *program, char name, int steps, const double *rate, const double *error,
            double spent, int *good);

#endif
