/* IS: ten rankings of integer keys, of which two change between rankings (NAS
 * report RNR-94-007, section 2.5).  Checked are the published ranks of five
 * keys in each, and in the end that the ranks sort the keys. */
#include "is.h"

#include <stdio.h>
#include <stdlib.h>

static const class_t classes[] = {
    { 'S', 16, 11, 9, { 48427, 17148, 23627, 62548, 4431 }, { 0, 18, 346, 64917, 65463 },
      { 1, 1, 1, -1, -1 }, { 0, 0, 0, 0, 0 } },
    { 'W', 20, 16, 10, { 357773, 934767, 875723, 898999, 404505 },
      { 1249, 11698, 1039987, 1043896, 1048018 }, { 1, 1, -1, -1, -1 }, { -2, -2, 0, 0, 0 } },
    { 'A', 23, 19, 10, { 2112377, 662041, 5336171, 3642833, 4250760 },
      { 104, 17523, 123928, 8288932, 8388264 }, { 1, 1, 1, -1, -1 }, { -1, -1, -1, -1, -1 } },
    { 'B', 25, 21, 10, { 41869, 812306, 5102857, 18232239, 26860214 },
      { 33422937, 10244, 59149, 33135281, 99 }, { -1, 1, 1, -1, 1 }, { 0, 0, 0, 0, 0 } },
};

static int *new_ints(int n)
{
    int *p = malloc((n > 0 ? n : 1) * sizeof *p);
    if (!p) {
        fprintf(stderr, "is: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static void set_up(state_t *s)
{
    int buckets = 1 << s->c->log_buckets;

    s->count = (1 << s->c->log_keys) / s->size;
    s->capacity = s->size == 1 ? s->count : s->count + s->count / 2 + 2 * (1 << s->c->log_keys) / buckets;
    s->keys = new_ints(s->count);
    s->sorted = new_ints(s->count);
    s->mine = new_ints(s->capacity);
    s->upto = new_ints(1 << s->c->log_max);
    s->bucket = new_ints(buckets + TESTS);
    s->bucket_total = new_ints(buckets + TESTS);
    s->place = new_ints(buckets);
    s->scount = new_ints(s->size);
    s->sdispl = new_ints(s->size);
    s->rcount = new_ints(s->size);
    s->rdispl = new_ints(s->size);
}

static void tear_down(state_t *s)
{
    free(s->keys);
    free(s->sorted);
    free(s->mine);
    free(s->upto);
    free(s->bucket);
    free(s->bucket_total);
    free(s->place);
    free(s->scount);
    free(s->sdispl);
    free(s->rcount);
    free(s->rdispl);
}

int main(int argc, char **argv)
{
    state_t s = { 0 };
    int right = 0, total;
    double longest;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &s.me);
    MPI_Comm_size(MPI_COMM_WORLD, &s.size);

    char name = argc > 1 ? argv[1][0] : 'S';
    for (int c = 0; c < (int)(sizeof classes / sizeof classes[0]); c++)
        if (classes[c].name == name)
            s.c = &classes[c];
    if (!s.c || (s.size & (s.size - 1)) != 0 || s.size > 256) {
        if (s.me == 0)
            fprintf(stderr, "usage: is [S|W|A|B], on a power of two of ranks, at most 256\n");
        MPI_Finalize();
        return 2;
    }

    set_up(&s);
    make_keys(&s);
    double start = MPI_Wtime();
    for (int iteration = 1; iteration <= ITERATIONS; iteration++)
        right += rank_keys(&s, iteration);
    double spent = MPI_Wtime() - start;

    int *sorted = new_ints(s.received);
    full_sort(&s, sorted);
    int wrong = misplaced(&s, sorted);
    free(sorted);

    MPI_Allreduce(&right, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    int good = total == ITERATIONS * TESTS && wrong == 0;
    if (s.me == 0) {
        printf("is: class %c, 2^%d keys below 2^%d\n", name, s.c->log_keys, s.c->log_max);
        printf("published ranks found: %d of %d\n", total, ITERATIONS * TESTS);
        printf("keys out of order: %d\n", wrong);
        printf("time %.6f s\n", longest);
        printf("verification: %s\n", good ? "SUCCESSFUL" : "FAILED");
    }
    tear_down(&s);
    MPI_Finalize();
    return good ? 0 : 1;
}
