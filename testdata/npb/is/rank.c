/* One ranking of all keys. */
#include "is.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keys under test, from whoever holds them, ride after the bucket sizes. */
static void count_buckets(state_t *s)
{
    int buckets = 1 << s->c->log_buckets, shift = s->c->log_max - s->c->log_buckets;

    memset(s->bucket, 0, (buckets + TESTS) * sizeof *s->bucket);
    for (int i = 0; i < s->count; i++)
        s->bucket[s->keys[i] >> shift]++;
    for (int t = 0; t < TESTS; t++) {
        int local = s->c->index[t] - s->count * s->me;
        if (local >= 0 && local < s->count)
            s->bucket[buckets + t] = s->keys[local];
    }

    s->place[0] = 0;
    for (int b = 1; b < buckets; b++)
        s->place[b] = s->place[b - 1] + s->bucket[b - 1];
    for (int i = 0; i < s->count; i++) {
        int key = s->keys[i];
        s->sorted[s->place[key >> shift]++] = key;
    }
    MPI_Allreduce(s->bucket, s->bucket_total, buckets + TESTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Deal the buckets out so that each rank gets about the same number of keys. */
static void assign_buckets(state_t *s)
{
    int buckets = 1 << s->c->log_buckets, shift = s->c->log_max - s->c->log_buckets;
    int owner = 0, start = 0, sum = 0;

    memset(s->scount, 0, s->size * sizeof *s->scount);
    s->below = 0;
    s->first = 0;
    s->last = -1;
    for (int b = 0; b < buckets; b++) {
        s->scount[owner] += s->bucket[b];
        sum += s->bucket_total[b];
        if (owner < s->me)
            s->below = sum;
        if (owner == s->me) {
            s->first = start << shift;
            s->last = ((b + 1) << shift) - 1;
        }
        if (owner < s->size - 1 && sum >= (owner + 1) * s->count) {
            owner++;
            start = b + 1;
        }
    }
}

static void exchange_keys(state_t *s)
{
    MPI_Alltoall(s->scount, 1, MPI_INT, s->rcount, 1, MPI_INT, MPI_COMM_WORLD);
    s->sdispl[0] = s->rdispl[0] = 0;
    for (int p = 1; p < s->size; p++) {
        s->sdispl[p] = s->sdispl[p - 1] + s->scount[p - 1];
        s->rdispl[p] = s->rdispl[p - 1] + s->rcount[p - 1];
    }
    s->received = s->rdispl[s->size - 1] + s->rcount[s->size - 1];
    if (s->received > s->capacity) {
        fprintf(stderr, "is: rank %d gets more keys than it has room for\n", s->me);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Alltoallv(s->sorted, s->scount, s->sdispl, MPI_INT,
                  s->mine, s->rcount, s->rdispl, MPI_INT, MPI_COMM_WORLD);
}

/* Returns how many of the keys under test this rank found where they belong. */
int rank_keys(state_t *s, int iteration)
{
    int buckets = 1 << s->c->log_buckets, right = 0;

    if (s->me == 0) {
        s->keys[iteration] = iteration;
        s->keys[iteration + ITERATIONS] = (1 << s->c->log_max) - iteration;
    }
    count_buckets(s);
    assign_buckets(s);
    exchange_keys(s);

    int range = s->last - s->first + 1;
    memset(s->upto, 0, range * sizeof *s->upto);
    for (int i = 0; i < s->received; i++)
        s->upto[s->mine[i] - s->first]++;
    for (int k = 1; k < range; k++)
        s->upto[k] += s->upto[k - 1];

    for (int t = 0; t < TESTS; t++) {
        int key = s->bucket_total[buckets + t];
        if (key <= 0 || key < s->first || key > s->last)
            continue;
        int rank = s->below + (key > s->first ? s->upto[key - s->first - 1] : 0);
        int want = s->c->rank[t] + s->c->sign[t] * (iteration + s->c->offset[t]);
        right += rank == want;
    }
    return right;
}
