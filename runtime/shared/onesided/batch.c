/* batch.c - puts and gets where loads and stores do not reach the target's memory: they are kept until they have to have happened, and then go by one call.
 * What is put after a post, or between fences, costs no call at all: it lies in shared memory until the target ends its epoch, and the target stores it then.
 *
 * MPI asks for no more than that an operation is over when its epoch is, or after a flush; and at the target, when the call that ends the target's epoch returns.  What is put
 * is copied when it is called, so its origin may be used again at once.  A batch is of one target and holds puts or gets, in the order of the calls; what cannot
 * join it sends it off. */
#include "shared/onesided/onesided.h"

#include <stdlib.h>
#include <string.h>

#define RUNS 128                  /* of bytes at the target, in one parcel */
#define ROOM ((size_t)16 << 10)   /* bytes of a parcel, at least */
#define SMALL 2048                /* bytes of one that the kernel is to copy: to copy them twice takes a small part of the time of a system call */
#define MOST ((size_t)4 << 20)    /* of room in what is left to a target in one epoch */

/* Runs of bytes of a target, and those bytes, one after the other.  The origin writes it; from `due` in its note on, until the target has set that to 0, the target reads it. */
struct opiw_parcel {
    struct opiw_parcel *next;
    size_t room, n, bytes;
    struct opiw_piece theirs[RUNS];
    char data[];
};

/* Only the rank that made it looks at it. */
struct opiw_batch {
    struct opiw_target *target;
    struct opiw_batch *next; /* of the window's; while `listed` */
    bool listed, put;
    bool much;   /* more was put in this epoch than is left to a target */
    bool common; /* where its parcels lie: in memory that the target reaches, else in our own */
    size_t bytes, taken; /* what is kept, and the room of its parcels */
    char *low, *high;    /* no byte of the target outside of this is in what is kept */
    struct opiw_parcel *first, *last; /* what is kept */
    struct opiw_parcel *sent[2];      /* what was left to the target, by its note */
    char *mine[RUNS];                 /* of gets: where a run goes.  They have one parcel */
};

static void give(struct opiw_batch *b, struct opiw_parcel *p) {
    for (struct opiw_parcel *next; p; p = next) {
        next = p->next;
        if (b->common)
            opiw_common_free(p);
        else
            free(p);
    }
}

static void empty(struct opiw_batch *b) {
    if (b->first && !b->first->next && b->first->room == ROOM) {
        b->first->n = b->first->bytes = 0; /* for the next ones */
    } else {
        give(b, b->first);
        b->first = b->last = NULL;
        b->taken = 0;
    }
    b->bytes = 0;
}

void opiw_batch_drop(struct opiw_batch *b) {
    if (!b)
        return;
    give(b, b->first);
    give(b, b->sent[0]);
    give(b, b->sent[1]);
    free(b);
}

static struct opiw_batch *batch_of(struct opiw_target *t) {
    struct opiw_batch *b = t->batch;
    if (!b && (b = calloc(1, sizeof *b))) {
        b->target = t;
        b->common = t->desk != NULL;
        t->batch = b;
    }
    return b;
}

/* ---- what others have left to a target ---------------------------------------------------------------------------------------------------------------- */

struct leaving {
    struct opiw_seat *seat;
    uint32_t fence;
};

/* Has a target left the fence?  Then it has stored all that was left to it there, by whomever.  It cannot leave the next one before the caller has come to that. */
static bool has_left(void *of) {
    const struct leaving *it = of;
    return atomic_load_explicit(&it->seat->left, memory_order_acquire) == it->fence;
}

/* Before a target's memory is read or written in any other way.  Others may get in meanwhile.  False where the target has died. */
static bool stored(struct opiw_win *w, struct opiw_target *t) {
    struct leaving it = {t->seat, w->fences};
    if (OPIW_LIKELY(!w->owed || !t->desk || has_left(&it)) || opiw_wait("MPI_Win_fence", w, (int)(t - w->at), has_left, &it))
        return true;
    t->lost = true;
    return false;
}

