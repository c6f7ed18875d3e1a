/* batch.c - small puts and gets where only the kernel reaches the target's memory: they are kept until they have to have happened, and then go by one call.
 * What little is put to a target that has posted costs no call: it lies in the target's seat until that waits.
 *
 * MPI asks for no more than that an operation is over when its epoch is, or after a flush.  What is put is copied when it is called, so its origin may be used
 * again at once.  A batch is of one target and holds puts or gets, in the order of the calls; what cannot join it sends it off. */
#include "shared/onesided/onesided.h"

#include <stdlib.h>
#include <string.h>

#define RUNS 128                /* of bytes at the target */
#define ROOM ((size_t)16 << 10) /* bytes of all of them */
#define SMALL 2048              /* bytes of one: to copy them twice takes a small part of the time of a system call */

/* Only the rank that made it looks at it. */
struct opiw_batch {
    struct opiw_target *target;
    struct opiw_batch *next; /* of the window's; while `listed` */
    bool listed, put;
    size_t n, bytes;
    struct opiw_piece theirs[RUNS];
    char *mine[RUNS]; /* of gets: where a run goes */
    char data[ROOM];
};

static bool send_off(struct opiw_batch *b) {
    bool ok = !b->n || opiw_carry(b->target, b->data, b->theirs, b->n, b->bytes, b->put);
    for (size_t i = 0, at = 0; ok && !b->put && i < b->n; at += b->theirs[i++].n)
        memcpy(b->mine[i], b->data + at, b->theirs[i].n);
    b->n = b->bytes = 0;
    return ok;
}

static void add(struct opiw_batch *b, struct opiw_op *o, char *local) {
    struct opiw_piece *last = b->n ? &b->theirs[b->n - 1] : NULL;
    if (b->put)
        memcpy(b->data + b->bytes, local, o->n);
    b->bytes += o->n;
    if (last && last->at + last->n == o->addr && (b->put || b->mine[b->n - 1] + last->n == local)) {
        last->n += o->n;
        return;
    }
    b->theirs[b->n] = (struct opiw_piece){o->addr, o->n};
    b->mine[b->n++] = local;
}

bool opiw_keep(struct opiw_op *o, void *local, bool put, int *rc) {
    struct opiw_batch *b = o->t->batch;
    *rc = MPI_SUCCESS;
    if (o->w->dynamic || o->n > SMALL || !o->local.contiguous || !o->remote.contiguous || (!b && !(b = o->t->batch = calloc(1, sizeof *b))))
        return false;
    b->target = o->t;
    if (b->n && (b->put != put || b->n == RUNS || ROOM - b->bytes < o->n) && !send_off(b)) {
        *rc = opiw_refused(o);
        return true;
    }
    if (!b->listed) {
        b->listed = true;
        b->next = o->w->batches;
        o->w->batches = b;
    }
    b->put = put;
    add(b, o, local);
    return true;
}

void opiw_leave(struct opiw_win *w, struct opiw_target *t) {
    struct opiw_batch *b = t->batch;
    if (!b || !b->put || !b->n || b->n > OPIW_NOTE_RUNS || b->bytes > OPIW_NOTE_BYTES)
        return;
    struct opiw_note *to = opiw_note(t->seat, w->size, w->rank);
    for (size_t i = 0; i < b->n; i++) {
        to->run[i].at = b->theirs[i].at;
        to->run[i].n = b->theirs[i].n;
    }
    memcpy(to->data, b->data, b->bytes);
    to->runs = (uint32_t)b->n;
    atomic_fetch_add_explicit(&t->seat->notes, 1, memory_order_relaxed);
    b->n = b->bytes = 0;
}

void opiw_take(struct opiw_win *w) {
    struct opiw_seat *mine = w->at[w->rank].seat;
    if (OPIW_LIKELY(!atomic_load_explicit(&mine->notes, memory_order_relaxed)))
        return;
    uint32_t taken = 0;
    for (int i = 0; i < w->npost; i++) {
        struct opiw_note *from = opiw_note(mine, w->size, w->post[i]);
        const char *data = from->data;
        for (uint32_t k = 0; k < from->runs; data += from->run[k++].n)
            memcpy(from->run[k].at, data, from->run[k].n);
        taken += from->runs != 0;
        from->runs = 0;
    }
    atomic_fetch_sub_explicit(&mine->notes, taken, memory_order_relaxed);
}

bool opiw_settle(struct opiw_win *w, struct opiw_target *t) {
    if (t)
        return !t->batch || send_off(t->batch);
    bool ok = true;
    while (w->batches) {
        struct opiw_batch *b = w->batches;
        w->batches = b->next;
        b->listed = false;
        ok &= send_off(b);
    }
    return ok;
}
