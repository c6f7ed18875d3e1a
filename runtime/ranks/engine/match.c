/* match.c - what a rank has been sent and what it waits for: matching, and the data of a message on their way into a receive.
 *
 * A receiving rank has a queue of messages that it has not asked for and a queue of receives that nothing has come for, both in order, under its lock.
 * Whoever comes second finds the first there, takes it out, and copies the data outside the lock, once: from the sender's buffer to the receiver's. */
#include "ranks/engine/match.h"
#include "ranks/carrier/guard.h"
#include "ranks/engine/inbox.h"
#include "ranks/transport/net.h"

#include <stdlib.h>

/* ---- matching: the caller holds the receiver's lock ---------------------------------------------------------------------------------------------- */

struct opir_msg *opir_msg_find(struct opir_rank *r, uint64_t ctx, int src, int tag) {
    struct opir_msg *m = r->msg_head;
    while (m && !opir_fits(ctx, src, tag, m->ctx, m->src, m->tag))
        m = m->next;
    return m;
}

static void eager_now(struct opir_rank *r, size_t bytes) {
    r->eager_bytes = bytes;
    if (r->inbox)
        atomic_store_explicit(&r->inbox->eager, bytes, memory_order_relaxed); /* a limit, no more */
}

static void put_in_place(struct opir_rank *r, struct opir_msg *m) {
    *(m->prev ? &m->prev->next : &r->msg_head) = m;
    *(m->next ? &m->next->prev : &r->msg_tail) = m;
    m->to = r;
}

/* The bytes that a message holds while it waits. */
static inline size_t held(const struct opir_msg *m) {
    if (m->kind == OPIR_M_BLOCK)
        return m->room;
    return m->kind == OPIR_M_EAGER || m->kind == OPIR_M_COPY ? m->bytes : 0;
}

void opir_msg_append(struct opir_rank *r, struct opir_msg *m) {
    m->next = NULL;
    m->prev = r->msg_tail;
    put_in_place(r, m);
    if (held(m))
        eager_now(r, r->eager_bytes + held(m));
}

void opir_msg_unlink(struct opir_msg *m) {
    struct opir_rank *r = m->to;
    *(m->prev ? &m->prev->next : &r->msg_head) = m->next;
    *(m->next ? &m->next->prev : &r->msg_tail) = m->prev;
    m->to = NULL;
    if (held(m))
        eager_now(r, r->eager_bytes - held(m));
    if (m->kind == OPIR_M_BLOCK && OPIR_UNLIKELY(m->sender)) {
        struct opir_req *s = m->sender;
        m->sender = NULL;
        opir_done(s);
    }
}

void opir_msg_replace(struct opir_msg *m, struct opir_msg *by) {
    struct opir_rank *r = m->to;
    by->next = m->next;
    by->prev = m->prev;
    put_in_place(r, by);
    eager_now(r, r->eager_bytes + by->bytes);
    m->to = NULL;
}

static void post(struct opir_rank *r, struct opir_req *q) {
    q->next = NULL;
    q->prev = r->posted_tail;
    *(q->prev ? &q->prev->next : &r->posted_head) = q;
    r->posted_tail = q;
    q->posted = true;
}

/* Takes a receive back; false when a message has come for it. */
bool opir_unpost(struct opir_req *q) {
    struct opir_rank *r = q->owner;
    opir_rank_lock(r);
    bool was = q->posted;
    if (was)
        opir_posted_remove(r, q);
    opir_rank_unlock(r);
    return was;
}

/* Messages that came on a communicator and were not received; counted where the MPI below tells of them when it is freed: MPICH. */
int opir_msgs_left(struct opir_rank *me, uint64_t ctx) {
    int n = 0;
#ifdef MPICH_VERSION
    opir_rank_lock(me);
    if (opir.threads)
        opir_take_all(me);
    for (struct opir_msg *m = me->msg_head; m; m = m->next)
        n += m->ctx == ctx;
    opir_rank_unlock(me);
#else
    (void)me, (void)ctx;
#endif
    return n;
}

/* ---- the data --------------------------------------------------------------------------------------------------------------------------- */

/* What a take needs: all that the receiver declared. */
static size_t take_bytes(const struct opir_req *q) {
    ptrdiff_t n = q->type->extent * (ptrdiff_t)q->count;
    return n > 0 ? (size_t)n : 1;
}

void *opir_take_into(struct opir_req *q) {
    if (!q->take)
        return q->buf;
    q->block = opir_block_new(take_bytes(q), &q->room);
    if (!q->block)
        q->r_error = MPI_ERR_NO_MEM;
    return q->block;
}

