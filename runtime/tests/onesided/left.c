/*
 * Puts into private memory that are left to the target: it stores them when it ends its epoch, without a copy by the kernel (counted here, by functions in
 * the place of the C library's). Whoever comes after that has to find them: the target itself, and after a fence any other rank. Processes only; two or more.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "../mpi/check.h"

#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define PER_RANK ((size_t)512 << 10) /* bytes of a member's memory for each origin */
#define RANKS 4

static long by_kernel;

ssize_t process_vm_readv(pid_t pid, const struct iovec *mine, unsigned long n, const struct iovec *theirs, unsigned long m, unsigned long flags)
{
    by_kernel++;
    return syscall(SYS_process_vm_readv, pid, mine, n, theirs, m, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *mine, unsigned long n, const struct iovec *theirs, unsigned long m, unsigned long flags)
{
    by_kernel++;
    return syscall(SYS_process_vm_writev, pid, mine, n, theirs, m, flags);
}

static int rank, size;
static MPI_Win win;
static MPI_Group others;
static char mine[PER_RANK * RANKS]; /* private memory of this process */
static char out[PER_RANK], in[PER_RANK];
static uint64_t drawn;

static unsigned draw(unsigned below)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(drawn >> 33) % below;
}

static void compute(double us)
{
    for (double until = MPI_Wtime() + 1e-6 * us; MPI_Wtime() < until;)
        ;
}

static void put(int target, size_t from, size_t n)
{
    MPI_Put(out + from, (int)n, MPI_CHAR, target, (MPI_Aint)(PER_RANK * (size_t)rank + from), (int)n, MPI_CHAR, win);
}

enum way { FENCE, POST };

static void open_epoch(enum way way)
{
    if (way == FENCE) {
        MPI_Win_fence(0, win);
    } else {
        MPI_Win_post(others, 0, win);
        MPI_Win_start(others, 0, win);
    }
}

static void close_epoch(enum way way)
{
    if (way == FENCE) {
        MPI_Win_fence(0, win);
    } else {
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
}

/* Each rank puts to all others, as several puts of one length; the last may be shorter. Every rank finds all when its epoch is over. */
static void sizes(enum way way)
{
    static const size_t all[] = {1, 8, 184, 185, 2048, 2049, 16384, 16385, 65536, 65537, 200000, 300000};
    static const size_t parts[] = {1, 3, 5, 200};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            size_t n = all[k], part = (n + parts[p] - 1) / parts[p];
            int seed = (int)(k * 10 + p);
            fill(out, n, (unsigned)(seed + rank));
            memset(mine, -1, sizeof mine);
            open_epoch(way);
            for (int t = 0; t < size; t++)
                for (size_t at = 0; t != rank && at < n; at += part)
                    put(t, at, n - at < part ? n - at : part);
            close_epoch(way);
            for (int r = 0; r < size; r++)
                CHECK(r == rank || !differs(mine + PER_RANK * (size_t)r, n, (unsigned)(seed + r)));
        }
}

/* One after the other without a pause, ranks that come late, lengths that change: what is left must not be overwritten before it is stored. */
static void many(enum way way)
{
    static const size_t all[] = {8, 100, 3000, 40000};
    for (int round = 0; round < 400; round++) {
        size_t n = all[round * 7 / 3 % 4];
        fill(out, n, (unsigned)(round + rank));
        open_epoch(way);
        for (int t = 0; t < size; t++)
            if (t != rank && (round + t) % 3)
                put(t, 0, n);
        if (draw(8) == 0)
            compute(draw(60));
        close_epoch(way);
        for (int r = 0; r < size; r++)
            CHECK(r == rank || (round + rank) % 3 == 0 || !differs(mine + PER_RANK * (size_t)r, n, (unsigned)(round + r)));
    }
}

/* What rank 0 leaves to rank 1 at a fence the last rank gets at once after it, also under a lock, while rank 1 may still store it; and adds to. */
static void read_at_once(void)
{
    int reader = size - 1;
    for (int round = 0; round < 300; round++) {
        size_t n = round % 3 ? 8 : 60000;
        long one = 1;
        fill(out, n, (unsigned)round);
        MPI_Win_fence(0, win);
        if (rank == 0)
            put(1, 0, n);
        if (rank == 1 && draw(4) == 0)
            compute(draw(40));
        if (round % 2) {
            MPI_Win_fence(0, win);
            if (rank == reader)
                MPI_Get(in, (int)n, MPI_CHAR, 1, 0, (int)n, MPI_CHAR, win);
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        } else {
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
            if (rank == reader) {
                MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
                MPI_Get(in, (int)n, MPI_CHAR, 1, 0, (int)n, MPI_CHAR, win);
                MPI_Win_unlock(1, win);
            }
        }
        if (rank == reader)
            CHECK(!differs(in, n, (unsigned)round));
        MPI_Win_fence(0, win);
        if (rank == 0)
            put(1, 0, 8);
        MPI_Win_fence(0, win);
        if (rank == reader)
            MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        if (rank == 1) {
            long before, now;
            memcpy(&before, out, sizeof before);
            memcpy(&now, mine, sizeof now);
            CHECK(now == before + 1);
        }
    }
}

