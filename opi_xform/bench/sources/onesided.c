/*
 * onesided: time at the origin of an epoch with one put or get, by size, synchronisation and kind of window. With windows
 * of MPI_Win_allocate_shared, whose memory the origin can reach by itself, a memcpy of the same bytes takes turns with
 * each epoch (the points `copy-...`): their ratio is of one process, one place in memory and one moment. The points
 * `fenced-...` are such a memcpy and a full fence of memory, which a flush has, too. The points
 * `row-...` are of ROW puts or gets under lock_all, each with its flush, one after the other, in turns with as many
 * memcpys: of a single one the clock, whose steps are 10 ns, and the way to cold instructions are a good part.
 *
 * With -DBENCH_SKEW (the benchmark `skew`): of an epoch with 16 puts, while the target, which has opened its side,
 * computes. Before every epoch the target computes as long as it is late, so that what the caches, the clock of the
 * processor and the scheduler have made of a rank that waits is the same whether the target is late in the epoch or not:
 * the points `late-...` and `punctual-...` take turns. The points `kernel-...` of the limit are as many copies by the kernel
 * alone: what a put under a lock takes at least where loads and stores do not reach a target that computes.
 *
 * With -DBENCH_NODES (the benchmark `onesided-nodes`): a third rank is a member of the windows, on another (pretended)
 * node. It takes no part in the epochs and is asleep, so there are no fences. Accumulates are timed, too.
 *
 * The limit, -DBENCH_BARE: as many copies, and the flags of the epoch (onesided/epochs_bare.h).
 *
 *   mpiexec -n 2 ./onesided [samples [max_bytes]]
 */
#ifdef BENCH_SKEW
#define BENCH_DEPTH 16 /* operations of an epoch, each with a place of its own in the target's memory */
#endif
#define BENCH_MORE 4096
#include "bench.h"

#include <stdatomic.h>

enum sync { FENCE, PSCW, LOCK, LOCK_ALL, SYNCS };

static const char *const sync_name[SYNCS] = {"fence", "pscw", "lock", "lock_all"};
enum kind { CREATE, ALLOCATE, SHARED, KINDS };
enum what { PUT, GET, ACCUMULATE, WHATS };
#ifdef BENCH_NODES
#define FIRST_SYNC PSCW
#define MEASURED_WHATS WHATS
#else
#define FIRST_SYNC FENCE
#define MEASURED_WHATS ACCUMULATE /* those before it */
#endif
#if defined BENCH_BARE || defined BENCH_SKEW || defined BENCH_NODES
#define MEASURED SHARED /* the kinds before it */
#else
#define MEASURED KINDS
#endif
static const char *const kind_name[KINDS] = {"create", "allocate", "shared"};
#ifndef BENCH_SKEW
static const char *const what_name[WHATS] = {"put-", "get-", "acc-"};
#endif
/*
 * How long after the two have met the origin begins: from one of these to the other, by chance. Who leaves an MPI's
 * barrier first, and how much later the other one does, is none of the epoch's; nor is that what the barrier has stored
 * last has yet to leave the processor, for which a flush would wait. And who is served when the other one looks, which it
 * does every so often, is not to come at the same moment of its turn each time.
 */
#define BEHIND_US 2
#define BEHIND_MOST_US 4
#define APART 1024 /* bytes, within a page, from where windows begin to where the origin's memory does: where malloc puts it is chance */
static char *target, *origin; /* the memory of rank 1, where this rank can reach it; of this rank */
static uint64_t epochs;       /* of the point */

static void compute(double us)
{
    for (double until = bench_now() + us; us > 0 && bench_now() < until;)
        ;
}

static void stay_behind(void)
{
    static uint32_t drawn;

    drawn = drawn * 1664525u + 1013904223u;
    compute(BEHIND_US + (BEHIND_MOST_US - BEHIND_US) * (double)(drawn >> 8) / (1 << 24));
}

#ifdef BENCH_BARE
#include "onesided/epochs_bare.h"
#else
#include "onesided/epochs_mpi.h"
#endif

