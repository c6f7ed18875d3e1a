/* sync.c - epochs: what ranks tell each other through the seats of a window.  Operations are complete when they return, or when what is kept of them is
 * settled (batch.c), so nothing is waited for but the other ranks; release and acquire on the numbers below order what was done before. */
#include "shared/onesided/onesided.h"

#include <stdlib.h>

#define LINE ((size_t)64)

static size_t notes_at(int members) {
    return (sizeof(struct opiw_seat) + (size_t)members * sizeof(struct opiw_pair) + LINE - 1) / LINE * LINE;
}

size_t opiw_seat_bytes(int members) {
    return notes_at(members) + (size_t)members * 2 * sizeof(struct opiw_note);
}

struct opiw_note *opiw_note(struct opiw_seat *s, int members, int of, uint32_t due) {
    return (struct opiw_note *)((char *)s + notes_at(members)) + 2 * of + opiw_note_of(due);
}

void opiw_drop(struct opiw_win *w) {
    for (int i = 0; w->at && i < w->size; i++)
        opiw_batch_drop(w->at[i].batch);
    free(w->start);
    free(w->post);
    free(w->near);
    free(w->at);
    free(w);
}

const char *opiw_no_epoch(struct opiw_win *w, const struct opiw_target *t) {
    switch (w->access) {
    case OPIW_FENCED:
        w->used = true;
        return NULL;
    case OPIW_LOCKED_ALL:
        return NULL;
    case OPIW_LOCKED:
        return t->held ? NULL : "the target is not locked";
    case OPIW_STARTED:
        return t->started ? NULL : "the target is not in the group of MPI_Win_start";
    default:
        return "outside of an access epoch";
    }
}

void opiw_wake_all(struct opiw_win *w) {
    for (int i = 0; i < w->nnear; i++)
        if (opiw_near(w, i) != w->rank)
            opiw_wake(w, opiw_near(w, i));
}

/* ---- the barrier ------------------------------------------------------------------------------------------------------------------------------- */

struct round {
    struct opiw_seat *of;
    uint32_t before;
};

static bool round_over(void *of) {
    struct round *r = of;
    return atomic_load_explicit(&r->of->round, memory_order_acquire) != r->before;
}

/* Of the members on this node.  Where one has died no barrier can be over any more that it has not come to.  Who is told so stays counted as one that has come.  So
 * nobody comes twice: else a living one would be counted for the dead one. */
bool opiw_barrier(const char *call, struct opiw_win *w) {
    struct opiw_seat *s = w->at[opiw_near(w, 0)].seat;
    if (OPIW_UNLIKELY(atomic_load_explicit(&s->failed, memory_order_acquire)))
        return false;
    struct round r = {s, atomic_load_explicit(&s->round, memory_order_relaxed)}; /* cannot grow before we arrive */
    opiw_tells(w);
    if (atomic_fetch_add_explicit(&s->arrived, 1, memory_order_acq_rel) + 1 < (uint32_t)w->nnear) {
        bool over = opiw_wait(call, w, -1, round_over, &r);
        opiw_heard(w);
        if (OPIW_UNLIKELY(!over))
            atomic_store_explicit(&s->failed, 1, memory_order_release);
        return over;
    }
    atomic_store_explicit(&s->arrived, 0, memory_order_relaxed); /* before the release below, and nobody arrives again before he has seen that */
    atomic_store_explicit(&s->round, r.before + 1, memory_order_release);
    opiw_wake_all(w);
    return true;
}

static bool all_departed(void *of) {
    struct opiw_win *w = of;
    return atomic_load_explicit(&w->at[opiw_near(w, 0)].seat->departed, memory_order_acquire) == (uint32_t)w->nnear;
}

bool opiw_depart(const char *call, struct opiw_win *w) {
    (void)opiw_settle(w, NULL); /* of a fence epoch that the program leaves open, it cannot be wrong about any more */
    if (!opiw_barrier(call, w))
        return false;
    int first = opiw_near(w, 0);
    atomic_fetch_add_explicit(&w->at[first].seat->departed, 1, memory_order_acq_rel);
    if (w->rank == first)
        return opiw_wait(call, w, -1, all_departed, w);
    opiw_wake(w, first);
    return true;
}

