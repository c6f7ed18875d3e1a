/*
 * onesided: time at the origin of an epoch with one put or get, by size, synchronisation and kind of window. With
 * -DBENCH_SKEW (the benchmark `skew`): of an epoch with 16 puts, while the target, which has opened its side, computes.
 * The limit, -DBENCH_BARE: as many copies into or out of shared memory, and one flag.
 *
 *   mpiexec -n 2 ./onesided [samples [max_bytes]]
 */
#ifdef BENCH_SKEW
#define BENCH_DEPTH 16 /* operations of an epoch, each with a place of its own in the target's memory */
#endif
#include "bench.h"

enum sync { FENCE, PSCW, LOCK, LOCK_ALL, SYNCS };

static const char *const sync_name[SYNCS] = {"fence", "pscw", "lock", "lock_all"};
static const char *const kind_name[2] = {"create", "allocate"};
static char *target, *origin; /* the memory of rank 1; of this rank */

#ifdef BENCH_BARE
static void open_window(int allocate, size_t bytes)
{
    (void)allocate;
    target = bench_memory_at + bench_stride() * BENCH_PER_RANK;
    origin = malloc(bytes);
    if (!origin)
        exit(3);
}

static void close_window(void)
{
    free(origin);
}

static void begin(enum sync sync)
{
    (void)sync;
}

static void move(int get, size_t bytes, size_t at)
{
    memcpy(get ? origin : target + at, get ? target + at : origin, bytes);
}

/* The release store makes the copied data visible to whoever reads the flag; nobody waits for it here. */
static void end(enum sync sync)
{
    (void)sync;
    atomic_store_explicit(&bench_node->to[1][0].slot, (uint64_t *)target, memory_order_release);
}

static void target_side(enum sync sync, double late_us)
{
    (void)sync;
    (void)late_us;
}
#else
static MPI_Win window;
static MPI_Group other;

static void open_window(int allocate, size_t bytes)
{
    MPI_Aint room = bench_rank == 1 ? (MPI_Aint)bytes * BENCH_DEPTH : 0;
    MPI_Group all;
    int peer = 1 - bench_rank;

    target = NULL;
    if (allocate)
        MPI_Win_allocate(room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &target, &window);
    else {
        if (room)
            target = bench_memory(bytes * BENCH_DEPTH);
        MPI_Win_create(target, room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
    origin = bench_memory(bytes);
    MPI_Win_get_group(window, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Group_free(&all);
}

static void close_window(void)
{
    int *flavor, found;

    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavor, &found);
    int own = bench_rank == 1 && found && *flavor == MPI_WIN_FLAVOR_CREATE;
    MPI_Win_free(&window);
    MPI_Group_free(&other);
    bench_release(origin);
    if (own)
        bench_release(target);
}

static void begin(enum sync sync)
{
    if (sync == FENCE)
        MPI_Win_fence(0, window);
    else if (sync == PSCW)
        MPI_Win_start(other, 0, window);
    else if (sync == LOCK)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
}

static void move(int get, size_t bytes, size_t at)
{
    if (get)
        MPI_Get(origin, (int)bytes, MPI_BYTE, 1, (MPI_Aint)at, (int)bytes, MPI_BYTE, window);
    else
        MPI_Put(origin, (int)bytes, MPI_BYTE, 1, (MPI_Aint)at, (int)bytes, MPI_BYTE, window);
}

static void end(enum sync sync)
{
    if (sync == FENCE)
        MPI_Win_fence(0, window);
    else if (sync == PSCW)
        MPI_Win_complete(window);
    else if (sync == LOCK)
        MPI_Win_unlock(1, window);
    else
        MPI_Win_flush(1, window);
}

/* What the target of an epoch does, computing for so long once its side is open. */
static void target_side(enum sync sync, double late_us)
{
    if (sync == FENCE)
        MPI_Win_fence(0, window);
    else if (sync == PSCW)
        MPI_Win_post(other, 0, window);
    for (double until = bench_now() + late_us; late_us > 0 && bench_now() < until;)
        ;
    if (sync == FENCE)
        MPI_Win_fence(0, window);
    else if (sync == PSCW)
        MPI_Win_wait(window);
}
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

/* All samples of one point, each an epoch of so many operations. */
static void measure(int get, enum sync sync, size_t bytes, int samples, int operations, double late_us)
{
    if (bench_rank == 1)
        fill(target, bytes * (size_t)operations, get ? 3 : 0);
    else
        fill(origin, bytes, get ? 0 : 5);
    bench_barrier();
#ifndef BENCH_BARE
    if (sync == LOCK_ALL && bench_rank == 0)
        MPI_Win_lock_all(0, window);
#endif
    for (int i = 0; i < BENCH_WARM_UP + samples; i++) {
        bench_barrier();
        if (bench_rank == 1) {
            target_side(sync, i < BENCH_WARM_UP ? 0 : late_us);
            continue;
        }
        double t = bench_now();
        begin(sync);
        for (int j = 0; j < operations; j++)
            move(get, bytes, (size_t)j * bytes);
        end(sync);
        if (i >= BENCH_WARM_UP)
            bench_keep(bench_now() - t);
    }
#ifndef BENCH_BARE
    if (sync == LOCK_ALL && bench_rank == 0)
        MPI_Win_unlock_all(window);
#endif
    bench_barrier();
    for (int j = 0; bench_rank == 1 && !get && j < operations; j++)
        check(target + (size_t)j * bytes, bytes, 5);
    if (bench_rank == 0 && get)
        check(origin, bytes, 3);
}

#ifdef BENCH_SKEW
static void all_points(int allocate)
{
    static const double late_ms[3] = {0, 20, 190};
    char point[80];

    for (int late = 0; late < 3; late++)
        for (int sync = PSCW; sync <= LOCK; sync++) {
            measure(0, (enum sync)sync, bench_max_bytes, bench_most, BENCH_DEPTH, 1e3 * late_ms[late]);
            snprintf(point, sizeof point, "%s-%s-late-%g-ms", sync_name[sync], kind_name[allocate], late_ms[late]);
            bench_print(bench_max_bytes, point, 1);
        }
}
#else
static void all_points(int allocate)
{
    char point[80];

    for (int sync = 0; sync < SYNCS; sync++)
        for (int get = 0; get < 2; get++)
            for (size_t bytes = 1; bytes <= bench_max_bytes; bytes *= bytes < 8 ? 8 : 4) {
                measure(get, (enum sync)sync, bytes, bench_count(bytes), 1, 0);
                snprintf(point, sizeof point, "%s-%s-%s", get ? "get" : "put", sync_name[sync], kind_name[allocate]);
                bench_print(bytes, point, 1);
            }
}
#endif

int main(int argc, char **argv)
{
#ifdef BENCH_SKEW
    bench_start("skew", argc, argv);
#else
    bench_start("onesided", argc, argv);
#endif
    for (int allocate = 0; allocate < 2; allocate++) {
        open_window(allocate, bench_max_bytes);
        all_points(allocate);
        close_window();
    }
    return bench_stop();
}