static void fill(char *at, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(i * 7 + (size_t)seed);
}

static void check(const char *at, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        bench_wrong += at[i] != (char)(i * 7 + (size_t)seed);
}

/* Zeros that what `fill` has left has been added to so many times. */
static void check_sums(const char *at, size_t bytes, int seed, uint64_t times)
{
    for (size_t i = 0; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t)) {
        uint64_t added, sum;
        char word[sizeof added];

        for (size_t j = 0; j < sizeof word; j++)
            word[j] = (char)((i + j) * 7 + (size_t)seed);
        memcpy(&added, word, sizeof added);
        memcpy(&sum, at + i, sizeof sum);
        bench_wrong += sum != added * times;
    }
}

/* Before the samples of a point, and after them. */
static void ready(enum what what, enum sync sync, size_t bytes, int operations)
{
    epochs = 0;
    if (bench_rank == 0)
        fill(origin, bytes, what == GET ? 0 : 5);
    else if (what == ACCUMULATE)
        memset(target, 0, bytes * (size_t)operations);
    else
        fill(target, bytes * (size_t)operations, what == GET ? 3 : 0);
    meet();
#ifndef BENCH_BARE
    if (sync == LOCK_ALL && bench_rank == 0)
        MPI_Win_lock_all(0, window);
#endif
    (void)sync;
}

static void finish(enum what what, enum sync sync, size_t bytes, int operations)
{
#ifndef BENCH_BARE
    if (sync == LOCK_ALL && bench_rank == 0)
        MPI_Win_unlock_all(window);
#endif
    (void)sync;
    meet();
    for (int j = 0; bench_rank == 1 && what == PUT && j < operations; j++)
        check(target + (size_t)j * bytes, bytes, 5);
    if (bench_rank == 1 && what == ACCUMULATE)
        check_sums(target, bytes, 5, epochs);
    if (bench_rank == 0 && what == GET)
        check(origin, bytes, 3);
}

/* One epoch, the target being late by so much; the time at the origin, elsewhere 0. */
static double epoch(enum what what, enum sync sync, size_t bytes, int operations, double late_us)
{
    epochs++;
    meet();
    if (bench_rank == 1) {
        target_side(sync, late_us);
        return 0;
    }
    stay_behind();
    double t = bench_now();
    begin(sync);
    for (int j = 0; j < operations; j++)
        move(what, bytes, (size_t)j * bytes);
    end(sync);
    return bench_now() - t;
}

/*
 * The median of the first n of samples, printed by rank 0; of means of TOGETHER, where there are many: some processors'
 * clocks have steps of 10 ns, of which a mean sees parts.
 */
#define TOGETHER 4
static void print(double *samples, int n, size_t bytes, const char *what, enum sync sync, enum kind kind, const char *more)
{
    char point[80];
    int each = n >= 10 * TOGETHER ? TOGETHER : 1;

    for (int i = 0; i + each <= n; i += each) {
        double sum = 0;

        for (int j = i; j < i + each; j++)
            sum += samples[j];
        bench_keep(sum / each);
    }
    snprintf(point, sizeof point, "%s%s-%s%s", what, sync_name[sync], kind_name[kind], more);
    bench_print(bytes, point, 1);
}

#ifdef BENCH_SKEW
#ifdef BENCH_BARE
/* The puts of an epoch as copies by the kernel, into private memory of a target that computes. */
static void kernel_alone(double late_us, const char *more)
{
    static double samples[BENCH_SAMPLES];

    if (!kernel_copies())
        return;
    for (int i = -BENCH_WARM_UP; i < bench_most; i++) {
        double pause_us = i < 0 ? 0 : late_us, t;

        meet();
        if (bench_rank == 1)
            compute(pause_us);
        meet();
        if (bench_rank == 1) {
            compute(pause_us);
            continue;
        }
        stay_behind();
        t = bench_now();
        for (size_t j = 0; j < BENCH_DEPTH; j++)
            bench_wrong += !by_kernel(PUT, bench_max_bytes, j * bench_max_bytes);
        if (i >= 0)
            samples[i] = bench_now() - t;
    }
    meet();
    print(samples, bench_most, bench_max_bytes, "kernel-", LOCK, CREATE, more);
}
#endif

