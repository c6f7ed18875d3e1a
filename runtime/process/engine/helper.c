/* helper.c - progress for a rank that is not in libopi: it computes, or sits in a collective of the MPI below.
 *
 * A posted receive must complete its send, whatever its rank does meanwhile.  A peer that has waited a while kicks the helper thread of the rank it waits
 * for; the helper matches and moves what has arrived, without calling MPI, and sleeps again.
 *
 * Exclusion without cost on the fast path: the owner announces itself by a plain store (`inside`) and then looks for the helper; the helper announces
 * itself (`busy`), makes the kernel order every running thread of the process (membarrier), and then looks for the owner.  Of two that come at once at
 * least one sees the other, and the helper is the one to withdraw.
 *
 * A process without membarrier has a lock in the place of this (opi.locked).  Where it is refused only later, while the owner may be in a collective and
 * cannot be asked for anything, the helper runs on each processor in turn: whoever ran there has then passed a barrier, since it was put aside. */
#include "process/base/error.h"
#include "process/below/net.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/tools/check.h"
#include "process/tools/profile.h"
#include "shared/onesided/onesided.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WATCH_NS 50000 /* between two looks for the messages of held receives */
/* Addresses only, until they are touched.  The helper calls the MPI below, whose frames (and those of handlers that it calls) are not ours to know: in 256 KiB
 * MPICH's progress ran over the end where a sanitizer took its part. */
#define HELPER_STACK ((size_t)8 << 20)

_Atomic uint32_t opi_helper_busy;
_Atomic uint32_t opi_guests;
_Atomic uint32_t opi_inside_dummy;           /* before the arena exists */
_Atomic uint32_t *opi_inside = &opi_inside_dummy;

_Thread_local bool opi_helping;

static pthread_t thread;
static bool running;
static _Atomic uint32_t quit;

#ifndef MEMBARRIER_CMD_PRIVATE_EXPEDITED
#define MEMBARRIER_CMD_PRIVATE_EXPEDITED (1 << 3)
#define MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED (1 << 4)
#endif

static int membarrier(int cmd) {
    return (int)syscall(SYS_membarrier, cmd, 0, 0);
}

/* The helper is at work on our state: wait until it is done. */
OPI_COLD void opi_enter_wait(void) {
    do {
        for (unsigned n = 0; atomic_load_explicit(&opi_helper_busy, memory_order_acquire); n++)
            if (n > 100)
                sched_yield();
        /* A guest may have moved the mark to the arena that it made. */
        atomic_store_explicit(opi_inside, 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
    } while (atomic_load_explicit(&opi_helper_busy, memory_order_acquire));
}

static __thread uint32_t depth;

OPI_COLD void opi_enter_special(void) {
    if (!opi.threads && !opi.watch)
        return;
    if (depth++ != 0)
        return;
    opi_in_library = true;
    if (opi.profile)
        opi_profile_enter();
    if (opi.threads) {
        pthread_mutex_lock(&opi.lock);
        return;
    }
    /* As opi_enter does. */
    atomic_store_explicit(opi_inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&opi_helper_busy, memory_order_acquire))
        opi_enter_wait();
}

OPI_COLD void opi_leave_special(void) {
    if ((!opi.threads && !opi.watch) || --depth != 0)
        return;
    opi_in_library = false;
    if (opi.profile)
        opi_profile_leave();
    if (opi.threads)
        pthread_mutex_unlock(&opi.lock);
    else
        atomic_store_explicit(opi_inside, 0, memory_order_release);
}

/* Is this thread between enter and leave? */
bool opi_in_section(void) {
    return opi.threads ? depth != 0 : atomic_load_explicit(opi_inside, memory_order_relaxed) != 0;
}

/* All that is there: a call of opi_progress takes one envelope from each ring.  Bounded, so that the owner is not kept out for long. */
static void drain(void) {
    for (int n = 0; n < 256 && (n == 0 || opi_rings_ready()); n++)
        opi_progress();
}

/* Held by the helper while it works, and around a fork: the child must not inherit a pool in the middle of a change.  With MPI_THREAD_MULTIPLE the lock of all
 * threads does it. */
static pthread_mutex_t at_work = PTHREAD_MUTEX_INITIALIZER;
static bool fork_locked; /* the thread that forks took the lock of all threads; no callback of the MPI below, which has it already */

