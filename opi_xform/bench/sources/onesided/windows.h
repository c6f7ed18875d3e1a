/*
 * windows.h - what the benchmarks of several origins share. A rank is a process, or with -DBENCH_FIBERS a fiber of one
 * process, so all that a rank knows is in a `struct side`, and no variable of the program is ever changed by one.
 *
 * Each target has a window with its origins: all ranks are in one with a single target, rank 0, or pairs of neighbours have
 * a target each.
 *
 *   side_form, side_part         one or the other, and its end
 *   side_meet                    a barrier of all
 *   side_open, side_close        the window; with `each`, one for every origin, as in the paper
 *   side_post, side_wait         at the target        side_begin, side_end: start and complete, at an origin
 *   side_fence                   by target and origins
 *   side_lock_all, side_flush, side_unlock_all, side_put, side_get: at an origin
 *
 * With -DBENCH_BARE, the limit: processes that copy into shared memory, and one flag for each epoch and direction.
 *
 * Arguments: SAMPLES MAX_BYTES; of the limit also the processor of each rank. The lines are those of bench.h.
 */
#ifndef BENCH_WINDOWS_H
#define BENCH_WINDOWS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SIDE_RANKS 8
#define SIDE_SAMPLES 1000
#define SIDE_DEPTH 16 /* operations of an epoch, each with a place of its own in the target's memory */
#define SIDE_UNUSED __attribute__((unused))

enum kind { CREATE, ALLOCATE, KINDS };

static const char *const kind_name[KINDS] SIDE_UNUSED = {"create", "allocate"};

struct samples {
    double us[SIDE_SAMPLES];
    int n;
};

static double side_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Where ranks share processors and wait by spinning, an epoch may take some time slices of the scheduler. */
static int side_shares(int ranks)
{
#ifdef BENCH_FIBERS
    return ranks < 0;
#else
    return ranks > sysconf(_SC_NPROCESSORS_ONLN);
#endif
}

#ifdef BENCH_BARE
#include "windows_bare.h"
#else
#include "windows_mpi.h"
#endif

/* Whether there is another sample after so many (the first, of -1, is a warm-up): rank 0 says so, all do it. None
 * begins before all are here. There are 15 at least, or one where it is crowded, however long they take. */
SIDE_UNUSED static int side_another(struct side *s, int done, double budget_us)
{
    if (done < 0)
        s->begun = side_now();
    int go = done < s->most && done < SIDE_SAMPLES && (done < (s->crowded ? 1 : 15) || side_now() - s->begun < budget_us);
    go = side_told(s, go);
    side_meet(s);
    return go;
}

SIDE_UNUSED static void side_keep(struct samples *all, int i, double us)
{
    if (i < 0)
        all->n = 0;
    else if (all->n < SIDE_SAMPLES)
        all->us[all->n++] = us;
}

static int side_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

SIDE_UNUSED static double side_median(struct samples *all)
{
    qsort(all->us, (size_t)all->n, sizeof all->us[0], side_by_value);
    return all->us[all->n / 2];
}

/* Rank 0 prints. */
SIDE_UNUSED static void side_print(const struct side *s, size_t bytes, const char *point, struct samples *all)
{
    if (s->rank == 0) {
        printf("%s bytes=%zu point=%s median_us=%.5f\n", s->name, bytes, point, side_median(all));
        fflush(stdout);
    }
}

/* What the rank of such a number puts or has. */
SIDE_UNUSED static void side_fill(char *at, size_t bytes, int rank)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(i * 7 + 11 * (size_t)rank + 5);
}

SIDE_UNUSED static void side_check(struct side *s, const char *at, size_t bytes, int rank)
{
    for (size_t i = 0; i < bytes; i++)
        s->wrong += at[i] != (char)(i * 7 + 11 * (size_t)rank + 5);
}

#endif