/* What the target is known to have stored is ours again, its note too: what was left before it posted; or, where it may not have left the last fence, before that.
 * It has come to that one, and so has left the one before. */
static void take_back(const struct opiw_win *w, struct opiw_batch *b) {
    for (uint32_t i = 0; i < 2; i++)
        if (w->access == OPIW_STARTED || i == (w->fences + 1) % 2) {
            give(b, b->sent[i]);
            b->sent[i] = NULL;
        }
}

/* ---- what is kept --------------------------------------------------------------------------------------------------------------------------------------- */

/* Nobody gets in meanwhile, so `stored` comes before. */
static bool send_off(struct opiw_batch *b) {
    bool ok = true;
    for (struct opiw_parcel *p = b->first; p; p = p->next) {
        ok = ok && (!p->n || opiw_carry(b->target, p->data, p->theirs, p->n, p->bytes, b->put));
        for (size_t i = 0, at = 0; ok && !b->put && i < p->n; at += p->theirs[i++].n)
            memcpy(b->mine[i], p->data + at, p->theirs[i].n);
    }
    empty(b);
    return ok;
}

static void add(struct opiw_batch *b, struct opiw_op *o, char *local) {
    struct opiw_parcel *p = b->last;
    struct opiw_piece *last = p->n ? &p->theirs[p->n - 1] : NULL;
    if (b->put)
        opiw_copy(p->data + p->bytes, local, o->n);
    if (!b->bytes || o->addr < b->low)
        b->low = o->addr;
    if (!b->bytes || o->addr + o->n > b->high)
        b->high = o->addr + o->n;
    p->bytes += o->n;
    b->bytes += o->n;
    if (last && last->at + last->n == o->addr && (b->put || b->mine[p->n - 1] + last->n == local)) {
        last->n += o->n;
        return;
    }
    p->theirs[p->n] = (struct opiw_piece){o->addr, o->n};
    if (!b->put)
        b->mine[p->n] = local;
    p->n++;
}

static bool fits(const struct opiw_batch *b, size_t n) {
    return b->last && b->last->n < RUNS && b->last->room - b->last->bytes >= n;
}

static bool one_more(const struct opiw_win *w, struct opiw_batch *b, size_t n) {
    size_t room = n > ROOM ? n : ROOM;
    take_back(w, b); /* it is in nearer caches than other memory */
    struct opiw_parcel *p = b->common ? opiw_common(sizeof *p + room) : malloc(sizeof *p + room);
    if (!p)
        return false;
    b->taken += room;
    p->next = NULL;
    p->room = room;
    p->n = p->bytes = 0;
    if (b->last)
        b->last->next = p;
    else
        b->first = p;
    b->last = p;
    return true;
}

/* Are puts left to the target when the epoch ends?  Between fences only where others learn that the target has yet to store them. */
static bool leaves(const struct opiw_win *w, const struct opiw_batch *b) {
    return b->common && !b->much && (w->access == OPIW_FENCED || w->access == OPIW_STARTED);
}

/* Does a put touch nothing that is kept?  Then it may happen before that. */
static bool apart(const struct opiw_batch *b, const struct opiw_op *o) {
    return o->addr >= b->high || o->addr + o->n <= b->low;
}

bool opiw_keep(struct opiw_op *o, void *local, bool put, int *rc) {
    struct opiw_win *w = o->w;
    struct opiw_batch *b = w->dynamic || o->n > MOST || !o->local.contiguous || !o->remote.contiguous ? NULL : batch_of(o->t);
    *rc = MPI_SUCCESS;
    if (!b || !(o->n <= SMALL || (put && leaves(w, b))))
        return false;
    if (b->bytes && (b->put != put || (!fits(b, o->n) && !(put && leaves(w, b) && b->taken + o->n <= MOST)))) {
        if (b->put && put && o->n > SMALL && apart(b, o)) { /* what is kept stays left to the target */
            *rc = stored(w, o->t) ? opiw_put_all(o, local) : opiw_refused(o);
            return true;
        }
        if (!stored(w, o->t) || !send_off(b)) {
            *rc = opiw_refused(o);
            return true;
        }
        b->much = b->put && put; /* it had been copied for nothing */
        return opiw_keep(o, local, put, rc);
    }
    if (!fits(b, o->n) && !one_more(w, b, o->n))
        return false;
    if (!b->listed) {
        b->listed = true;
        b->next = w->batches;
        w->batches = b;
    }
    b->put = put;
    add(b, o, local);
    return true;
}