/* ---- what the calls share ------------------------------------------------------------------------------------------------------------------------ */

#define WINDOW()                        \
    struct opiw_win *w = opiw_begin_of(win); \
    if (OPIW_UNLIKELY(!w)) {            \
        opiw_end();                     \
        return opiw_unknown(call, win); \
    }                                   \
    (void)w

static int bad(const char *call, struct opiw_win *w, int class, const char *why) {
    opiw_end();
    return opiw_raise(w, class, call, why);
}

static int good(void) {
    opiw_end();
    return MPI_SUCCESS;
}

static int lost(const char *call, struct opiw_win *w) {
    return bad(call, w, opiw_lost_class(), "a rank of the window has died");
}

/* After a call that ends operations: `settled` tells whether those that were kept have happened, `below` is what the MPI beneath answered and has raised. */
static int ended(const char *call, struct opiw_win *w, bool settled, int below) {
    if (OPIW_UNLIKELY(below != MPI_SUCCESS)) {
        opiw_end();
        return below;
    }
    if (OPIW_LIKELY(settled))
        return good();
    for (int i = 0; i < w->size; i++)
        if (w->at[i].lost)
            return lost(call, w);
    return bad(call, w, MPI_ERR_OTHER, "the kernel does not copy to or from a target's memory");
}

/* A call of the MPI beneath, in a window that spans nodes: others get in meanwhile.  MPI_SUCCESS in any other window. */
#define BELOW(made)                     \
    do {                                \
        if (OPIW_UNLIKELY(w->spans)) {  \
            opiw_end();                 \
            below = made;               \
            opiw_begin();               \
        }                               \
    } while (0)

/* May an access epoch begin?  A fence epoch without operations is none. */
static bool idle(const struct opiw_win *w) {
    return w->access == OPIW_NONE || (w->access == OPIW_FENCED && !w->used);
}

static bool asserts_known(int asserted) {
    return (asserted & ~(MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)) == 0;
}

/* ---- fence --------------------------------------------------------------------------------------------------------------------------------------- */

int opiw_fence(const char *call, int asserted, MPI_Win win) {
    WINDOW();
    if (!asserts_known(asserted))
        return bad(call, w, MPI_ERR_ASSERT, "invalid assertion");
    if ((w->access != OPIW_NONE && w->access != OPIW_FENCED) || w->exposed)
        return bad(call, w, MPI_ERR_RMA_SYNC, "another epoch is open");
    int below = MPI_SUCCESS;
    if (w->batches)
        opiw_leave_all(w);
    bool settled = opiw_settle(w, NULL);
    if (!opiw_barrier(call, w)) /* release, acquire: what anybody did before it is seen by everybody after it */
        return lost(call, w);
    w->fences++;
    opiw_take_all(w);
    /* The barrier before it: no member enters the MPI's fence, after which another node may read its memory, while this node still writes there.  The one
     * after it: nobody goes on to a member's memory before that has left the MPI's fence, which brings what other nodes have written. */
    BELOW(PMPI_Win_fence(asserted, win));
    if (OPIW_UNLIKELY(w->spans) && !opiw_barrier(call, w))
        return lost(call, w);
    w->access = asserted & MPI_MODE_NOSUCCEED ? OPIW_NONE : OPIW_FENCED;
    w->used = false;
    return ended(call, w, settled, below);
}

/* ---- post, start, complete, wait ------------------------------------------------------------------------------------------------------------------- */

int opiw_post(const char *call, MPI_Group group, int asserted, MPI_Win win) {
    WINDOW();
    if (!asserts_known(asserted))
        return bad(call, w, MPI_ERR_ASSERT, "invalid assertion");
    if (w->exposed)
        return bad(call, w, MPI_ERR_RMA_SYNC, "an exposure epoch is open");
    int n, *members = opiw_members(w, group, &n);
    if (!members)
        return bad(call, w, MPI_ERR_GROUP, "a group with ranks that are not in the window's");
    int below = MPI_SUCCESS;
    BELOW(PMPI_Win_post(group, asserted, win));
    if (OPIW_UNLIKELY(below != MPI_SUCCESS)) {
        free(members);
        return ended(call, w, true, below);
    }
    w->post = members;
    w->npost = n;
    w->exposed = true;
    opiw_tells(w);
    for (int i = 0; i < n; i++) {
        struct opiw_target *t = &w->at[members[i]];
        if (OPIW_UNLIKELY(!t->seat))
            continue;
        atomic_store_explicit(&t->seat->pair[w->rank].posted, ++t->posts, memory_order_release); /* what this rank did to its memory */
        opiw_wake(w, members[i]);
    }
    return good();
}

