/* lock.c - the lock in a member's seat: one exclusive, or any number of shared ones, and who waits for it. */
#include "shared/onesided/onesided.h"

#define LET_WRITERS_IN 64 /* looks at a lock that is free for readers, while writers wait */

bool opiw_queue(const char *call, struct opiw_win *w, struct opiw_seat *s, bool (*ready)(void *), void *of) {
    atomic_fetch_add_explicit(&s->sleepers, 1, memory_order_seq_cst);
    bool got = opiw_wait(call, w, -1, ready, of);
    atomic_fetch_sub_explicit(&s->sleepers, 1, memory_order_relaxed);
    return got;
}

void opiw_let_in(struct opiw_win *w, struct opiw_seat *s) {
    if (OPIW_UNLIKELY(atomic_load_explicit(&s->sleepers, memory_order_seq_cst)))
        opiw_wake_all(w);
}

struct wanted {
    struct opiw_seat *of;
    unsigned looks;
};

static bool get_exclusive(void *of) {
    struct wanted *l = of;
    uint32_t none = 0;
    return atomic_load_explicit(&l->of->lock, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(&l->of->lock, &none, OPIW_EXCLUSIVE, memory_order_acquire, memory_order_relaxed);
}

/* Writers that wait go first, for a while: not for ever, since who holds a shared lock may wait for another who wants one. */
static bool get_shared(void *of) {
    struct wanted *l = of;
    uint32_t now = atomic_load_explicit(&l->of->lock, memory_order_relaxed);
    if (now & OPIW_EXCLUSIVE)
        return false;
    if (atomic_load_explicit(&l->of->writers, memory_order_relaxed) && l->looks++ < LET_WRITERS_IN)
        return false;
    return atomic_compare_exchange_strong_explicit(&l->of->lock, &now, now + 1, memory_order_acquire, memory_order_relaxed);
}

bool opiw_acquire(const char *call, struct opiw_win *w, int target, bool exclusive) {
    struct wanted l = {w->at[target].seat, 0};
    if (!exclusive)
        return get_shared(&l) || opiw_queue(call, w, l.of, get_shared, &l);
    if (get_exclusive(&l))
        return true;
    atomic_fetch_add_explicit(&l.of->writers, 1, memory_order_relaxed);
    bool got = opiw_queue(call, w, l.of, get_exclusive, &l);
    atomic_fetch_sub_explicit(&l.of->writers, 1, memory_order_relaxed);
    return got;
}

void opiw_give_back(struct opiw_win *w, int target) {
    struct opiw_target *t = &w->at[target];
    if (OPIW_UNLIKELY(w->spans)) { /* the lock is the MPI's */
        t->held = OPIW_FREE;
        return;
    }
    if (t->held == OPIW_HELD_EXCLUSIVE)
        atomic_store_explicit(&t->seat->lock, 0, memory_order_seq_cst); /* release: our operations; and before the look at who sleeps */
    else if (t->held == OPIW_HELD_SHARED)
        atomic_fetch_sub_explicit(&t->seat->lock, 1, memory_order_seq_cst);
    t->held = OPIW_FREE;
    opiw_let_in(w, t->seat);
}
