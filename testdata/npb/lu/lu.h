/* LU: the ranks and their messages.  Shared declarations. */
#ifndef LU_H
#define LU_H

#include "../flow/flow.h"

#include <mpi.h>

extern int rank, size;
extern int procs[2], coord[2];

typedef struct {
    char name;
    int points, steps;
    double dt, rate[NQ], error[NQ], surface;
} class_t;

/* classes.c */
const class_t *find_class(char name);

/* exchange.c */
int make_grid(cell_t *c);
void exchange_init(const cell_t *c);
void exchange_finish(void);
void exchange_faces(const cell_t *c, double *u);
void recv_rows(const cell_t *c, double *v, int k, int up);
void send_rows(const cell_t *c, const double *v, int k, int up);

/* sweep.c */
void sweep(const cell_t *c, double dt, int up);

#endif
