/* IS: ranks of integer keys by buckets.  Shared declarations. */
#ifndef IS_H
#define IS_H

#include <mpi.h>

#define ITERATIONS 10
#define TESTS      5            /* keys whose ranks are published */

typedef struct {
    char name;
    int log_keys, log_max, log_buckets;
    int index[TESTS];           /* which keys, and their ranks before the first iteration */
    int rank[TESTS];
    int sign[TESTS];            /* each iteration moves the rank by one, this way... */
    int offset[TESTS];          /* ...starting from this many */
} class_t;

/* What this rank holds. */
typedef struct {
    const class_t *c;
    int me, size;
    int count, *keys;           /* its share of the keys, in the original order */
    int *sorted;                /* these by bucket, to be sent */
    int received, *mine;        /* the keys of its buckets */
    int capacity;
    int first, last;            /* the least and the greatest key of its buckets */
    int below;                  /* keys in the buckets of lower ranks */
    int *upto;                  /* for each such key: how many of its keys are not greater */
    int *bucket, *bucket_total; /* sizes, and for the totals also the keys under test */
    int *place;
    int *scount, *sdispl, *rcount, *rdispl;
} state_t;

/* keys.c */
void make_keys(state_t *s);
void full_sort(const state_t *s, int *out);
int misplaced(const state_t *s, const int *sorted);

/* rank.c */
int rank_keys(state_t *s, int iteration);

#endif
