/* C = A * B with Cannon's algorithm on a P x Q torus of ranks. */
#ifndef CANNON_H
#define CANNON_H

#include <mpi.h>

typedef struct {
    int rank, size;
    int p, q, i, j;             /* the torus and this rank's place in it */
    int left, right, up, down;  /* neighbours on it */
    int n;                      /* order of the matrices */
    int panels;                 /* lcm(p, q): steps, and pieces of the inner dimension */
    int width;                  /* of a panel: n / panels */
    int rows, cols;             /* of this rank's block of C: n / p, n / q */
    int na, nb;                 /* panels of A, of B that a rank holds: panels / q, panels / p */
    double *a, *a_next;         /* na panels, each rows x width */
    double *b, *b_next;         /* nb panels, each width x cols */
    double *c;                  /* rows x cols */
} torus;

/* shift.c: every panel of A goes one rank to the left, every panel of B one up. */
void shift(torus *t);

/* multiply.c: c += a * b, a being rows x inner and b inner x cols. */
void multiply(int rows, int inner, int cols, const double *a, const double *b, double *c);

#endif