bool opiw_settle(struct opiw_win *w, struct opiw_target *t) {
    if (t)
        return stored(w, t) && (!t->batch || send_off(t->batch));
    bool ok = true;
    while (w->batches) {
        struct opiw_batch *b = w->batches;
        if (b->bytes)
            ok &= stored(w, b->target) && send_off(b);
        if (w->batches != b)
            continue;
        w->batches = b->next;
        b->listed = b->much = false;
    }
    return ok;
}

/* ---- what is left to a target --------------------------------------------------------------------------------------------------------------------------- */

void opiw_leave(struct opiw_win *w, struct opiw_target *t, uint32_t due) {
    struct opiw_batch *b = t->batch;
    if (!b || !b->put || !b->bytes)
        return;
    bool small = !b->first->next && b->first->n <= OPIW_NOTE_RUNS && b->bytes <= OPIW_NOTE_BYTES;
    if (!small && !b->common)
        return;
    struct opiw_note *to = opiw_note(t->seat, w->size, w->rank, due);
    take_back(w, b);
    to->runs = small ? (uint32_t)b->first->n : 0;
    if (small) {
        memcpy(to->run, b->first->theirs, b->first->n * sizeof to->run[0]);
        memcpy(to->data, b->first->data, b->bytes);
        empty(b);
    } else {
        to->parcels = b->sent[opiw_note_of(due)] = b->first;
        b->first = b->last = NULL;
        b->bytes = b->taken = 0;
    }
    t->left = true;
    atomic_store_explicit(&to->due, due, memory_order_release);
}

/* A fence tells of what is left by its number, in a line that all who come to it write anyway. */
void opiw_leave_all(struct opiw_win *w) {
    uint32_t number = w->fences + 1;
    bool any = false;
    for (struct opiw_batch *b = w->batches; b; b = b->next)
        if (b->common) { /* else others would not know that it is yet to be stored */
            opiw_leave(w, b->target, OPIW_DUE_AT_FENCE(number));
            any |= b->target->left;
            b->target->left = false;
        }
    if (any)
        atomic_store_explicit(&w->at[opiw_near(w, 0)].seat->posted, number, memory_order_relaxed);
}

static void store(const struct opiw_piece *run, size_t runs, const char *data) {
    for (size_t i = 0; i < runs; data += run[i++].n)
        opiw_copy(run[i].at, data, run[i].n);
}

void opiw_take(struct opiw_win *w, int from, uint32_t due) {
    struct opiw_note *note = opiw_note(w->at[w->rank].seat, w->size, from, due);
    if (atomic_load_explicit(&note->due, memory_order_acquire) != due)
        return;
    if (note->runs)
        store(note->run, note->runs, note->data);
    else
        for (const struct opiw_parcel *p = note->parcels; p; p = p->next)
            store(p->theirs, p->n, p->data);
    atomic_store_explicit(&note->due, 0, memory_order_release);
}

/* Who has gone on to the next fence may have left something there, too: then we may think wrongly that something is owed here, and wait for what is so in a moment. */
void opiw_take_all(struct opiw_win *w) {
    struct opiw_seat *mine = w->at[w->rank].seat;
    w->owed = (int32_t)(atomic_load_explicit(&w->at[opiw_near(w, 0)].seat->posted, memory_order_relaxed) - w->fences) >= 0;
    if (!w->at[w->rank].desk)
        return;
    for (int i = 0; w->owed && i < w->nnear; i++)
        if (opiw_near(w, i) != w->rank)
            opiw_take(w, opiw_near(w, i), OPIW_DUE_AT_FENCE(w->fences));
    atomic_store_explicit(&mine->left, w->fences, memory_order_release);
}
