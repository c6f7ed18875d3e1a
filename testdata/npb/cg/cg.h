/* CG: conjugate gradients on a random sparse matrix.  Shared declarations. */
#ifndef CG_H
#define CG_H

#include <mpi.h>
#include <stddef.h>

#define MAXSTAGES 8             /* log2 of the ranks in a row */

typedef struct {
    char name;
    int n, nonzero, iterations;
    double shift, zeta;
} class_t;

/* The ranks form a grid with as many columns as rows, or twice as many.  Each
 * holds a block of the matrix, and of every vector the part that belongs to
 * the columns of its block: all ranks of a column hold the same part. */
typedef struct {
    int me, size;
    int prows, pcols, prow, pcol;
    int first_row, rows;        /* this rank's block of the matrix */
    int first_col, cols;
    int stages;                 /* of the sums over a row of ranks: */
    int partner[MAXSTAGES];     /* whom each is made with */
    int send_start[MAXSTAGES], send_count[MAXSTAGES];
    int keep_start, keep_count; /* the part of the rows whose sum ends here, */
    int swap;                   /* and who needs it, to have it by columns */
    int recv_count[MAXSTAGES];
} grid_t;

typedef struct {
    int *start;                 /* where each local row begins in the next two */
    int *col;                   /* counted from the block's first */
    double *value;
} matrix_t;

/* grid.c */
int make_grid(grid_t *g, int n);

/* matrix.c */
void *allocate(size_t bytes);
void make_matrix(matrix_t *a, const grid_t *g, const class_t *c);

/* solve.c */
void solve_init(const grid_t *g);
void solve_finish(void);
double solve(const grid_t *g, const matrix_t *a, const double *x, double *z);
double dot(const grid_t *g, const double *x, const double *y);

#endif