/* The owner may come in meanwhile where another thread forks: a program whose threads do not all stand still then has no use for libopi in the child. */
static void before_fork(void) {
    pthread_mutex_lock(&at_work);
    fork_locked = opi.threads && depth == 0;
    if (fork_locked)
        pthread_mutex_lock(&opi.lock);
}

static void after_fork(void) {
    if (fork_locked)
        pthread_mutex_unlock(&opi.lock);
    pthread_mutex_unlock(&at_work);
}

/* The child has no helper. */
static void in_child(void) {
    pthread_mutex_init(&opi.lock, NULL);
    pthread_mutex_init(&at_work, NULL);
    running = false;
    atomic_store_explicit(&opiw_own_desk, NULL, memory_order_relaxed); /* what others ask for is the parent's memory */
}

/* The last to be registered is the first before a fork and the last after it: what heap and checks do to the pool, they do while it is held. */
void opi_helper_fork_init(void) {
    static bool once;
    if (!once)
        pthread_atfork(before_fork, after_fork, in_child);
    once = true;
}

/* Receives are held, whose messages it looks for where the MPI below allows it: the program's threads may wait in calls of the MPI.  Set by the owner
 * (relaxed, the kick that follows publishes it), taken back here, where nobody else is inside. */
static _Atomic bool watching;

static void work(void) {
    drain();
    if (!atomic_load_explicit(&watching, memory_order_relaxed))
        return;
    opi_net_try();
    if (!opi.nheld)
        atomic_store_explicit(&watching, false, memory_order_relaxed);
}

/* Runs on each processor that this process may use; false where that is refused, too. */
static bool visit_processors(void) {
    int n = (int)sysconf(_SC_NPROCESSORS_CONF);
    size_t bytes = CPU_ALLOC_SIZE(n);
    cpu_set_t *own = CPU_ALLOC(n), *one = CPU_ALLOC(n);
    bool some = false, refused = !own || !one || sched_getaffinity(0, bytes, own) != 0;
    for (int k = 0; k < n && !refused; k++) {
        CPU_ZERO_S(bytes, one);
        CPU_SET_S((size_t)k, bytes, one);
        if (sched_setaffinity(0, bytes, one) == 0) /* returns there */
            some = true;
        else
            refused = errno != EINVAL; /* one that is off, or another job's */
    }
    if (some)
        (void)sched_setaffinity(0, bytes, own);
    CPU_FREE(own);
    CPU_FREE(one);
    return some && !refused;
}

/* Between our store of `busy` and our look whether the owner is inside: if it has not seen the one, we see the other.  False: nothing sees to that. */
static bool order_owner(void) {
    if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
        return true;
    int own_errno = errno; /* a guest's */
    bool ordered = (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) || visit_processors();
    errno = own_errno;
    return ordered;
}

static void help(void) {
    if (opi.threads) {
        pthread_mutex_lock(&opi.lock);
        depth++; /* the MPI below may call the program, which may call us */
        work();
        depth--;
        pthread_mutex_unlock(&opi.lock);
        return;
    }
    pthread_mutex_lock(&at_work);
    if (!atomic_load_explicit(opi_inside, memory_order_relaxed)) {
        atomic_store_explicit(&opi_helper_busy, 1, memory_order_relaxed);
        static bool said;
        bool ordered = order_owner();
        if (!ordered && !said) {
            said = true;
            opi_say("warning: membarrier is refused since MPI_Init: receives progress only inside MPI calls");
        }
        if (ordered && atomic_load_explicit(opi_inside, memory_order_acquire) == 0) /* acquire: all the owner did before it left */
            work();
        atomic_store_explicit(&opi_helper_busy, 0, memory_order_release); /* the owner sees all we did */
    }
    pthread_mutex_unlock(&at_work);
}

/* ---- guests ----------------------------------------------------------------------------------------------------------------------------------------- */

/* OPI_Alloc and OPI_Free may be called by any thread at any time, whatever MPI's thread level.  Of the others than the owner one at a time comes in as the
 * helper does; it has to get in, so it waits for the owner to leave, which lets it in where it waits itself (opi_relax).  A microsecond or two, and nothing for
 * the owner. */
static __thread bool by_lock; /* this guest came in by the lock of all threads */

