/* p2p.c - messages between two ranks.
 *
 * A receiving rank has a queue of messages that it has not asked for and a queue of receives that nothing has come for, both in order, under its lock.
 * Whoever comes second finds the first there, takes it out, and copies the data outside the lock, once: from the sender's buffer to the receiver's.  A
 * small message without a receive is copied aside; a larger one stays with its sender, and is copied aside when that has waited in vain for long.
 * Between threads, a message that is copied aside and a give go through the receiver's inbox, and the receiver is always the one who comes second. */
#include "inbox.h"
#include "net.h"

#include <sched.h>
#include <stdlib.h>

/* ---- matching: the caller holds the receiver's lock ---------------------------------------------------------------------------------------------- */

static inline bool fits(uint64_t ctx, int src, int tag, uint64_t m_ctx, int m_src, int m_tag) {
    return ctx == m_ctx && (src == m_src || src == MPI_ANY_SOURCE) && (tag == m_tag || tag == MPI_ANY_TAG);
}

struct opir_msg *opir_msg_find(struct opir_rank *r, uint64_t ctx, int src, int tag) {
    struct opir_msg *m = r->msg_head;
    while (m && !fits(ctx, src, tag, m->ctx, m->src, m->tag))
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

static void msg_append(struct opir_rank *r, struct opir_msg *m) {
    m->next = NULL;
    m->prev = r->msg_tail;
    put_in_place(r, m);
    if (m->kind == OPIR_M_EAGER)
        eager_now(r, r->eager_bytes + m->bytes);
}

void opir_msg_unlink(struct opir_msg *m) {
    struct opir_rank *r = m->to;
    *(m->prev ? &m->prev->next : &r->msg_head) = m->next;
    *(m->next ? &m->next->prev : &r->msg_tail) = m->prev;
    m->to = NULL;
    if (m->kind == OPIR_M_EAGER)
        eager_now(r, r->eager_bytes - m->bytes);
}

static void post(struct opir_rank *r, struct opir_req *q) {
    q->next = NULL;
    q->prev = r->posted_tail;
    *(q->prev ? &q->prev->next : &r->posted_head) = q;
    r->posted_tail = q;
    q->posted = true;
}

static void unpost(struct opir_rank *r, struct opir_req *q) {
    *(q->prev ? &q->prev->next : &r->posted_head) = q->next;
    *(q->next ? &q->next->prev : &r->posted_tail) = q->prev;
    q->posted = false;
}

static struct opir_req *posted_for(struct opir_rank *r, uint64_t ctx, int src, int tag) {
    struct opir_req *q = r->posted_head;
    while (q && !fits(q->ctx, q->peer, q->tag, ctx, src, tag))
        q = q->next;
    if (q)
        unpost(r, q);
    return q;
}

/* Takes a receive back; false when a message has come for it. */
bool opir_unpost(struct opir_req *q) {
    struct opir_rank *r = q->owner;
    opir_lock(&r->lock);
    bool was = q->posted;
    if (was)
        unpost(r, q);
    opir_unlock(&r->lock);
    return was;
}

/* Takes a send back that nobody has received; false when it is too late. */
bool opir_withdraw(struct opir_req *q) {
    struct opir_rank *to = opir_comm_peer(q->comm, q->peer);
    if (!to) {
        opir_far_withdraw(q, opir_group_world(q->comm->remote, q->peer));
        return false; /* not yet */
    }
    opir_lock(&to->lock);
    bool waits = q->lent && q->msg.to == to;
    if (waits)
        opir_msg_unlink(&q->msg);
    opir_unlock(&to->lock);
    return waits;
}

/* ---- the data --------------------------------------------------------------------------------------------------------------------------- */

/* What a take needs: all that the receiver declared. */
static size_t take_bytes(const struct opir_req *q) {
    ptrdiff_t n = q->type->extent * (ptrdiff_t)q->count;
    return n > 0 ? (size_t)n : 1;
}

static void *take_into(struct opir_req *q) {
    if (!q->take)
        return q->buf;
    q->block = opir_block_new(take_bytes(q), &q->room);
    if (!q->block)
        q->r_error = MPI_ERR_NO_MEM;
    return q->block;
}

/* A message that is shorter than the receive and no whole number of its types: the last one may be partial, but of whole basic elements. */
OPIR_COLD static int part_of(const struct opir_type *t, size_t bytes) {
    MPI_Status status;
    MPI_Count n = 0;
    memset(&status, 0, sizeof status);
    PMPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)bytes);
    int rc = PMPI_Get_elements_x(&status, t->handle, &n);
    return rc != MPI_SUCCESS || n == MPI_UNDEFINED ? MPI_ERR_TYPE : MPI_SUCCESS;
}

