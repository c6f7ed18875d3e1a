/* BT.  Shared declarations. */
#ifndef BT_H
#define BT_H

#include "../partition/partition.h"

typedef struct {
    char name;
    int points, steps;
    double dt, rate[NQ], error[NQ];
} class_t;

/* classes.c */
const class_t *find_class(char name);

/* solve.c */
void solve_init(void);
void solve_finish(void);
void solve(int axis, double dt);

#endif
