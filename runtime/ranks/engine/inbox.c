/* inbox.c - leaving messages for a thread, and taking them in (inbox.h). */
#include "ranks/engine/inbox.h"
#include "ranks/carrier/guard.h"
#include "ranks/engine/match.h"

#include <sched.h>
#include <stdlib.h>

#define AHEAD 1024

/* The program reads a buffer that was given to it next: the lines of a short one come, all at once, while it is matched.  In a long one the processor sees by
 * itself which come next, and so it does where we copy. */
static inline void come_ahead(const struct opir_slot *s) {
    for (size_t i = 0; s->bytes <= AHEAD && i < s->bytes; i += 64)
        __builtin_prefetch((const char *)s->block + i);
}

/* A message that comes out of an inbox, to its receive or into the queue. */
static void arrive(struct opir_rank *r, const struct opir_slot *s) {
    size_t bytes = s->kind == OPIR_S_DATA ? s->inside : s->bytes;
    if (s->kind == OPIR_S_BLOCK && r == opir_self) /* else they would come into another processor's cache */
        come_ahead(s);
    struct opir_req *q = opir_posted_for(r, s->ctx, s->src, s->tag);
    if (OPIR_LIKELY(q != NULL)) {
        opir_result(q, s->src, s->tag, bytes);
        if (s->kind == OPIR_S_BLOCK) {
            opir_from_block(q, s->block, s->room);
        } else if (s->kind == OPIR_S_DATA) {
            opir_from_packed(q, s->data);
        } else {
            opir_from_packed(q, s->block);
            opir_block_back(s->home, s->block, s->room);
        }
        if (OPIR_LIKELY(r == opir_self))
            opir_finished(q); /* the rank looks in, so it is awake */
        else
            opir_done(q);
        return;
    }
    struct opir_msg *m = malloc(sizeof *m + (s->kind == OPIR_S_DATA ? bytes : 0));
    if (!m)
        opir_die("out of memory for a message of %zu bytes", bytes);
    *m = (struct opir_msg){.obj = {0, OPIR_FREE}, .kind = OPIR_M_EAGER, .ctx = s->ctx, .src = s->src, .tag = s->tag, .bytes = bytes};
    if (s->kind == OPIR_S_DATA) {
        memcpy(m + 1, s->data, bytes);
    } else {
        m->kind = s->kind == OPIR_S_BLOCK ? OPIR_M_BLOCK : OPIR_M_COPY;
        m->block = s->block;
        m->room = s->room;
        m->home = s->home;
    }
    opir_msg_append(r, m);
}

static void take_one(struct opir_rank *r, uint64_t tail) {
    struct opir_inbox *in = r->inbox;
    arrive(r, &in->slot[tail % OPIR_SLOTS]);
    atomic_store_explicit(&in->tail, tail + 1, memory_order_relaxed); /* under the lock */
    if (tail % (OPIR_SLOTS / 4) == 0)
        atomic_store_explicit(&in->shown, tail + 1, memory_order_release); /* the slots were read */
}

/* Takes in all for which a slot was claimed before the call, the caller's own; who claimed one is about to fill it.  The caller holds the lock. */
void opir_take_all(struct opir_rank *r) {
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
    opir_own_lock(me);
    uint64_t tail = atomic_load_explicit(&in->tail, memory_order_relaxed);
    if (OPIR_LIKELY(opir_inbox_filled(in, tail))) /* another may have taken it in meanwhile */
        take_one(me, tail);
    opir_own_unlock(me);
    return true;
}

#define PATIENCE 200

/* Claims a slot of an inbox that may be full: its owner is taking messages out most likely, and does so faster than two can who fight for its lock. */
static inline struct opir_slot *claim(struct opir_inbox *in, uint64_t *position) {
    struct opir_slot *s = opir_inbox_claim(in, position);
    for (int i = 0; OPIR_UNLIKELY(!s) && i < PATIENCE && opir.shoots; i++) {
        opir_pause();
        s = opir_inbox_claim(in, position);
    }
    return s;
}