static void result(struct opir_req *q, int src, int tag, size_t bytes) {
    q->r_source = src;
    q->r_tag = tag;
    q->r_bytes = bytes < q->bytes ? bytes : q->bytes;
    q->r_error = bytes <= q->bytes ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
    if (OPIR_UNLIKELY(bytes < q->bytes && q->type->size > 1 && bytes % q->type->size))
        q->r_error = part_of(q->type, bytes);
}

/* Packed bytes to a receive. */
static void from_packed(struct opir_req *q, const void *packed) {
    void *to = take_into(q);
    if (to || !q->take)
        opir_unpack(q->type, to, q->count, packed, q->r_bytes);
}

/* A block of packed data to a receive: it passes itself where the receiver takes, and it is large enough. */
static void from_block(struct opir_req *q, void *block, size_t room) {
    if (q->take && q->type->contiguous && q->r_error == MPI_SUCCESS && room >= take_bytes(q)) {
        q->block = block;
        q->room = room;
        return;
    }
    from_packed(q, block);
    if (block)
        opir_block_free(block, room);
}

static void from_sender(struct opir_req *q, const struct opir_req *s) {
    result(q, s->comm->rank, s->tag, s->bytes);
    void *to = take_into(q);
    if (to || !q->take)
        opir_copy(s->buf, s->count, s->type, to, q->count, q->type);
}

/* A message that was taken out of its queue to a receive, which is complete then. */
void opir_msg_into(struct opir_msg *m, struct opir_req *q) {
    struct opir_req *s = m->sender;
    switch (m->kind) {
    case OPIR_M_EAGER:
        result(q, m->src, m->tag, m->bytes);
        from_packed(q, m + 1);
        if (OPIR_UNLIKELY(m->from))
            opir_far_received(m->from - 1, m->bytes);
        break;
    case OPIR_M_BLOCK:
        result(q, m->src, m->tag, m->bytes);
        from_block(q, m->block, m->room);
        break;
    case OPIR_M_FAR:
        result(q, m->src, m->tag, m->bytes);
        opir_far_fetch(m->from - 1, m->id, q, take_into(q));
        if (m->obj.kind != OPIR_FREE)
            opir_obj_gone(&m->obj);
        free(m);
        return;
    default:
        from_sender(q, s);
        opir_done(q); /* q may be gone now */
        opir_done(s);
        return;
    }
    if (m->obj.kind != OPIR_FREE)
        opir_obj_gone(&m->obj);
    free(m);
    opir_done(q);
}

static struct opir_msg *msg_new(const struct opir_req *s, int kind, size_t inside) {
    struct opir_msg *m = malloc(sizeof *m + inside);
    if (!m)
        opir_die("out of memory for a message of %zu bytes", s->bytes);
    m->obj = (struct opir_obj){0, OPIR_FREE};
    m->kind = (uint8_t)kind;
    m->ctx = s->ctx;
    m->src = s->comm->rank;
    m->tag = s->tag;
    m->bytes = s->bytes;
    m->from = 0;
    m->sender = NULL;
    return m;
}

/* ---- the inbox of a thread --------------------------------------------------------------------------------------------------------------- */