/* A message that is shorter than the receive and no whole number of its types: the last one may be partial, but of whole basic elements. */
int opir_part_of(const struct opir_type *t, size_t bytes) {
    MPI_Status status;
    MPI_Count n = 0;
    memset(&status, 0, sizeof status);
    PMPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)bytes);
    int rc = PMPI_Get_elements_x(&status, t->handle, &n);
    return rc != MPI_SUCCESS || n == MPI_UNDEFINED ? MPI_ERR_TYPE : MPI_SUCCESS;
}

/* Packed bytes to a receive. */
void opir_from_packed(struct opir_req *q, const void *packed) {
    void *to = opir_take_into(q);
    if (to || !q->take)
        opir_unpack(q->type, to, q->count, packed, q->r_bytes);
}

/* A block of packed data to a receive: it passes itself where the receiver takes, and it is large enough. */
void opir_from_block(struct opir_req *q, void *block, size_t room) {
    if (q->take && q->type->contiguous && q->r_error == MPI_SUCCESS && room >= take_bytes(q)) {
        q->block = block;
        q->room = room;
        return;
    }
    opir_from_packed(q, block);
    if (block)
        opir_block_free(block, room);
}

void opir_from_sender(struct opir_req *q, const struct opir_req *s) {
    opir_result(q, s->comm->rank, s->tag, s->bytes);
    void *to = opir_take_into(q);
    if (to || !q->take)
        opir_copy(s->buf, s->count, s->type, to, q->count, q->type);
}

/* A message that was taken out of its queue to a receive, which is complete then. */
void opir_msg_into(struct opir_msg *m, struct opir_req *q) {
    struct opir_req *s = m->sender;
    switch (m->kind) {
    case OPIR_M_EAGER:
        opir_result(q, m->src, m->tag, m->bytes);
        opir_from_packed(q, m + 1);
        if (OPIR_UNLIKELY(m->from))
            opir_far_received(m->from - 1, m->bytes);
        break;
    case OPIR_M_BLOCK:
        opir_result(q, m->src, m->tag, m->bytes);
        opir_from_block(q, m->block, m->room);
        break;
    case OPIR_M_COPY:
        opir_result(q, m->src, m->tag, m->bytes);
        opir_from_packed(q, m->block);
        opir_block_back(m->home, m->block, m->room);
        break;
    case OPIR_M_FAR:
        opir_result(q, m->src, m->tag, m->bytes);
        opir_far_fetch(m->from - 1, m->id, q, opir_take_into(q));
        if (m->obj.kind != OPIR_FREE)
            opir_obj_gone(&m->obj);
        free(m);
        return;
    default:
        opir_from_sender(q, s);
        opir_done(q); /* q may be gone now */
        opir_done(s);
        return;
    }
    if (m->obj.kind != OPIR_FREE)
        opir_obj_gone(&m->obj);
    free(m);
    opir_done(q);
}

/* ---- receiving -------------------------------------------------------------------------------------------------------------------------- */

void opir_deliver(struct opir_rank *to, const struct opir_msg *what, const void *data) {
    opir_rank_lock(to);
    struct opir_req *q = opir_posted_for(to, what->ctx, what->src, what->tag);
    if (q) {
        opir_rank_unlock(to);
        opir_result(q, what->src, what->tag, what->bytes);
        if (what->kind == OPIR_M_FAR) {
            opir_far_fetch(what->from - 1, what->id, q, opir_take_into(q));
            return;
        }
        opir_from_packed(q, data);
        opir_far_received(what->from - 1, what->bytes);
        opir_done(q);
        return;
    }
    size_t inside = what->kind == OPIR_M_EAGER ? what->bytes : 0;
    struct opir_msg *m = malloc(sizeof *m + inside);
    if (!m)
        opir_die("out of memory for a message of %zu bytes", what->bytes);
    *m = *what;
    m->obj = (struct opir_obj){0, OPIR_FREE};
    if (inside)
        memcpy(m + 1, data, inside);
    opir_msg_append(to, m);
    bool probing = to->probing;
    opir_rank_unlock(to);
    if (probing)
        opir_wake(to);
}

void opir_recv_begin(struct opir_req *q) {
    struct opir_rank *me = q->owner;
    q->cancelled = false;
    q->block = NULL;
    if (OPIR_UNLIKELY(q->peer == MPI_PROC_NULL)) {
        opir_result(q, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        if (q->take)
            opir_take_into(q);
        opir_finished(q);
        return;
    }
    opir_own_lock(me);
    struct opir_msg *m = opir_msg_find(me, q->ctx, q->peer, q->tag);
    if (m)
        opir_msg_unlink(m);
    else
        post(me, q);
    opir_own_unlock(me);
    if (m)
        opir_msg_into(m, q);
}