struct from {
    struct opiw_win *w;
    int member;
};

static bool has_posted(void *of) {
    struct from *f = of;
    struct opiw_seat *mine = f->w->at[f->w->rank].seat;
    return atomic_load_explicit(&mine->pair[f->member].posted, memory_order_acquire) != f->w->at[f->member].taken;
}

/* Waits for the posts, MPI_MODE_NOCHECK or not: they are there then, and are counted. */
int opiw_start(const char *call, MPI_Group group, int asserted, MPI_Win win) {
    WINDOW();
    if (!asserts_known(asserted))
        return bad(call, w, MPI_ERR_ASSERT, "invalid assertion");
    if (!idle(w))
        return bad(call, w, MPI_ERR_RMA_SYNC, "an access epoch is open");
    int n, *members = opiw_members(w, group, &n);
    if (!members)
        return bad(call, w, MPI_ERR_GROUP, "a group with ranks that are not in the window's");
    for (int i = 0; i < n; i++) {
        struct from f = {w, members[i]};
        if (OPIW_LIKELY(w->at[members[i]].seat != NULL) && !opiw_wait(call, w, members[i], has_posted, &f)) {
            free(members);
            return lost(call, w);
        }
    }
    opiw_heard(w);
    int below = MPI_SUCCESS;
    BELOW(PMPI_Win_start(group, asserted, win));
    if (OPIW_UNLIKELY(below != MPI_SUCCESS)) {
        free(members);
        return ended(call, w, true, below);
    }
    for (int i = 0; i < n; i++) {
        w->at[members[i]].taken++;
        w->at[members[i]].started = true;
    }
    w->start = members;
    w->nstart = n;
    w->access = OPIW_STARTED;
    return good();
}

int opiw_complete_epoch(const char *call, MPI_Win win) {
    WINDOW();
    if (w->access != OPIW_STARTED)
        return bad(call, w, MPI_ERR_RMA_SYNC, "no access epoch that MPI_Win_start opened");
    int below = MPI_SUCCESS;
    for (int i = 0; w->batches && i < w->nstart; i++)
        opiw_leave(w, &w->at[w->start[i]], OPIW_DUE_AT_WAIT);
    bool settled = opiw_settle(w, NULL);
    opiw_tells(w);
    for (int i = 0; i < w->nstart; i++) {
        struct opiw_target *t = &w->at[w->start[i]];
        t->started = false;
        if (OPIW_UNLIKELY(!t->seat))
            continue;
        atomic_store_explicit(&t->seat->pair[w->rank].completed, ++t->completions * 2 + t->left, memory_order_release); /* our operations */
        t->left = false;
        opiw_wake(w, w->start[i]);
    }
    free(w->start);
    w->start = NULL;
    w->nstart = 0;
    w->access = OPIW_NONE;
    BELOW(PMPI_Win_complete(win));
    return ended(call, w, settled, below);
}

static bool has_completed(void *of) {
    struct from *f = of;
    struct opiw_seat *mine = f->w->at[f->w->rank].seat;
    return atomic_load_explicit(&mine->pair[f->member].completed, memory_order_acquire) / 2 != f->w->at[f->member].seen % OPIW_COMPLETIONS;
}

static void unexpose(const char *call, struct opiw_win *w) {
    if (OPIW_UNLIKELY(w->watched))
        opiw_watch_end(call, w, w->rank, OPIW_WAITED);
    opiw_heard(w);
    struct opiw_seat *mine = w->at[w->rank].seat;
    for (int i = 0; i < w->npost; i++) {
        if (atomic_load_explicit(&mine->pair[w->post[i]].completed, memory_order_relaxed) % 2)
            opiw_take(w, w->post[i], OPIW_DUE_AT_WAIT);
        w->at[w->post[i]].seen++;
    }
    free(w->post);
    w->post = NULL;
    w->npost = 0;
    w->exposed = false;
}

