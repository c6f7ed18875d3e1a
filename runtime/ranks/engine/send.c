/* send.c - sending, and taking sends back.
 *
 * A small message without a receive is copied aside; a larger one stays with its sender, and is copied aside when that has waited in vain for long.  A give
 * is complete at once, but where its receiver has much waiting already: there it waits to be received, as a send does, and for no longer than that.  Between
 * threads, a message that is copied aside and a give go through the receiver's inbox, and the receiver is always the one who comes second. */
#include "ranks/carrier/guard.h"
#include "ranks/engine/inbox.h"
#include "ranks/transport/net.h"
#include "ranks/engine/match.h"

#include <stdlib.h>

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
        opir_finished(q);
        return;
    }
    if (give && !packed_block(q))
        opir_die("out of memory to give %zu bytes", q->bytes);
    struct opir_rank *to = opir_comm_peer(q->comm, q->peer);
    if (OPIR_UNLIKELY(!to)) {
        if (opir_far_send(q, opir_group_world(q->comm->remote, q->peer)))
            opir_finished(q);
        else
            lend(q);
        return;
    }
    struct opir_inbox *in = to != q->owner ? opir_inbox_of(to) : NULL;
    if (in && opir_put_in(q, to, in)) {
        opir_finished(q);
        return;
    }
    int src = q->comm->rank, tag = q->tag;
    opir_rank_lock(to);
    if (in)
        opir_take_all(to); /* what came before this message */
    struct opir_req *r = opir_posted_for(to, q->ctx, src, tag);
    if (r) {
        opir_rank_unlock(to);
        if (give) {
            opir_result(r, src, tag, q->bytes);
            opir_from_block(r, q->block, q->room);
        } else {
            opir_from_sender(r, q);
        }
        opir_done(r);
        opir_finished(q);
        return;
    }
    bool aside = q->mode == OPIR_BUFFERED || (q->mode != OPIR_SYNC && q->bytes <= opir.eager && to->eager_bytes <= opir.eager_cap);
    if (give) {
        struct opir_msg *m = msg_new(q, q->block ? OPIR_M_BLOCK : OPIR_M_EAGER, 0);
        m->block = q->block;
        m->room = q->room;
        bool waits = q->block && to->eager_bytes > opir.eager_cap;
        opir_msg_append(to, m);
        if (waits) {
            m->sender = q;
            q->gave = m;
            lend(q);
        } else {
            opir_finished(q);
        }
    } else if (aside) {
        struct opir_msg *m = msg_new(q, OPIR_M_EAGER, q->bytes);
        opir_pack(q->type, q->buf, q->count, m + 1);
        opir_msg_append(to, m);
        opir_finished(q);
    } else {
        q->msg = (struct opir_msg){.kind = OPIR_M_REF, .ctx = q->ctx, .src = src, .tag = tag, .bytes = q->bytes, .sender = q};
        lend(q);
        opir_msg_append(to, &q->msg);
    }
    bool probing = to->probing;
    opir_rank_unlock(to);
    if (OPIR_UNLIKELY(probing))
        opir_wake(to);
}

/* A give waits no longer; false: it does not wait any more.  The caller holds the receiver's lock. */
static bool give_goes_on(struct opir_req *q) {
    if (opir_is_done(q))
        return false;
    q->gave->sender = NULL;
    return true;
}

/* Copies aside what this rank's standard sends hold and nobody has received, and lets its gives go on; sets *some where there was any. */
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
        opir_rank_lock(to);
        bool waits = q->mode == OPIR_GIVE ? give_goes_on(q) : q->msg.to == to;
        if (waits && q->mode != OPIR_GIVE) {
            struct opir_msg *m = msg_new(q, OPIR_M_EAGER, q->bytes);
            opir_pack(q->type, q->buf, q->count, m + 1);
            opir_msg_replace(&q->msg, m);
        }
        opir_rank_unlock(to);
        if (waits) {
            opir_done(q);
            *some = true;
        }
    }
}

/* Takes a send back that nobody has received; false when it is too late. */
bool opir_withdraw(struct opir_req *q) {
    if (q->mode == OPIR_GIVE)
        return false; /* its buffer is the receiver's */
    struct opir_rank *to = opir_comm_peer(q->comm, q->peer);
    if (!to) {
        opir_far_withdraw(q, opir_group_world(q->comm->remote, q->peer));
        return false; /* not yet */
    }
    opir_rank_lock(to);
    bool waits = q->lent && q->msg.to == to;
    if (waits)
        opir_msg_unlink(&q->msg);
    opir_rank_unlock(to);
    return waits;
}
