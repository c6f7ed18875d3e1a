/* thread.c - ranks as threads: starting them, and how a rank waits and is woken. */
#include "ranks.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define YIELDS 16
#define RELIEF_NS 5000000 /* a send that waits this long is copied aside */

/* Between one who waits and one who wakes: the waiter stores asleep, reads signal, looks at its condition, and sleeps while signal is unchanged; the other
 * makes the condition true, raises signal, and reads asleep.  All seq_cst: so either the waiter sees the condition or the change, or is seen asleep. */
void opir_thread_wake(struct opir_rank *r) {
    atomic_fetch_add_explicit(&r->signal, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&r->asleep, memory_order_seq_cst))
        syscall(SYS_futex, &r->signal, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void opir_thread_relax(struct opir_wait *w) {
    struct opir_rank *me = opir_self;
    uint32_t spins = (uint32_t)opir.spins, n = w->n++;
    if (n < spins) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    } else if (n < spins + YIELDS) {
        sched_yield();
    } else if (n == spins + YIELDS) {
        atomic_store_explicit(&me->asleep, 1, memory_order_seq_cst);
        w->seen = atomic_load_explicit(&me->signal, memory_order_seq_cst);
        return; /* the caller looks once more */
    } else {
        struct timespec limit = {0, RELIEF_NS};
        long rc = syscall(SYS_futex, &me->signal, FUTEX_WAIT_PRIVATE, w->seen, me->lent ? &limit : NULL, NULL, 0);
        bool some = false;
        if (rc < 0 && errno == ETIMEDOUT)
            opir_relieve(me, &some);
        w->n = spins + YIELDS; /* then it looks, and gets ready to sleep again */
        atomic_store_explicit(&me->asleep, 0, memory_order_relaxed); /* a hint: to be woken once too often does no harm */
    }
}

static void *thread_main(void *rank) {
    opir_self = rank;
    opir_rank_body(rank);
    return NULL;
}

void opir_thread_run(void) {
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (opir.stack && pthread_attr_setstacksize(&attr, opir.stack))
        opir_die("a stack of %zu bytes is not possible", opir.stack);
    pthread_t *thread = opir_alloc((size_t)opir.size * sizeof *thread);
    for (int i = 0; i < opir.size; i++) {
        int rc = pthread_create(&thread[i], &attr, thread_main, &opir.rank[i]);
        if (rc)
            opir_die("thread %d of %d cannot be started: %s", i, opir.size, strerror(rc));
    }
    for (int i = 0; i < opir.size; i++)
        pthread_join(thread[i], NULL);
    pthread_attr_destroy(&attr);
}
