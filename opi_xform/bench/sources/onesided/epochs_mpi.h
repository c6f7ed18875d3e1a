/* epochs_mpi.h - see onesided.c: windows and epochs over MPI. */
#ifndef BENCH_EPOCHS_MPI_H
#define BENCH_EPOCHS_MPI_H

#define PAGE ((size_t)4096)

static char *origin_in, *target_in; /* what is to be released */
static MPI_Win window;
static MPI_Group other;
static MPI_Comm pair; /* origin and target */

static void meet(void)
{
    MPI_Barrier(pair);
}

/*
 * Memory that begins so many bytes behind a page's start. How long a copy takes depends on how its two ends lie within
 * their pages, and where malloc puts them is chance: the origin's lies a quarter of a page away from where windows begin.
 */
static char *placed(size_t bytes, size_t behind, char **in)
{
    *in = bench_memory(bytes + 2 * PAGE);
    return *in + (PAGE - (uintptr_t)*in % PAGE) + behind;
}

static void open_window(enum kind kind, size_t bytes)
{
    MPI_Aint room = bench_rank == 1 ? (MPI_Aint)bytes * BENCH_DEPTH : 0;
    MPI_Group all;
    int peer = bench_rank == 0;

    target = NULL;
    if (kind == ALLOCATE)
        MPI_Win_allocate(room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &target, &window);
    else if (kind == SHARED) {
        MPI_Aint size;
        int unit;

        MPI_Win_allocate_shared(room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &target, &window);
        MPI_Win_shared_query(window, 1, &size, &unit, &target);
    } else {
        if (room)
            target = placed(bytes * BENCH_DEPTH, 0, &target_in);
        MPI_Win_create(target, room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
    origin = placed(bytes, APART, &origin_in);
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
    bench_release(origin_in);
    if (own)
        bench_release(target_in);
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

static void move(enum what what, size_t bytes, size_t at)
{
    int words = (int)(bytes / sizeof(uint64_t));

    if (what == GET)
        MPI_Get(origin, (int)bytes, MPI_BYTE, 1, (MPI_Aint)at, (int)bytes, MPI_BYTE, window);
    else if (what == ACCUMULATE)
        MPI_Accumulate(origin, words, MPI_UINT64_T, 1, (MPI_Aint)at, words, MPI_UINT64_T, MPI_SUM, window);
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
    compute(late_us);
    if (sync == FENCE)
        MPI_Win_fence(0, window);
    else if (sync == PSCW)
        MPI_Win_wait(window);
}

#endif