int opiw_wait_epoch(const char *call, MPI_Win win) {
    WINDOW();
    if (!w->exposed)
        return bad(call, w, MPI_ERR_RMA_SYNC, "no exposure epoch is open");
    for (int i = 0; i < w->npost; i++) {
        struct from f = {w, w->post[i]};
        if (OPIW_LIKELY(w->at[w->post[i]].seat != NULL) && !opiw_wait(call, w, w->post[i], has_completed, &f))
            return lost(call, w);
    }
    int below = MPI_SUCCESS;
    BELOW(PMPI_Win_wait(win));
    unexpose(call, w);
    return ended(call, w, true, below);
}

int opiw_test_epoch(const char *call, MPI_Win win, int *flag) {
    WINDOW();
    if (!flag)
        return bad(call, w, MPI_ERR_ARG, "null pointer");
    if (!w->exposed)
        return bad(call, w, MPI_ERR_RMA_SYNC, "no exposure epoch is open");
    *flag = 1;
    for (int i = 0; i < w->npost && *flag; i++) {
        struct from f = {w, w->post[i]};
        *flag = OPIW_UNLIKELY(!w->at[w->post[i]].seat) || has_completed(&f);
    }
    int below = MPI_SUCCESS;
    if (*flag)
        BELOW(PMPI_Win_test(win, flag)); /* last: who hears there that the epoch is over hears it once */
    if (*flag)
        unexpose(call, w);
    else
        opiw_vain();
    return ended(call, w, true, below);
}

/* ---- locks ----------------------------------------------------------------------------------------------------------------------------------------- */

int opiw_lock(const char *call, int type, int target, int asserted, MPI_Win win) {
    WINDOW();
    if (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED)
        return bad(call, w, MPI_ERR_LOCKTYPE, "invalid kind of lock");
    if (!asserts_known(asserted))
        return bad(call, w, MPI_ERR_ASSERT, "invalid assertion");
    if (target == MPI_PROC_NULL)
        return good();
    if (target < 0 || target >= w->size)
        return bad(call, w, MPI_ERR_RANK, "invalid rank of a target");
    if (!idle(w) && (w->access != OPIW_LOCKED || w->at[target].held))
        return bad(call, w, MPI_ERR_RMA_SYNC, "an access epoch is open");
    bool exclusive = type == MPI_LOCK_EXCLUSIVE;
    int below = MPI_SUCCESS;
    BELOW(PMPI_Win_lock(type, target, asserted, win));
    if (OPIW_UNLIKELY(below != MPI_SUCCESS))
        return ended(call, w, true, below);
    if (OPIW_UNLIKELY(w->spans))
        opiw_locked(w, target, !(asserted & MPI_MODE_NOCHECK));
    if (asserted & MPI_MODE_NOCHECK)
        w->at[target].held = OPIW_UNCHECKED;
    else if (!w->spans && !opiw_acquire(call, w, target, exclusive))
        return lost(call, w);
    else
        w->at[target].held = exclusive ? OPIW_HELD_EXCLUSIVE : OPIW_HELD_SHARED;
    w->locks++;
    w->access = OPIW_LOCKED;
    return good();
}

int opiw_unlock(const char *call, int target, MPI_Win win) {
    WINDOW();
    if (target == MPI_PROC_NULL)
        return good();
    if (target < 0 || target >= w->size)
        return bad(call, w, MPI_ERR_RANK, "invalid rank of a target");
    if (w->access != OPIW_LOCKED || !w->at[target].held)
        return bad(call, w, MPI_ERR_RMA_SYNC, "the target is not locked");
    int below = MPI_SUCCESS;
    bool settled = opiw_settle(w, &w->at[target]);
    if (OPIW_UNLIKELY(w->watched))
        opiw_watch_end(call, w, target, OPIW_FLUSHED); /* before others may have the lock */
    opiw_give_back(w, target);
    if (--w->locks == 0)
        w->access = OPIW_NONE;
    atomic_thread_fence(memory_order_release); /* our operations, before whatever the MPI tells by */
    BELOW(PMPI_Win_unlock(target, win));
    opiw_turn();
    return ended(call, w, settled, below);
}

