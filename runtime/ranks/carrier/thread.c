/* thread.c - ranks as threads: starting them, and how a rank waits and is woken. */
#include "ranks/carrier/guard.h"
#include "ranks/engine/inbox.h"
#include "ranks/transport/net.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define YIELDS 16
#define RELIEF_NS 5000000 /* a send that waits this long is copied aside */
#define WATCH_NS 50000 /* between looks at what other processes have sent */
#define LOOKS 100

static void ring(struct opir_inbox *in) {
    syscall(SYS_futex, &in->signal, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Between one who waits and one who wakes: the waiter stores asleep, reads signal, looks at its condition, and sleeps while signal is unchanged; the other
 * makes the condition true and reads asleep, and raises signal if it is set.  Neither may read before its own store has been seen.  Either (`shoots`) the
 * waiter sees to that for both, by a system call that makes every thread of the process pass a barrier: then the one who wakes, who does so with every
 * message, pays for nothing but a load.  Or the other raises signal in any case, all seq_cst: so either the waiter sees the condition or the change, or is
 * seen asleep.  The first is for threads that have a processor each and seldom sleep. */
void opir_thread_wake(struct opir_rank *r) {
    struct opir_inbox *in = opir_inbox_of(r);
    if (opir.shoots) {
        atomic_signal_fence(memory_order_seq_cst);
        if (OPIR_LIKELY(!atomic_load_explicit(&in->asleep, memory_order_relaxed))) /* ordered by the waiter's barrier */
            return;
        atomic_fetch_add_explicit(&in->signal, 1, memory_order_seq_cst);
        ring(in);
        return;
    }
    atomic_fetch_add_explicit(&in->signal, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&in->asleep, memory_order_seq_cst))
        ring(in);
}

/* With several processes one of those that sleep looks again and again what has come from others.  Who finds itself woken gives that up, and wakes another. */
static _Atomic(struct opir_rank *) watcher;
static _Atomic(struct opir_rank *) looker; /* the one that looks LOOKS times more before it sleeps: an answer may be near, and all cannot */

static void watch_no_more(struct opir_rank *me) {
    atomic_store_explicit(&watcher, NULL, memory_order_seq_cst); /* who sleeps by now has stored asleep before it looked who watches */
    for (int i = 0; i < opir.here; i++)
        if (&opir.rank[i] != me && atomic_load_explicit(&opir.inboxes[i].asleep, memory_order_seq_cst)) {
            opir_thread_wake(&opir.rank[i]);
            return;
        }
}

static void look_no_more(struct opir_rank *me) {
    if (atomic_load_explicit(&looker, memory_order_relaxed) == me) /* only the rank itself makes it so */
        atomic_store_explicit(&looker, NULL, memory_order_relaxed); /* a hint */
}

static bool may_look(struct opir_rank *me) {
    struct opir_rank *nobody = NULL;
    return atomic_load_explicit(&looker, memory_order_relaxed) == me ||
           atomic_compare_exchange_strong_explicit(&looker, &nobody, me, memory_order_relaxed, memory_order_relaxed);
}

void opir_thread_awake(struct opir_rank *me) {
    look_no_more(me);
    if (atomic_load_explicit(&watcher, memory_order_relaxed) == me) /* only the rank itself makes it so */
        watch_no_more(me);
}

/* Sleeps until it is woken, or for a time; true when the time is over. */
static bool sleep_on(struct opir_rank *me, uint32_t seen, long ns) {
    struct timespec limit = {0, ns};
    int own_errno = errno; /* the program's */
    long rc = syscall(SYS_futex, &me->inbox->signal, FUTEX_WAIT_PRIVATE, seen, ns ? &limit : NULL, NULL, 0);
    bool over = rc < 0 && errno == ETIMEDOUT;
    errno = own_errno;
    return over;
}

/* Ranks of this process that have ended, or sleep and can be woken by nothing but another rank or a packet of another process: the lower half says how many
 * those are, the upper half how often one has stopped being one.  A rank counts itself before it sleeps and after it has stored `seen`, and no more before it
 * does anything else.  So when all are counted, nobody has a signal that it has not seen, and nobody has stopped being counted while that was looked at,
 * nobody can go on.  seq_cst, as everything between those who wake and those who sleep. */
static _Atomic uint64_t idle;
#define LEFT ((uint64_t)1 << 32)

static bool all_idle(void) {
    uint64_t before = atomic_load_explicit(&idle, memory_order_seq_cst);
    if ((uint32_t)before != (uint32_t)opir.here)
        return false;
    for (int i = 0; i < opir.here; i++) {
        struct opir_inbox *in = &opir.inboxes[i];
        if (!atomic_load_explicit(&opir.rank[i].ended, memory_order_relaxed) &&
            atomic_load_explicit(&in->signal, memory_order_seq_cst) != atomic_load_explicit(&in->seen, memory_order_seq_cst))
            return false;
    }
    return atomic_load_explicit(&idle, memory_order_seq_cst) == before;
}

/* For dead.c, asked by a rank that is counted and has the driver's part, or when all have ended. */
bool opir_threads_stuck(void) {
    return all_idle();
}

static void one_more_idle(void) {
    uint64_t before = atomic_fetch_add_explicit(&idle, 1, memory_order_seq_cst);
    if ((uint32_t)before + 1 == (uint32_t)opir.here && !opir.several && opir_waiting() && all_idle())
        opir_report_deadlock();
}

/* Before a rank sleeps; false: what its sends hold may yet be copied aside, then it can go on by itself. */
static bool counted(struct opir_rank *me, const struct opir_wait *w) {
    if (me->lent && !w->vain)
        return false;
    atomic_store_explicit(&me->inbox->seen, w->seen, memory_order_seq_cst);
    one_more_idle();
    return true;
}

static void counted_no_more(bool counts) {
    if (counts)
        atomic_fetch_add_explicit(&idle, LEFT - 1, memory_order_seq_cst);
}

static void relieve(struct opir_rank *me, struct opir_wait *w) {
    bool some = false;
    opir_relieve(me, &some);
    w->vain = !some;
}

static void sleep_alone(struct opir_rank *me, struct opir_wait *w) {
    bool counts = counted(me, w), over = sleep_on(me, w->seen, me->lent ? RELIEF_NS : 0);
    counted_no_more(counts);
    if (over)
        relieve(me, w);
}

static void sleep_and_watch(struct opir_rank *me, struct opir_wait *w) {
    struct opir_rank *nobody = NULL;
    bool watches = atomic_load_explicit(&watcher, memory_order_relaxed) == me ||
                   atomic_compare_exchange_strong_explicit(&watcher, &nobody, me, memory_order_seq_cst, memory_order_seq_cst);
    bool counts = counted(me, w), over = false;
    if (watches) {
        uint64_t begun = opir_now();
        while (!over && sleep_on(me, w->seen, WATCH_NS)) {
            uint64_t ns = opir_now() - begun;
            opir_net_watch(counts ? ns : 0);
            over = !counts && ns > RELIEF_NS;
        }
    } else {
        do
            over = sleep_on(me, w->seen, RELIEF_NS);
        while (over && counts && atomic_load_explicit(&watcher, memory_order_relaxed)); /* who was woken to watch may have gone on by itself */
    }
    counted_no_more(counts);
    if (over)
        relieve(me, w);
}

void opir_thread_relax(struct opir_wait *w) {
    struct opir_rank *me = opir_self;
    struct opir_inbox *in = me->inbox;
    uint32_t spins = (uint32_t)opir.spins, n = w->n++, last = spins + YIELDS;
    if (OPIR_UNLIKELY(opir.several)) {
        last += LOOKS;
        if (n >= spins + YIELDS && n < last && !may_look(me)) {
            n = last;
            w->n = last + 1;
        }
        if (n < last && (n % 16 == 0 || n >= spins) && opir_net_poll())
            return;
    }
    if (n < spins) {
        opir_pause();
    } else if (n < last) {
        sched_yield();
    } else if (n == last) {
        if (opir.several)
            look_no_more(me);
        atomic_store_explicit(&in->asleep, 1, memory_order_seq_cst);
        if (opir.shoots)
            syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
        w->seen = atomic_load_explicit(&in->signal, memory_order_seq_cst);
        return; /* the caller looks once more */
    } else {
        if (opir_inbox_filled(in, atomic_load_explicit(&in->tail, memory_order_relaxed)))
            ; /* the caller took in one message, and there are more */
        else if (OPIR_UNLIKELY(opir.several))
            sleep_and_watch(me, w);
        else
            sleep_alone(me, w);
        w->n = last; /* then it looks, and gets ready to sleep again */
        atomic_store_explicit(&in->asleep, 0, memory_order_relaxed); /* a hint: to be woken once too often does no harm */
    }
}

void opir_relaxed(const struct opir_wait *w) {
    if (!opir.threads || w->n <= (uint32_t)opir.spins)
        return;
    if (opir.several)
        opir_thread_awake(opir_self);
    atomic_store_explicit(&opir_self->inbox->asleep, 0, memory_order_relaxed); /* as above */
}

static void *thread_main(void *rank) {
    opir_self = rank;
    opir_rank_body(rank);
    one_more_idle();
    return NULL;
}

void opir_thread_run(void) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (opir.stack && pthread_attr_setstacksize(&attr, opir.stack))
        opir_die("a stack of %zu bytes is not possible", opir.stack);
    void *inboxes;
    size_t bytes = (size_t)opir.here * sizeof *opir.inboxes;
    if (posix_memalign(&inboxes, _Alignof(struct opir_inbox), bytes))
        opir_die("out of memory for %d ranks", opir.here);
    opir.inboxes = memset(inboxes, 0, bytes);
    for (int i = 0; i < opir.here; i++)
        opir.rank[i].inbox = &opir.inboxes[i];
    opir.shoots = !opir.crowded && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    opir_guards_init();
    pthread_t *thread = opir_alloc((size_t)opir.here * sizeof *thread);
    for (int i = 0; i < opir.here; i++) {
        int rc = pthread_create(&thread[i], &attr, thread_main, &opir.rank[i]);
        if (rc)
            opir_die("thread %d of %d cannot be started: %s", i, opir.here, strerror(rc));
    }
    for (int i = 0; i < opir.here; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    pthread_attr_destroy(&attr);
}
