/*
 * epochs_bare.h - see onesided.c: the limit. Two processes with shared memory, in which a copy is memcpy, and whose
 * epochs are flags: a fence is a barrier, a post and the end of an epoch are one store each, a lock is one exchange.
 *
 * Windows of MPI_Win_create are over memory that the origin does not reach. What is put after a post or between fences is
 * copied into shared memory, where the target need not find it before its epoch is over. All else has to wait for a copy:
 * the origin asks by a flag, the target makes the one copy there has to be, and answers by a flag. The target does nothing
 * but look for that. Of `kernel-` points the origin lets the kernel copy, outside of any epoch. Of several puts (skew) none
 * waits for a copy but those.
 */
#ifndef BENCH_EPOCHS_BARE_H
#define BENCH_EPOCHS_BARE_H

#include <sys/uio.h>

/* A line, and the next one, which the processor may fetch with it. */
struct flag {
    atomic_uint n; /* stored with release order, loaded with acquire order: what was written before is seen by who has seen it */
    int what, over;
    size_t bytes, at;
    char rest[128 - 32];
};

struct flags {
    struct flag posted, told, answered, lock; /* by the target, the origin, the target, the origin */
    struct {
        atomic_uint arrived, turn; /* by both; by the last to come, release and acquire */
        size_t left;               /* by the origin before it comes */
        char rest[128 - 16];
    } fence;
    char *unreached;    /* the target's private memory, where it lies in the target */
    int kernel_refuses; /* by the origin, before both meet */
};
_Static_assert(sizeof(struct flags) <= BENCH_MORE, "room");

static struct flags *flags;
static int asks;     /* the origin does not reach the memory of the window that is open */
static size_t left;  /* bytes of what the origin has left in shared memory in this epoch */
static unsigned tells, fences;
static enum sync epoch_sync;

static unsigned now_at(struct flag *f)
{
    return atomic_load_explicit(&f->n, memory_order_acquire);
}

static void set(struct flag *f, unsigned n)
{
    atomic_store_explicit(&f->n, n, memory_order_release);
}

static char *in_shared_memory(void)
{
    return bench_memory_at + bench_stride() * BENCH_PER_RANK;
}

static void open_window(enum kind kind, size_t bytes)
{
    flags = bench_more_at;
    asks = kind == CREATE && BENCH_DEPTH == 1;
    origin = bench_memory_at + APART;
    target = in_shared_memory();
    if (kind != CREATE || bench_rank == 0)
        return;
    flags->unreached = malloc(bytes * BENCH_DEPTH);
    if (!flags->unreached)
        exit(3);
    memset(flags->unreached, 0, bytes * BENCH_DEPTH);
    if (asks)
        target = flags->unreached;
}

static void close_window(void)
{
    if (bench_rank == 1) {
        free(flags->unreached);
        flags->unreached = NULL;
    }
}

static void meet(void)
{
    bench_barrier();
}

/* What the origin tells the target; `over`: nothing more in this epoch. */
static void tell(enum what what, size_t bytes, size_t at, int over)
{
    flags->told.what = (int)what;
    flags->told.bytes = bytes;
    flags->told.at = at;
    flags->told.over = over;
    set(&flags->told, ++tells);
}

static void take_what_was_left(size_t bytes)
{
    if (bytes)
        memcpy(target, in_shared_memory(), bytes);
}

/* At the target: does what it is told. True: nothing more comes. */
static int does_what_it_is_told(void)
{
    const struct flag *t = &flags->told;

    if (now_at(&flags->told) == tells)
        return 0;
    tells++;
    if (t->over)
        take_what_was_left(t->bytes);
    else
        memcpy(t->what == GET ? origin + t->at : target + t->at, t->what == GET ? target + t->at : origin + t->at, t->bytes);
    if (!t->over)
        set(&flags->answered, tells);
    return t->over;
}

/* The target does meanwhile what it is told. */
static void fence(void)
{
    unsigned turn = fences++;

    if (atomic_fetch_add_explicit(&flags->fence.arrived, 1, memory_order_acq_rel) % 2)
        atomic_store_explicit(&flags->fence.turn, turn + 1, memory_order_release);
    else
        while (atomic_load_explicit(&flags->fence.turn, memory_order_acquire) == turn)
            if (asks && bench_rank == 1)
                does_what_it_is_told();
}

static void begin(enum sync sync)
{
    left = 0;
    epoch_sync = sync;
    if (sync == FENCE)
        fence();
    else if (sync == PSCW)
        while (now_at(&flags->posted) != (unsigned)epochs)
            ;
    else if (sync == LOCK)
        while (atomic_exchange_explicit(&flags->lock.n, 1, memory_order_acquire))
            ;
}

static void move(enum what what, size_t bytes, size_t at)
{
    if (asks && (what == GET || epoch_sync >= LOCK)) {
        tell(what, bytes, at, 0);
        while (now_at(&flags->answered) != tells)
            ;
    } else {
        memcpy(what == GET ? origin : target + at, what == GET ? target + at : origin, bytes);
        left = asks ? at + bytes : 0;
    }
}

static void end(enum sync sync)
{
    if (sync == FENCE) {
        flags->fence.left = left;
        fence();
        return;
    }
    tell(PUT, left, 0, 1);
    if (sync == LOCK)
        set(&flags->lock, 0);
}

static void target_side(enum sync sync, double late_us)
{
    if (sync == FENCE)
        fence();
    else if (sync == PSCW)
        set(&flags->posted, (unsigned)epochs);
    compute(late_us);
    if (sync == FENCE) {
        fence();
        take_what_was_left(flags->fence.left);
        return;
    }
    while (!does_what_it_is_told())
        ;
}

/* Of the points `kernel-...`: one copy. False where the system does not allow it. */
static int by_kernel(enum what what, size_t bytes, size_t at)
{
    struct iovec here = {origin, bytes}, there = {flags->unreached + at, bytes};

    if (what == GET)
        return process_vm_readv(bench_child, &here, 1, &there, 1, 0) == (ssize_t)bytes;
    return process_vm_writev(bench_child, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Both ask: the target has said where its memory lies. */
static int kernel_copies(void)
{
    meet();
    if (bench_rank == 0)
        flags->kernel_refuses = !by_kernel(GET, 1, 0);
    meet();
    return !flags->kernel_refuses;
}
#endif
