/* The right-hand side: of random numbers on all points, those with the ten
 * greatest become +1 and those with the ten least become -1; others are 0. */
#include "mg.h"
#include "../rng.h"

#include <stdlib.h>

#define SEED UINT64_C(314159265)
#define TEN  10

typedef struct {
    double value, place;        /* the place: the point's number in the whole grid */
} extreme_t;

/* Keep the list of the greatest in descending order. */
static void insert(extreme_t list[TEN], double value, double place)
{
    if (value <= list[TEN - 1].value)
        return;
    int at = TEN - 1;
    for (; at > 0 && list[at - 1].value < value; at--)
        list[at] = list[at - 1];
    list[at].value = value;
    list[at].place = place;
}

static void clear(extreme_t list[TEN])
{
    for (int t = 0; t < TEN; t++) {
        list[t].value = -2.0;
        list[t].place = -1.0;
    }
}

/* Set the point with that number, where it is this rank's. */
static void put(const level_t *l, double *v, double place, double charge)
{
    uint64_t p = (uint64_t)place, nx = (uint64_t)l->n[0] * procs[0], ny = (uint64_t)l->n[1] * procs[1];
    int i = (int)(p % nx) - coord[0] * l->n[0];
    int j = (int)(p / nx % ny) - coord[1] * l->n[1];
    int k = (int)(p / (nx * ny)) - coord[2] * l->n[2];

    if (i >= 0 && i < l->n[0] && j >= 0 && j < l->n[1] && k >= 0 && k < l->n[2])
        v[AT(l, i + 1, j + 1, k + 1)] = charge;
}

void set_charges(const level_t *l, double *v)
{
    uint64_t nx = (uint64_t)l->n[0] * procs[0], ny = (uint64_t)l->n[1] * procs[1];
    extreme_t mine[2 * TEN], most[TEN], least[TEN];
    extreme_t *all = allocate((size_t)size * sizeof mine);

    /* The least are the greatest of the negated. */
    clear(mine);
    clear(mine + TEN);
    for (int k = 0; k < l->n[2]; k++)
        for (int j = 0; j < l->n[1]; j++) {
            uint64_t place = ((uint64_t)(coord[2] * l->n[2] + k) * ny + coord[1] * l->n[1] + j) * nx
                           + (uint64_t)(coord[0] * l->n[0]);
            uint64_t x = rng_skip(SEED, place);
            for (int i = 0; i < l->n[0]; i++) {
                double value = rng_next(&x);
                insert(mine, value, (double)(place + i));
                insert(mine + TEN, -value, (double)(place + i));
            }
        }
    MPI_Allgather(mine, 4 * TEN, MPI_DOUBLE, all, 4 * TEN, MPI_DOUBLE, MPI_COMM_WORLD);
    clear(most);
    clear(least);
    for (int p = 0; p < size; p++)
        for (int t = 0; t < TEN; t++) {
            const extreme_t *e = &all[2 * TEN * p + t];
            insert(most, e->value, e->place);
            insert(least, e[TEN].value, e[TEN].place);
        }
    for (int t = 0; t < TEN; t++) {
        put(l, v, least[t].place, -1.0);
        put(l, v, most[t].place, 1.0);
    }
    free(all);
    exchange(l, v);
}