OPI_COLD void opi_guest_enter(void) {
    pthread_mutex_lock(&at_work);
    by_lock = opi.threads; /* changes under at_work, and never back */
    if (by_lock) {
        pthread_mutex_unlock(&at_work);
        opi_enter_special();
        return;
    }
    atomic_fetch_add_explicit(&opi_guests, 1, memory_order_relaxed);
    for (unsigned n = 0;; n++) {
        atomic_store_explicit(&opi_helper_busy, 1, memory_order_relaxed);
        if (!order_owner())
            opi_die("OPI_Alloc or OPI_Free by a thread that does not call MPI: membarrier is refused");
        if (atomic_load_explicit(opi_inside, memory_order_acquire) == 0) /* acquire: all the owner did before it left */
            break;
        atomic_store_explicit(&opi_helper_busy, 0, memory_order_release);
        if (n < 10)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, 20000}, NULL);
    }
    atomic_fetch_sub_explicit(&opi_guests, 1, memory_order_relaxed);
    opi_in_library = opi.watch;
}

OPI_COLD void opi_guest_leave(void) {
    if (by_lock) {
        opi_leave_special();
        return;
    }
    opi_in_library = false;
    atomic_store_explicit(&opi_helper_busy, 0, memory_order_release); /* the owner sees all we did */
    pthread_mutex_unlock(&at_work);
}

/* From here on the lock of all threads is what keeps them apart; called by the owner, outside. */
void opi_guests_by_lock(void) {
    pthread_mutex_lock(&at_work); /* no guest is inside */
    opi.threads = true;
    pthread_mutex_unlock(&at_work);
}

static void *helper_main(void *arg) {
    (void)arg;
    opi_in_library = opi_helping = true;
    _Atomic uint32_t *kick = &opi.arena->kick;
    uint32_t seen = atomic_load_explicit(kick, memory_order_relaxed);
    const struct timespec nap = {0, WATCH_NS};
    while (!atomic_load_explicit(&quit, memory_order_acquire)) {
        uint32_t now = atomic_load_explicit(kick, memory_order_acquire);
        if (now == seen) {
            bool watch = atomic_load_explicit(&watching, memory_order_relaxed);
            syscall(SYS_futex, kick, FUTEX_WAIT, seen, watch ? &nap : NULL, NULL, 0);
            if (watch)
                help();
            continue;
        }
        seen = now;
        opi.stat.kicked++;
        help();
    }
    return NULL;
}

/* Registers for membarrier while the process has one thread: later the kernel waits for a grace period of RCU, ten milliseconds and more.
 * False: there is none; then a lock takes its place everywhere. */
bool opi_helper_load(void) {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

/* Starts the helper; without one (no thread to be had) a posted receive waits until its rank calls libopi again. */
void opi_helper_start(void) {
    if ((opi.nlocal < 2 && !(opi.multiple && opi.world_size > 1)) || running)
        return;
    if (opi.locked && opi.verbose)
        opi_say("membarrier is not available: each call of libopi takes a lock");
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* its own faults are not: OPI_CHECK handles them */
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the program's signals are none of the helper's business */
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, HELPER_STACK);
    atomic_store_explicit(&quit, 0, memory_order_relaxed);
    int failed = pthread_create(&thread, &attr, helper_main, NULL);
    running = failed == 0;
    if (failed)
        opi_say("warning: no thread for the progress of receives (%s): they progress only inside MPI calls", strerror(failed));
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void opi_helper_stop(void) {
    if (!running)
        return;
    atomic_store_explicit(&quit, 1, memory_order_release);
    atomic_fetch_add_explicit(&opi.arena->kick, 1, memory_order_release);
    syscall(SYS_futex, &opi.arena->kick, FUTEX_WAKE, 1, NULL, NULL, 0);
    pthread_join(thread, NULL);
    running = false;
}

/* A receive is held from now on: our helper is to look for its message. */
void opi_helper_watch(void) {
    if (!running || opi_helping || atomic_load_explicit(&watching, memory_order_relaxed))
        return;
    atomic_store_explicit(&watching, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&opi.arena->kick, 1, memory_order_release);
    syscall(SYS_futex, &opi.arena->kick, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Wakes the helper of a peer that is outside libopi; one inside progresses by itself. */
void opi_kick(int local) {
    struct opi_arena *a = opi.peer[local];
    if (atomic_load_explicit(&a->inside, memory_order_relaxed))
        return;
    opi.stat.kicks++;
    atomic_fetch_add_explicit(&a->kick, 1, memory_order_release);
    syscall(SYS_futex, &a->kick, FUTEX_WAKE, 1, NULL, NULL, 0);
}