/* A message that comes out of an inbox, to its receive or into the queue. */
static void arrive(struct opir_rank *r, const struct opir_slot *s) {
    struct opir_req *q = posted_for(r, s->ctx, s->src, s->tag);
    if (q) {
        result(q, s->src, s->tag, s->bytes);
        if (s->kind == OPIR_S_BLOCK)
            from_block(q, s->block, s->room);
        else
            from_packed(q, s->kind == OPIR_S_DATA ? (const void *)s->data : s->msg + 1);
        if (s->kind == OPIR_S_MSG)
            free(s->msg);
        opir_done(q);
        return;
    }
    struct opir_msg *m = s->kind == OPIR_S_MSG ? s->msg : malloc(sizeof *m + OPIR_INSIDE);
    if (!m)
        opir_die("out of memory for a message of %zu bytes", s->bytes);
    if (s->kind == OPIR_S_BLOCK)
        *m = (struct opir_msg){.obj = {0, OPIR_FREE}, .kind = OPIR_M_BLOCK, .block = s->block, .room = s->room};
    if (s->kind == OPIR_S_DATA) {
        *m = (struct opir_msg){.obj = {0, OPIR_FREE}, .kind = OPIR_M_EAGER};
        memcpy(m + 1, s->data, s->bytes);
    }
    m->ctx = s->ctx;
    m->src = s->src;
    m->tag = s->tag;
    m->bytes = s->bytes;
    msg_append(r, m);
}

static void take_one(struct opir_rank *r, uint64_t tail) {
    struct opir_inbox *in = r->inbox;
    arrive(r, &in->slot[tail % OPIR_SLOTS]);
    atomic_store_explicit(&in->tail, tail + 1, memory_order_relaxed); /* under the lock */
    if (tail % (OPIR_SLOTS / 4) == 0)
        atomic_store_explicit(&in->shown, tail + 1, memory_order_release); /* the slots were read */
}

/* Takes in all for which a slot was claimed before the call, the caller's own; who claimed one is about to fill it.  The caller holds the lock. */
static void take_all(struct opir_rank *r) {
    struct opir_inbox *in = r->inbox;
    uint64_t until = atomic_load_explicit(&in->head, memory_order_relaxed), tail = atomic_load_explicit(&in->tail, memory_order_relaxed);
    while (tail < until) {
        if (opir_inbox_filled(in, tail))
            take_one(r, tail++);
        else
            sched_yield();
    }
}

/* One at a time: to look at the next slot would take its line from a sender that is about to write it, and mostly what was waited for has come. */
bool opir_look_in(struct opir_rank *me) {
    struct opir_inbox *in = me->inbox;
    if (!opir_inbox_filled(in, atomic_load_explicit(&in->tail, memory_order_relaxed)))
        return false;
    opir_lock(&me->lock);
    uint64_t tail = atomic_load_explicit(&in->tail, memory_order_relaxed);
    if (OPIR_LIKELY(opir_inbox_filled(in, tail))) /* another may have taken it in meanwhile */
        take_one(me, tail);
    opir_unlock(&me->lock);
    return true;
}

/* Leaves a message in its receiver's inbox; false when it has to go another way. */
static bool put_in(struct opir_req *q, struct opir_rank *to, struct opir_inbox *in) {
    bool inside = q->bytes <= OPIR_INSIDE, give = q->mode == OPIR_GIVE;
    if (q->mode == OPIR_SYNC)
        return false;
    if (!give && q->mode != OPIR_BUFFERED &&
        (q->bytes > opir.eager || atomic_load_explicit(&in->eager, memory_order_relaxed) > opir.eager_cap))
        return false;
    struct opir_msg *m = NULL; /* what takes long comes before the claim: others wait for who has claimed a slot */
    if (!give && !inside) {
        m = msg_new(q, OPIR_M_EAGER, q->bytes);
        opir_pack(q->type, q->buf, q->count, m + 1);
    }
    uint64_t position;
    struct opir_slot *s = opir_inbox_claim(in, &position);
    if (OPIR_UNLIKELY(!s)) {
        free(m);
        return false;
    }
    s->ctx = q->ctx;
    s->src = q->comm->rank;
    s->tag = q->tag;
    s->bytes = q->bytes;
    if (inside) {
        s->kind = OPIR_S_DATA;
        if (give)
            memcpy(s->data, q->block ? q->block : s->data, q->bytes);
        else if (q->bytes)
            opir_pack(q->type, q->buf, q->count, s->data);
    } else if (give) {
        s->kind = OPIR_S_BLOCK;
        s->block = q->block;
        s->room = q->room;
    } else {
        s->kind = OPIR_S_MSG;
        s->msg = m;
    }
    opir_inbox_publish(s, position);
    opir_prefetch_write(&in->slot[(position + 1) % OPIR_SLOTS]); /* ours again before the next message, unless its owner looks there */
    if (give && inside && q->block)
        opir_block_free(q->block, q->room); /* it stays with its rank */
    opir_wake(to);
    return true;
}