/* Puts, then what cannot join them: a get of something else, a sum, and more puts, in one epoch. */
static void mixed(enum way way)
{
    int target = (rank + 1) % size;
    long one = 3, got = 0;
    for (int round = 0; round < 50; round++) {
        size_t there = PER_RANK * (size_t)target; /* the target's own part: nobody else uses it */
        long value = 1000 + round;
        memcpy(mine + PER_RANK * (size_t)rank, &value, sizeof value);
        memcpy(mine + PER_RANK * (size_t)rank + 64, &value, sizeof value);
        fill(out, 70000, (unsigned)(round + rank));
        open_epoch(way);
        put(target, 0, 30000);
        MPI_Get(&got, 1, MPI_LONG, target, (MPI_Aint)there, 1, MPI_LONG, win);
        put(target, 30000, 100);
        put(target, 30100, 39900);
        MPI_Accumulate(&one, 1, MPI_LONG, target, (MPI_Aint)there + 64, 1, MPI_LONG, MPI_SUM, win);
        close_epoch(way);
        CHECK(got == value);
        memcpy(&value, mine + PER_RANK * (size_t)rank + 64, sizeof value);
        CHECK(value == 1003 + round);
        int from = (rank + size - 1) % size;
        CHECK(!differs(mine + PER_RANK * (size_t)from, 70000, (unsigned)(round + from)));
    }
}

/* Up to what a target is left in one epoch nothing goes by the kernel, whether it waits or computes. */
static void without_the_kernel(enum way way)
{
    long before = by_kernel;
    fill(out, PER_RANK, (unsigned)way);
    open_epoch(way);
    for (int t = 0; t < size; t++) {
        for (size_t at = 0; t != rank && at < 131072; at += 65536)
            put(t, at, 65536);
        if (t != rank)
            put(t, 131072, PER_RANK - 131072);
    }
    compute(100);
    close_epoch(way);
    CHECK(by_kernel == before);
}

/*
 * More than a target is left in one epoch: the kernel copies the rest, but no byte that was left by then. What is put again, to the same place, is what the target finds: libopi keeps
 * the order of one origin's puts. With several windows at once it is more than a process leaves to all its targets.
 */
#define MUCH ((size_t)6 << 20)
#define PIECE ((size_t)256 << 10)
#define WINDOWS 9

static void beyond(void)
{
    int target = (rank + 1) % size, from = (rank + size - 1) % size;
    char *memory[WINDOWS], *source = malloc(MUCH + PIECE);
    MPI_Win window[WINDOWS];

    for (int i = 0; i < WINDOWS; i++) {
        memory[i] = malloc(MUCH);
        CHECK(memory[i] && source);
        MPI_Win_create(memory[i], (MPI_Aint)MUCH, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window[i]);
    }
    for (int round = 0; round < 2; round++) {
        int windows = round ? WINDOWS : 1, again = !round;

        fill(source, MUCH + PIECE, (unsigned)(round + rank));
        for (int i = 0; i < windows; i++)
            MPI_Win_fence(0, window[i]);
        for (int i = 0; i < windows; i++) {
            for (size_t at = 0; at < MUCH; at += PIECE)
                MPI_Put(source + at, (int)PIECE, MPI_CHAR, target, (MPI_Aint)at, (int)PIECE, MPI_CHAR, window[i]);
            if (again) { /* in what was left, and in what was not */
                MPI_Put(source + MUCH, (int)PIECE, MPI_CHAR, target, 1000, (int)PIECE, MPI_CHAR, window[i]);
                MPI_Put(source + MUCH, (int)PIECE, MPI_CHAR, target, (MPI_Aint)(MUCH - PIECE), (int)PIECE, MPI_CHAR, window[i]);
                MPI_Put(source + MUCH, 3000, MPI_CHAR, target, (MPI_Aint)(MUCH - 3000), 3000, MPI_CHAR, window[i]);
            }
        }
        for (int i = 0; i < windows; i++)
            MPI_Win_fence(MPI_MODE_NOSUCCEED, window[i]);
        fill(source, MUCH + PIECE, (unsigned)(round + from));
        if (again) {
            memcpy(source + 1000, source + MUCH, PIECE);
            memcpy(source + MUCH - PIECE, source + MUCH, PIECE);
            memcpy(source + MUCH - 3000, source + MUCH, 3000);
        }
        for (int i = 0; i < windows; i++)
            CHECK(memcmp(memory[i], source, MUCH) == 0);
    }
    for (int i = 0; i < WINDOWS; i++) {
        MPI_Win_free(&window[i]);
        free(memory[i]);
    }
    free(source);
}

int main(int argc, char **argv)
{
    MPI_Group all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    world_rank = rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    drawn = (uint64_t)rank + 1;
    CHECK(size <= RANKS);
    MPI_Win_create(mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_group(win, &all);
    MPI_Group_excl(all, 1, &rank, &others);
    for (enum way way = FENCE; way <= POST; way++) {
        trying(way == FENCE ? "fence" : "post");
        sizes(way);
        many(way);
        without_the_kernel(way);
        mixed(way);
        if (way == FENCE)
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    }
    trying("by turns");
    for (int i = 0; i < 40; i++) {
        many(i % 2 ? POST : FENCE);
        if (i % 2 == 0)
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        i += 7;
    }
    trying("read at once");
    read_at_once();
    trying("beyond");
    beyond();
    MPI_Group_free(&others);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    return finish("left");
}
