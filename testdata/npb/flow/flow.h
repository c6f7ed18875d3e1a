/* The flow that LU, SP and BT compute (NAS report RNR-94-007, section 3): five
 * quantities on a cube of points, driven so that a known polynomial is the
 * steady state. */
#ifndef FLOW_H
#define FLOW_H

#include <stddef.h>

#define NQ      5               /* density, momentum along x, y and z, energy */
#define GHOSTS  2
#define MAXN    128             /* points along an axis, at most */
#define C1      1.4
#define C2      0.4
#define C3C4    0.1
#define C1C5    1.96
#define DSSP    0.25            /* weight of the fourth differences */

/* A block of points with a layer of ghosts around it. */
typedef struct {
    int n[3];                   /* points along x, y and z */
    int lo[3];                  /* the first one's place in the cube */
    double *u;                  /* the flow */
    double *r;                  /* how it changes, or what remains of that */
    double *force;              /* the force that keeps the polynomial steady */
} cell_t;

/* Where the quantities of local point (i, j, k) begin. */
#define AT(c, i, j, k) \
    (((((size_t)(k) + GHOSTS) * ((c)->n[1] + 2 * GHOSTS) + (j) + GHOSTS) \
      * ((c)->n[0] + 2 * GHOSTS) + (i) + GHOSTS) * NQ)

extern int points;              /* along each axis of the cube */
extern const double diffusion[3];

void *allocate(size_t bytes);
void exact(int i, int j, int k, double *u);
size_t cell_size(const cell_t *c);
void new_cell(cell_t *c);
void free_cell(cell_t *c);
void interior(const cell_t *c, int axis, int *first, int *last);
void initial_flow(const cell_t *c);
void make_force(const cell_t *c);
void rate_of_change(const cell_t *c);
void jacobians(int axis, const double *u, double a[NQ][NQ], double n[NQ][NQ]);
void add_errors(const cell_t *c, double sum[NQ]);
void add_rates(const cell_t *c, double sum[NQ]);
int agree(const char *what, const double *got, const double *want, int count);

#endif