static void all_points(enum kind kind)
{
    static const double late_ms[3] = {0, 20, 190};
    static double samples[2][BENCH_SAMPLES];
    char more[40];

    for (int late = 0; late < 3; late++) {
#ifdef BENCH_BARE
        snprintf(more, sizeof more, "-late-%g-ms", late_ms[late]);
        if (kind == CREATE)
            kernel_alone(1e3 * late_ms[late], more);
#endif
        for (enum sync sync = PSCW; sync <= LOCK; sync++) {
            ready(PUT, sync, bench_max_bytes, BENCH_DEPTH);
            for (int i = 0; i < BENCH_WARM_UP; i++)
                epoch(PUT, sync, bench_max_bytes, BENCH_DEPTH, 0);
            for (int i = 0; i < 2 * bench_most; i++) {
                int punctual = (i ^ i >> 1) & 1; /* late, punctual, punctual, late */
                meet();
                if (bench_rank == 1)
                    compute(1e3 * late_ms[late]);
                samples[punctual][i / 2] = epoch(PUT, sync, bench_max_bytes, BENCH_DEPTH, punctual ? 0 : 1e3 * late_ms[late]);
            }
            finish(PUT, sync, bench_max_bytes, BENCH_DEPTH);
            for (int punctual = 0; punctual < 2; punctual++) {
                snprintf(more, sizeof more, "-%s-%g-ms", punctual ? "punctual" : "late", late_ms[late]);
                print(samples[punctual], bench_most, bench_max_bytes, "", sync, kind, more);
            }
        }
    }
}
#else
/* The next size: 1, 8, 32, ..., 2,048, 8,192, 16,384, 32,768, 65,536, 131,072, 524,288, ... */
static size_t after(size_t bytes)
{
    return bytes * (bytes < 8 ? 8 : bytes >= 8192 && bytes <= 65536 ? 2 : 4);
}

#define ROW_MAX_BYTES ((size_t)64 << 10)
#ifdef BENCH_BARE
#define ROWS_OF CREATE
static void rows(enum what what)
{
    static double samples[BENCH_SAMPLES];

    int copies = kernel_copies();

    for (size_t bytes = 1; copies && bytes <= bench_max_bytes && bytes <= ROW_MAX_BYTES; bytes = after(bytes)) {
        ready(what, LOCK_ALL, bytes, 1);
        for (int i = -BENCH_WARM_UP; bench_rank == 0 && i < bench_most; i++) {
            stay_behind();
            double t = bench_now();
            bench_wrong += !by_kernel(what, bytes, 0);
            if (i >= 0)
                samples[i] = bench_now() - t;
        }
        finish(what, LOCK_ALL, bytes, 1);
        print(samples, bench_most, bytes, what == GET ? "kernel-get-" : "kernel-put-", LOCK_ALL, CREATE, "");
    }
}
#else
#define ROWS_OF SHARED
#define ROW 16
static void rows(enum what what)
{
    static double samples[BENCH_SAMPLES], copies[BENCH_SAMPLES];

    for (size_t bytes = 1; bytes <= bench_max_bytes && bytes <= ROW_MAX_BYTES; bytes = after(bytes)) {
        ready(what, LOCK_ALL, bytes, 1);
        for (int i = -BENCH_WARM_UP; bench_rank == 0 && i < bench_most; i++) {
            double t = bench_now(), over;

            for (int j = 0; j < ROW; j++) {
                move(what, bytes, 0);
                end(LOCK_ALL);
            }
            over = bench_now();
            for (int j = 0; j < ROW; j++) {
                memcpy(what == GET ? origin : target, what == GET ? target : origin, bytes);
                __asm__ volatile("" : : "r"(target), "r"(origin) : "memory"); /* each is made */
            }
            if (i >= 0) {
                samples[i] = (over - t) / ROW;
                copies[i] = (bench_now() - over) / ROW;
            }
        }
        finish(what, LOCK_ALL, bytes, 1);
        print(samples, bench_most, bytes, what == GET ? "row-get-" : "row-put-", LOCK_ALL, SHARED, "");
        print(copies, bench_most, bytes, what == GET ? "row-copy-get-" : "row-copy-put-", LOCK_ALL, SHARED, "");
    }
}
#endif