/* ---- sending ---------------------------------------------------------------------------------------------------------------------------- */

static void finished(struct opir_req *q) {
    atomic_store_explicit(&q->done, true, memory_order_relaxed); /* the owner itself */
}

/* The data of a give as a block of packed bytes. */
static bool packed_block(struct opir_req *q) {
    if (q->type->contiguous || !q->bytes)
        return true;
    size_t room;
    void *block = opir_block_new(q->bytes, &room);
    if (!block)
        return false;
    opir_pack(q->type, q->block, q->count, block);
    opir_block_free(q->block, q->room);
    q->block = block;
    q->room = room;
    return true;
}

static void lend(struct opir_req *q) {
    struct opir_rank *me = q->owner;
    q->lent = true;
    q->lent_prev = NULL;
    q->lent_next = me->lent;
    if (me->lent)
        me->lent->lent_prev = q;
    me->lent = q;
}

/* Starts the send that q describes; done at once unless the data stay with the sender. */
void opir_send_begin(struct opir_req *q) {
    bool give = q->mode == OPIR_GIVE;
    q->r_source = MPI_ANY_SOURCE;
    q->r_tag = MPI_ANY_TAG;
    q->r_bytes = 0;
    q->r_error = MPI_SUCCESS;
    q->cancelled = false;
    if (OPIR_UNLIKELY(q->peer == MPI_PROC_NULL)) {
        if (give && q->block)
            opir_block_free(q->block, q->room);
        finished(q);
        return;
    }
    if (give && !packed_block(q))
        opir_die("out of memory to give %zu bytes", q->bytes);
    struct opir_rank *to = opir_comm_peer(q->comm, q->peer);
    if (OPIR_UNLIKELY(!to)) {
        if (opir_far_send(q, opir_group_world(q->comm->remote, q->peer)))
            finished(q);
        else
            lend(q);
        return;
    }
    struct opir_inbox *in = to != q->owner ? opir_inbox_of(to) : NULL;
    if (in && put_in(q, to, in)) {
        finished(q);
        return;
    }
    int src = q->comm->rank, tag = q->tag;
    opir_lock(&to->lock);
    if (in)
        take_all(to); /* what came before this message */
    struct opir_req *r = posted_for(to, q->ctx, src, tag);
    if (r) {
        opir_unlock(&to->lock);
        if (give) {
            result(r, src, tag, q->bytes);
            from_block(r, q->block, q->room);
        } else {
            from_sender(r, q);
        }
        opir_done(r);
        finished(q);
        return;
    }
    bool aside = q->mode == OPIR_BUFFERED || (q->mode != OPIR_SYNC && q->bytes <= opir.eager && to->eager_bytes <= opir.eager_cap);
    if (give) {
        struct opir_msg *m = msg_new(q, q->block ? OPIR_M_BLOCK : OPIR_M_EAGER, 0);
        m->block = q->block;
        m->room = q->room;
        msg_append(to, m);
        finished(q);
    } else if (aside) {
        struct opir_msg *m = msg_new(q, OPIR_M_EAGER, q->bytes);
        opir_pack(q->type, q->buf, q->count, m + 1);
        msg_append(to, m);
        finished(q);
    } else {
        q->msg = (struct opir_msg){.kind = OPIR_M_REF, .ctx = q->ctx, .src = src, .tag = tag, .bytes = q->bytes, .sender = q};
        lend(q);
        msg_append(to, &q->msg);
    }
    bool probing = to->probing;
    opir_unlock(&to->lock);
    if (OPIR_UNLIKELY(probing))
        opir_wake(to);
}

