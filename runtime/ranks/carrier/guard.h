/* guard.h - the lock of a rank's queues.
 *
 * A rank takes its own several times with every message, others take it seldom: for a message that has to be matched by its sender, to take a send back.  A
 * mutex costs each time a locked instruction, which waits until all that the rank has stored is on its way to the others, the message it has just sent
 * included.  So the rank says by a plain store that it is inside, and reads by a plain load that nobody shares its lock.  Who wants to share it says so, makes
 * every thread of the process pass a barrier (as one who goes to sleep does, thread.c), and waits until the rank is outside: then it has the mutex, and the rank
 * has to take that, too.  After it has done so ALONE times and nobody else came, the rank has its lock for itself again.
 *
 * Between fibers nothing has to be done. */
#ifndef OPIR_GUARD_H
#define OPIR_GUARD_H

#include "ranks/base/ranks.h"

#pragma GCC visibility push(hidden)

/* guard.c */
void opir_guards_init(void); /* of threads, before they run */
void opir_own_lock_slow(struct opir_guard *g) OPIR_COLD;
void opir_own_unlock_slow(struct opir_guard *g) OPIR_COLD;
void opir_their_lock(struct opir_guard *g);
void opir_their_unlock(struct opir_guard *g);

/* The caller's own. */
static inline void opir_own_lock(struct opir_rank *me) {
    struct opir_guard *g = &me->guard;
    atomic_store_explicit(&g->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the processor's part of it is the barrier of the one who sets `shared` */
    if (OPIR_UNLIKELY(atomic_load_explicit(&g->shared, memory_order_relaxed))) /* cleared by ourselves, so we have seen all that others did inside */
        opir_own_lock_slow(g);
}

static inline void opir_own_unlock(struct opir_rank *me) {
    struct opir_guard *g = &me->guard;
    if (OPIR_UNLIKELY(g->by_mutex))
        opir_own_unlock_slow(g);
    else
        atomic_store_explicit(&g->inside, false, memory_order_release);
}

/* Anybody's. */
static inline void opir_rank_lock(struct opir_rank *r) {
    if (!opir.threads)
        return;
    if (r == opir_self)
        opir_own_lock(r);
    else
        opir_their_lock(&r->guard);
}

static inline void opir_rank_unlock(struct opir_rank *r) {
    if (!opir.threads)
        return;
    if (r == opir_self)
        opir_own_unlock(r);
    else
        opir_their_unlock(&r->guard);
}

#pragma GCC visibility pop

#endif