int opiw_lock_all(const char *call, int asserted, MPI_Win win) {
    WINDOW();
    if (!asserts_known(asserted))
        return bad(call, w, MPI_ERR_ASSERT, "invalid assertion");
    if (!idle(w))
        return bad(call, w, MPI_ERR_RMA_SYNC, "an access epoch is open");
    int below = MPI_SUCCESS;
    BELOW(PMPI_Win_lock_all(asserted, win));
    if (OPIW_UNLIKELY(below != MPI_SUCCESS))
        return ended(call, w, true, below);
    for (int i = 0; i < w->size; i++) {
        if (OPIW_UNLIKELY(w->spans))
            opiw_locked(w, i, !(asserted & MPI_MODE_NOCHECK));
        else if (!(asserted & MPI_MODE_NOCHECK) && !opiw_acquire(call, w, i, false)) {
            while (i-- > 0)
                opiw_give_back(w, i);
            return lost(call, w);
        }
        w->at[i].held = asserted & MPI_MODE_NOCHECK ? OPIW_UNCHECKED : OPIW_HELD_SHARED;
    }
    w->access = OPIW_LOCKED_ALL;
    return good();
}

int opiw_unlock_all(const char *call, MPI_Win win) {
    WINDOW();
    if (w->access != OPIW_LOCKED_ALL)
        return bad(call, w, MPI_ERR_RMA_SYNC, "MPI_Win_lock_all has opened no epoch");
    int below = MPI_SUCCESS;
    bool settled = opiw_settle(w, NULL);
    if (OPIW_UNLIKELY(w->watched))
        opiw_watch_end(call, w, -1, OPIW_FLUSHED);
    for (int i = 0; i < w->size; i++)
        opiw_give_back(w, i);
    w->access = OPIW_NONE;
    atomic_thread_fence(memory_order_release);
    BELOW(PMPI_Win_unlock_all(win));
    opiw_turn();
    return ended(call, w, settled, below);
}

/* Operations are complete but for those that are kept: only the order of memory is left. */
int opiw_flush(const char *call, int target, enum opiw_ending how, MPI_Win win) {
    WINDOW();
    if (target == MPI_PROC_NULL)
        return good();
    if (target < 0 || target >= w->size)
        return bad(call, w, MPI_ERR_RANK, "invalid rank of a target");
    if ((w->access != OPIW_LOCKED && w->access != OPIW_LOCKED_ALL) || !w->at[target].held)
        return bad(call, w, MPI_ERR_RMA_SYNC, "the target is not locked");
    bool settled = OPIW_LIKELY(!w->at[target].batch) || opiw_settle(w, &w->at[target]);
    if (OPIW_UNLIKELY(w->watched))
        opiw_watch_end(call, w, target, how);
    atomic_thread_fence(memory_order_seq_cst);
    int below = OPIW_UNLIKELY(w->spans) ? opiw_flush_below(w, target, how == OPIW_FLUSHED_LOCAL, win) : MPI_SUCCESS;
    opiw_turn();
    return ended(call, w, settled, below);
}

int opiw_flush_all(const char *call, enum opiw_ending how, MPI_Win win) {
    WINDOW();
    if (w->access != OPIW_LOCKED && w->access != OPIW_LOCKED_ALL)
        return bad(call, w, MPI_ERR_RMA_SYNC, "no target is locked");
    bool settled = opiw_settle(w, NULL);
    if (OPIW_UNLIKELY(w->watched))
        opiw_watch_end(call, w, -1, how);
    atomic_thread_fence(memory_order_seq_cst);
    int below = OPIW_UNLIKELY(w->spans) ? opiw_flush_below(w, -1, how == OPIW_FLUSHED_LOCAL, win) : MPI_SUCCESS;
    opiw_turn();
    return ended(call, w, settled, below);
}

/* Others' writes may have to be looked for in a loop of these: let them in. */
int opiw_sync(const char *call, MPI_Win win) {
    WINDOW();
    int below = MPI_SUCCESS;
    bool settled = opiw_settle(w, NULL);
    atomic_thread_fence(memory_order_seq_cst);
    BELOW(PMPI_Win_sync(win));
    opiw_turn();
    return ended(call, w, settled, below);
}