/* Leaves a message in its receiver's inbox; false when it has to go another way. */
bool opir_put_in(struct opir_req *q, struct opir_rank *to, struct opir_inbox *in) {
    bool give = q->mode == OPIR_GIVE, inside = q->bytes <= (give ? OPIR_FIRST : OPIR_INSIDE);
    if (q->mode == OPIR_SYNC || (!give && q->mode != OPIR_BUFFERED && q->bytes > opir.eager))
        return false;
    if (q->mode != OPIR_BUFFERED && atomic_load_explicit(&in->eager, memory_order_relaxed) > opir.eager_cap)
        return false;
    opir_inbox_prefetch(in);
    void *block = q->block;
    size_t room = q->room;
    if (!give && !inside) { /* what takes long comes before the claim: others wait for who has claimed a slot */
        block = opir_block_new(q->bytes, &room);
        if (!block)
            opir_die("out of memory for a message of %zu bytes", q->bytes);
        opir_pack(q->type, q->buf, q->count, block);
    }
    uint64_t position;
    struct opir_slot *s = claim(in, &position);
    if (OPIR_UNLIKELY(!s)) {
        if (!give && !inside)
            opir_block_free(block, room);
        return false;
    }
    s->ctx = q->ctx;
    s->src = q->comm->rank;
    s->tag = q->tag;
    if (inside) {
        s->kind = OPIR_S_DATA;
        s->inside = (uint8_t)q->bytes;
        if (give)
            memcpy(s->data, block ? block : s->data, q->bytes);
        else if (q->bytes)
            opir_pack(q->type, q->buf, q->count, s->data);
    } else {
        s->kind = give ? OPIR_S_BLOCK : OPIR_S_COPY;
        s->block = block;
        s->room = room;
        s->bytes = q->bytes;
        s->home = q->owner;
    }
    opir_inbox_publish(s, position);
    if (give && inside && block)
        opir_block_free(block, room); /* it stays with its rank */
    opir_wake(to);
    return true;
}

/* ---- what most messages need ------------------------------------------------------------------------------------------------------------- */

/* The inbox for a message of a contiguous type that the rank used last, to another thread; NULL: the call takes the long way, which finds out why. */
static inline struct opir_inbox *short_way(const struct opir_rank *me, int count, MPI_Datatype type, int dest, int tag, const struct opir_comm *c,
                                           size_t *bytes) {
    const struct opir_type *t = me->type;
    if (OPIR_UNLIKELY(!me->inbox || !c || !t || me->type_handle != type || !t->contiguous || count < 0 || tag < 0 ||
                      (unsigned)dest >= (unsigned)c->remote->size || __builtin_mul_overflow((size_t)count, t->size, bytes)))
        return NULL;
    struct opir_rank *to = opir_comm_peer(c, dest);
    return OPIR_LIKELY(to && to != me) ? opir_inbox_of(to) : NULL;
}

static inline void publish(struct opir_inbox *in, struct opir_slot *s, uint64_t position, const struct opir_comm *c, int tag) {
    s->ctx = c->ctx;
    s->src = c->rank;
    s->tag = tag;
    opir_inbox_publish(s, position);
    opir_inbox_prefetch(in);
    opir_wake(&opir.rank[in - opir.inboxes]);
}

bool opir_give_fast(struct opir_rank *me, void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    const struct opir_comm *c = opir_comm_of(me, comm);
    size_t bytes, room;
    struct opir_inbox *in = short_way(me, count, type, dest, tag, c, &bytes);
    void *block, *null = NULL;
    memcpy(&block, bufp, sizeof block);
    if (OPIR_UNLIKELY(!in || !block || atomic_load_explicit(&in->eager, memory_order_relaxed) > opir.eager_cap))
        return false;
    opir_inbox_prefetch(in);
    if (OPIR_UNLIKELY(!opir_block_let_go(me, block, bytes, &room)))
        return false;
    uint64_t position;
    struct opir_slot *s = claim(in, &position);
    if (OPIR_UNLIKELY(!s)) {
        opir_block_own(me, block, room);
        return false;
    }
    bool inside = bytes <= OPIR_FIRST;
    if (inside) {
        s->kind = OPIR_S_DATA;
        s->inside = (uint8_t)bytes;
        memcpy(s->data, block, bytes);
    } else {
        s->kind = OPIR_S_BLOCK;
        s->block = block;
        s->room = room;
        s->bytes = bytes;
    }
    publish(in, s, position, c, tag);
    memcpy(bufp, &null, sizeof null);
    if (inside)
        opir_block_free(block, room); /* it stays with its rank */
    return true;
}
