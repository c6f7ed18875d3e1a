/* Making the keys, and the final check that their ranks sort them. */
#include "is.h"
#include "../rng.h"

#define SEED UINT64_C(314159265)

/* Each key is the mean of four random numbers. */
void make_keys(state_t *s)
{
    uint64_t x = rng_skip(SEED, 4 * (uint64_t)s->count * s->me);
    double quarter = (1 << s->c->log_max) / 4;

    for (int i = 0; i < s->count; i++) {
        double sum = rng_next(&x);
        sum += rng_next(&x);
        sum += rng_next(&x);
        sum += rng_next(&x);
        s->keys[i] = (int)(quarter * sum);
    }
}

/* The keys of this rank's buckets, each put where its rank says. */
void full_sort(const state_t *s, int *out)
{
    for (int i = 0; i < s->received; i++) {
        int key = s->mine[i];
        out[--s->upto[key - s->first]] = key;
    }
}

/* The number of keys, over all ranks, that are less than the one before.
 * The greatest key of each rank goes to the next, so that the borders are
 * compared too; a rank without keys passes on what it got. */
int misplaced(const state_t *s, const int *sorted)
{
    int wrong = 0, total, before = 0;

    if (s->me > 0)
        MPI_Recv(&before, 1, MPI_INT, s->me - 1, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int greatest = s->received > 0 ? sorted[s->received - 1] : before;
    if (s->me < s->size - 1)
        MPI_Send(&greatest, 1, MPI_INT, s->me + 1, 1000, MPI_COMM_WORLD);
    for (int i = 0; i < s->received; i++) {
        wrong += sorted[i] < before;
        before = sorted[i];
    }
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return total;
}