/* Copies aside what this rank's standard sends hold and nobody has received; sets *some where there was any. */
void opir_relieve(struct opir_rank *me, bool *some) {
    for (struct opir_req *q = me->lent; q; q = q->lent_next) {
        if (q->mode == OPIR_SYNC || opir_is_done(q))
            continue;
        struct opir_rank *to = opir_comm_peer(q->comm, q->peer);
        if (!to) {
            *some |= opir_far_relieve(q);
            continue;
        }
        if (q->cancelled)
            continue;
        opir_lock(&to->lock);
        bool waits = q->msg.to == to;
        if (waits) {
            struct opir_msg *m = msg_new(q, OPIR_M_EAGER, q->bytes);
            opir_pack(q->type, q->buf, q->count, m + 1);
            m->next = q->msg.next;
            m->prev = q->msg.prev;
            put_in_place(to, m);
            eager_now(to, to->eager_bytes + m->bytes);
            q->msg.to = NULL;
        }
        opir_unlock(&to->lock);
        if (waits) {
            opir_done(q);
            *some = true;
        }
    }
}

/* ---- receiving -------------------------------------------------------------------------------------------------------------------------- */

void opir_deliver(struct opir_rank *to, const struct opir_msg *what, const void *data) {
    opir_lock(&to->lock);
    struct opir_req *q = posted_for(to, what->ctx, what->src, what->tag);
    if (q) {
        opir_unlock(&to->lock);
        result(q, what->src, what->tag, what->bytes);
        if (what->kind == OPIR_M_FAR) {
            opir_far_fetch(what->from - 1, what->id, q, take_into(q));
            return;
        }
        from_packed(q, data);
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
    msg_append(to, m);
    bool probing = to->probing;
    opir_unlock(&to->lock);
    if (probing)
        opir_wake(to);
}

void opir_recv_begin(struct opir_req *q) {
    struct opir_rank *me = q->owner;
    q->cancelled = false;
    q->block = NULL;
    if (OPIR_UNLIKELY(q->peer == MPI_PROC_NULL)) {
        result(q, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        if (q->take)
            take_into(q);
        finished(q);
        return;
    }
    opir_lock(&me->lock);
    struct opir_msg *m = opir_msg_find(me, q->ctx, q->peer, q->tag);
    if (m)
        opir_msg_unlink(m);
    else
        post(me, q);
    opir_unlock(&me->lock);
    if (m)
        opir_msg_into(m, q);
}

/* ---- arguments -------------------------------------------------------------------------------------------------------------------------- */

int opir_check_args(struct opir_rank *me, const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, bool recv,
                    struct opir_comm **cp, struct opir_type **tp) {
    struct opir_comm *c = opir_comm_of(me, comm);
    if (OPIR_UNLIKELY(!c))
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator");
    *cp = c;
    if (OPIR_UNLIKELY(count < 0))
        return opir_raise(c, MPI_ERR_COUNT, call, "count %lld is negative", (long long)count);
    struct opir_type *t = opir_type_of(me, type);
    if (OPIR_UNLIKELY(!t))
        return opir_raise(c, MPI_ERR_TYPE, call, "invalid datatype");
    *tp = t;
    if (OPIR_UNLIKELY((unsigned)peer >= (unsigned)c->remote->size && peer != MPI_PROC_NULL && !(recv && peer == MPI_ANY_SOURCE)))
        return opir_raise(c, MPI_ERR_RANK, call, "rank %d in a communicator of %d", peer, c->remote->size);
    if (OPIR_UNLIKELY(tag < 0 && !(recv && tag == MPI_ANY_TAG)))
        return opir_raise(c, MPI_ERR_TAG, call, "tag %d is negative", tag);
    if (OPIR_UNLIKELY(!buf && count > 0 && t->named && t->size && peer != MPI_PROC_NULL))
        return opir_raise(c, MPI_ERR_BUFFER, call, "null buffer");
    if (OPIR_UNLIKELY(t->size && (uint64_t)count > (uint64_t)PTRDIFF_MAX / t->size))
        return opir_raise(c, MPI_ERR_COUNT, call, "count %lld of a type of %zu bytes", (long long)count, t->size);
    return MPI_SUCCESS;
}

/* Fills what a send or receive needs; q was set up. */
static inline void describe(struct opir_req *q, const char *call, const void *buf, MPI_Count count, struct opir_type *t, int peer, int tag, struct opir_comm *c) {
    q->call = call;
    q->comm = c;
    q->type = t;
    q->ctx = c->ctx;
    q->peer = peer;
    q->tag = tag;
    q->buf = (void *)(uintptr_t)buf;
    q->count = (size_t)count;
    q->bytes = (size_t)count * t->size;
}

static void on_stack(struct opir_req *q, struct opir_rank *me, int kind) {
    opir_req_setup(q, me, kind);
    q->on_stack = true;
}

/* A request that pends holds its communicator and its type. */
static void keep(struct opir_req *q) {
    q->comm->refs++;
    q->type = opir_type_hold(q->type);
}

int opir_send_block(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, int mode) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, call, buf, count, type, dest, tag, comm, false, &c, &t);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_req q;
    on_stack(&q, me, OPIR_R_SEND);
    describe(&q, call, buf, count, t, dest, tag, c);
    q.mode = (uint8_t)mode;
    if (mode == OPIR_BUFFERED && q.bytes > me->bsend_size)
        return opir_raise(c, MPI_ERR_BUFFER, call, "%zu bytes, of a buffer of %zu", q.bytes, me->bsend_size);
    opir_send_begin(&q);
    if (OPIR_LIKELY(!q.lent)) /* it is complete, and cannot have failed */
        return MPI_SUCCESS;
    opir_wait_req(call, &q);
    return opir_req_finish(&q, MPI_STATUS_IGNORE);
}

