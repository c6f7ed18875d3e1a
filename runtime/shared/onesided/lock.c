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

static bool get_exclusive(void *seat) {
    struct opiw_seat *s = seat;
    uint32_t none = 0;
    return atomic_load_explicit(&s->lock, memory_order_relaxed) == 0 &&
           atomic_compare_exchange_strong_explicit(&s->lock, &none, OPIW_EXCLUSIVE, memory_order_acquire, memory_order_relaxed);
}

static bool get_shared(void *seat) {
    struct opiw_seat *s = seat;
    uint32_t now = atomic_load_explicit(&s->lock, memory_order_relaxed);
    while (!(now & OPIW_EXCLUSIVE))
        if (atomic_compare_exchange_weak_explicit(&s->lock, &now, now + 1, memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

/* Who wants a shared lock lets those who wait for an exclusive one go first, for a while: not for ever, since who holds a shared lock may wait for another who
 * wants one.  It does not sleep meanwhile, since nobody would wake it. */
static void let_writers_in(const struct opiw_seat *s) {
    for (int looks = 0; looks < LET_WRITERS_IN && atomic_load_explicit(&s->writers, memory_order_relaxed) &&
                        !(atomic_load_explicit(&s->lock, memory_order_relaxed) & OPIW_EXCLUSIVE);
         looks++)
        opiw_vain();
}

bool opiw_acquire(const char *call, struct opiw_win *w, int target, bool exclusive) {
    struct opiw_seat *s = w->at[target].seat;
    bool got;
    if (!exclusive) {
        let_writers_in(s);
        got = get_shared(s) || opiw_queue(call, w, s, get_shared, s);
    } else if (!(got = get_exclusive(s))) {
        atomic_fetch_add_explicit(&s->writers, 1, memory_order_relaxed);
        got = opiw_queue(call, w, s, get_exclusive, s);
        atomic_fetch_sub_explicit(&s->writers, 1, memory_order_relaxed);
    }
    opiw_heard(w);
    return got;
}

void opiw_give_back(struct opiw_win *w, int target) {
    struct opiw_target *t = &w->at[target];
    if (OPIW_UNLIKELY(w->spans)) { /* the lock is the MPI's */
        t->held = OPIW_FREE;
        return;
    }
    opiw_tells(w);
    if (t->held == OPIW_HELD_EXCLUSIVE)
        atomic_store_explicit(&t->seat->lock, 0, memory_order_seq_cst); /* release: our operations; and before the look at who sleeps */
    else if (t->held == OPIW_HELD_SHARED)
        atomic_fetch_sub_explicit(&t->seat->lock, 1, memory_order_seq_cst);
    t->held = OPIW_FREE;
    opiw_let_in(w, t->seat);
}
