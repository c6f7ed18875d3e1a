/* MG: multigrid V-cycles on a periodic cube.  Shared declarations. */
#ifndef MG_H
#define MG_H

#include <mpi.h>
#include <stddef.h>

#define MAXLEVEL 9

typedef struct {
    char name;
    int top;                    /* the finest grid has 2^top points along each axis */
    int cycles;
    double smooth[3];           /* weights of the centre, faces and edges in the smoother */
    double norm;
} class_t;

/* One level: this rank's points along x, y and z.  Around them lies a layer of
 * ghosts.  A field is stored with x running fastest. */
typedef struct {
    int n[3];
} level_t;

#define AT(l, i, j, k) (((size_t)(k) * ((l)->n[1] + 2) + (j)) * ((l)->n[0] + 2) + (i))

/* The grid of ranks. */
extern int rank, size;
extern int procs[3], coord[3];
extern level_t levels[MAXLEVEL + 1];

/* exchange.c */
void *allocate(size_t bytes);
double *new_field(const level_t *l);
int make_grid(int top);
void exchange_init(int top);
void exchange_finish(void);
void exchange(const level_t *l, double *u);

/* stencil.c */
void residual(const level_t *l, const double *u, const double *v, double *r);
void smooth(const level_t *l, const double *r, double *u, const double c[3]);
void restriction(const level_t *fine, const double *r, const level_t *coarse, double *s);
void interpolate(const level_t *coarse, const double *z, const level_t *fine, double *u);
double norm(const level_t *l, const double *r, double points);

/* charges.c */
void set_charges(const level_t *l, double *v);

#endif