int opir_send_start(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request, int mode) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, call, buf, count, type, dest, tag, comm, false, &c, &t);
    if (rc != MPI_SUCCESS)
        return rc;
    if (mode == OPIR_BUFFERED && (size_t)count * t->size > me->bsend_size)
        return opir_raise(c, MPI_ERR_BUFFER, call, "%zu bytes, of a buffer of %zu", (size_t)count * t->size, me->bsend_size);
    struct opir_req *q = opir_req_new(me, OPIR_R_SEND);
    describe(q, call, buf, count, t, dest, tag, c);
    q->mode = (uint8_t)mode;
    keep(q);
    opir_send_begin(q);
    OPIR_PUT(request, q);
    return MPI_SUCCESS;
}

int opir_recv_block(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status, bool take) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, call, buf, count, type, source, tag, comm, true, &c, &t);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_req q;
    on_stack(&q, me, OPIR_R_RECV);
    describe(&q, call, buf, count, t, source, tag, c);
    q.take = take;
    opir_recv_begin(&q);
    opir_wait_req(call, &q);
    if (OPIR_LIKELY(status == MPI_STATUS_IGNORE && q.r_error == MPI_SUCCESS && !take))
        return MPI_SUCCESS;
    return opir_req_finish(&q, status);
}

int opir_recv_start(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request, bool take) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, call, buf, count, type, source, tag, comm, true, &c, &t);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_req *q = opir_req_new(me, OPIR_R_RECV);
    describe(q, call, buf, count, t, source, tag, c);
    q->take = take;
    if (take) {
        void *null = NULL;
        memcpy(buf, &null, sizeof null);
    }
    keep(q);
    opir_recv_begin(q);
    OPIR_PUT(request, q);
    return MPI_SUCCESS;
}

/* mode -1: a receive. */
int opir_persist_init(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request, int mode) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, call, buf, count, type, peer, tag, comm, mode < 0, &c, &t);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_req *q = opir_req_new(me, mode < 0 ? OPIR_R_RECV : OPIR_R_SEND);
    describe(q, call, buf, count, t, peer, tag, c);
    q->mode = (uint8_t)(mode < 0 ? 0 : mode);
    q->persistent = true;
    q->active = false;
    keep(q);
    OPIR_PUT(request, q);
    return MPI_SUCCESS;
}