/* Microseconds of a memcpy, after as much as before an epoch; `ordered`: with the full fence of memory that a flush promises. */
BENCH_UNUSED static double one_copy(enum what what, size_t bytes, int ordered)
{
    double t;

    stay_behind();
    t = bench_now();
    memcpy(what == GET ? origin : target, what == GET ? target : origin, bytes);
    if (ordered)
        atomic_thread_fence(memory_order_seq_cst);
    return bench_now() - t;
}

static void all_points(enum kind kind)
{
    static double samples[BENCH_SAMPLES], copies[BENCH_SAMPLES], fenced[BENCH_SAMPLES];

    for (enum what what = PUT; kind == ROWS_OF && what < ACCUMULATE; what++)
        rows(what);
    for (enum sync sync = FIRST_SYNC; sync < SYNCS; sync++)
        for (enum what what = PUT; what < MEASURED_WHATS; what++)
            for (size_t bytes = what == ACCUMULATE ? 8 : 1; bytes <= bench_max_bytes; bytes = after(bytes)) {
                int n = bench_count(bytes);

                ready(what, sync, bytes, 1);
                for (int i = -BENCH_WARM_UP; i < n; i++) {
                    double us = epoch(what, sync, bytes, 1, 0), copied = 0, ordered = 0;

                    if (kind == SHARED && bench_rank == 0)
                        copied = one_copy(what, bytes, 0);
                    if (kind == SHARED && bench_rank == 0 && sync == LOCK_ALL)
                        ordered = one_copy(what, bytes, 1);
                    if (i >= 0) {
                        samples[i] = us;
                        copies[i] = copied;
                        fenced[i] = ordered;
                    }
                }
                finish(what, sync, bytes, 1);
                print(samples, n, bytes, what_name[what], sync, kind, "");
                if (kind == SHARED)
                    print(copies, n, bytes, what == GET ? "copy-get-" : "copy-put-", sync, kind, "");
                if (kind == SHARED && sync == LOCK_ALL)
                    print(fenced, n, bytes, what == GET ? "fenced-get-" : "fenced-put-", sync, kind, "");
            }
}
#endif

#ifndef BENCH_BARE
/* Until the two are through. A rank that waits in a call of MPI would take their processor. */
static void sleep_meanwhile(void)
{
    const struct timespec moment = {0, 1000000};
    int over = bench_rank < 2;
    MPI_Request all;

    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    while (!over) {
        nanosleep(&moment, NULL);
        MPI_Test(&all, &over, MPI_STATUS_IGNORE);
    }
    if (all != MPI_REQUEST_NULL)
        MPI_Wait(&all, MPI_STATUS_IGNORE);
}
#endif

int main(int argc, char **argv)
{
#ifdef BENCH_SKEW
    bench_start("skew", argc, argv);
#elif defined BENCH_NODES
    bench_start("onesided-nodes", argc, argv);
#else
    bench_start("onesided", argc, argv);
#endif
#ifndef BENCH_BARE
    MPI_Comm_split(MPI_COMM_WORLD, bench_rank < 2 ? 0 : 1, 0, &pair);
#endif
    for (enum kind kind = CREATE; kind < MEASURED; kind++) {
        open_window(kind, bench_max_bytes);
        if (bench_rank < 2)
            all_points(kind);
#ifndef BENCH_BARE
        sleep_meanwhile();
#endif
        close_window();
    }
#ifndef BENCH_BARE
    MPI_Comm_free(&pair);
#endif
    return bench_stop();
}
