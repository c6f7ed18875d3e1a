/* far.c - messages between ranks of different processes.
 *
 * A small message goes with its data.  Of a larger one, and of a synchronous send, the receiver's process gets an ASK; whoever matches it answers CLEAR, and
 * then the data come straight into the receiver's buffer.  All that a rank sends to another goes by packets, in order, so messages do not overtake. */
#include "ranks/carrier/guard.h"
#include "ranks/transport/net.h"

#include <stdlib.h>

enum holder { THE_SENDER, THE_HEAP, A_BLOCK };

/* A send whose data stay here until they are asked for.  `far_lock` guards q, data, holder, going, cancelling until it goes, then it is the driver's.
 * q of a BLOCK: a give that is complete only when its data have gone, since much is on its way already. */
struct opir_far {
    struct opir_xfer x; /* the first */
    struct opir_req *q; /* NULL: its rank has gone on */
    void *data;         /* packed, unless the sender holds it */
    size_t room;        /* of a block */
    enum holder holder;
    bool going, cancelling;
};
static pthread_mutex_t far_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic size_t given; /* bytes of BLOCKs that have not gone; a limit, no order */

/* Bytes of EAGER that processes have got from this one and not received; and which of theirs were received here and not told. */
static _Atomic uint64_t *owed, *consumed;

void opir_far_begin(void) {
    owed = opir_alloc((size_t)opir.processes * sizeof *owed);
    consumed = opir_alloc((size_t)opir.processes * sizeof *consumed);
}

static uint64_t cost_of(size_t bytes) {
    return bytes + 128;
}

/* A message that came with its data has been received. */
void opir_far_received(int process, size_t bytes) {
    uint64_t cost = cost_of(bytes);
    if (atomic_fetch_add_explicit(&consumed[process], cost, memory_order_relaxed) + cost < opir_net.cap / 16)
        return;
    uint64_t all = atomic_exchange_explicit(&consumed[process], 0, memory_order_relaxed);
    if (!all)
        return;
    struct opir_packet *p = opir_packet_new(OPIR_P_CREDIT, 0);
    p->head.bytes = all;
    opir_net_send(process, p);
}

/* ---- sending ---------------------------------------------------------------------------------------------------------------------------- */

static struct opir_packet *packet_for(const struct opir_req *q, int world, int kind, size_t payload) {
    struct opir_packet *p = opir_packet_new(kind, payload);
    p->head.ctx = q->ctx;
    p->head.bytes = q->bytes;
    p->head.src = q->comm->rank;
    p->head.dst = world;
    p->head.tag = q->tag;
    return p;
}

static void *packed(const struct opir_req *q) {
    void *copy = malloc(q->bytes ? q->bytes : 1);
    if (!copy)
        opir_die("out of memory: %zu bytes", q->bytes);
    opir_pack(q->type, q->buf, q->count, copy);
    return copy;
}

/* Starts a send to a rank of another process.  True when the request is complete; else q->far is what it waits with. */
bool opir_far_send(struct opir_req *q, int world) {
    int process = opir_process_of(world);
    bool give = q->mode == OPIR_GIVE;
    uint64_t cost = cost_of(q->bytes);
    if (q->mode != OPIR_SYNC && q->bytes <= opir_net.eager && atomic_load_explicit(&owed[process], memory_order_relaxed) + cost <= opir_net.cap) {
        atomic_fetch_add_explicit(&owed[process], cost, memory_order_relaxed); /* an estimate that bounds memory, no order */
        struct opir_packet *p = packet_for(q, world, OPIR_P_EAGER, q->bytes);
        if (give && q->block) {
            memcpy(p->data, q->block, q->bytes);
            opir_block_free(q->block, q->room);
        } else if (!give) {
            opir_pack(q->type, q->buf, q->count, p->data);
        }
        opir_net_send(process, p);
        return true;
    }
    struct opir_far *f = opir_alloc(sizeof *f);
    if (give) {
        f->holder = A_BLOCK;
        f->data = q->block;
        f->room = q->room;
        if (atomic_fetch_add_explicit(&given, f->room, memory_order_relaxed) > opir.eager_cap) {
            f->q = q;
            q->far = f;
        }
    } else if (q->mode == OPIR_BUFFERED) {
        f->holder = THE_HEAP;
        f->data = packed(q);
    } else {
        f->q = q;
        q->far = f;
    }
    bool complete = !f->q;
    struct opir_packet *p = packet_for(q, world, OPIR_P_ASK, 0);
    p->head.id = (uint64_t)(uintptr_t)f;
    opir_net_send(process, p);
    return complete;
}

/* Copies aside what a send holds, if its data do not go already, and lets a give go on; true when the request is complete. */
bool opir_far_relieve(struct opir_req *q) {
    opir_lock(&far_lock);
    struct opir_far *f = q->far;
    bool held = f && !f->going && !f->cancelling;
    if (held) {
        if (f->holder == THE_SENDER) {
            f->data = packed(q);
            f->holder = THE_HEAP;
        }
        f->q = NULL;
        q->far = NULL;
    }
    opir_unlock(&far_lock);
    if (held)
        opir_done(q);
    return held;
}

/* Asks for a send back; the answer completes it one way or the other. */
void opir_far_withdraw(struct opir_req *q, int world) {
    opir_lock(&far_lock);
    struct opir_far *f = q->far;
    bool asks = f && !f->going && !f->cancelling;
    if (asks)
        f->cancelling = true;
    opir_unlock(&far_lock);
    if (!asks)
        return;
    struct opir_packet *p = opir_packet_new(OPIR_P_CANCEL, 0);
    p->head.id = (uint64_t)(uintptr_t)f;
    p->head.dst = world;
    opir_net_send(opir_process_of(world), p);
}

/* The data of a send are no longer needed here. */
static void sent(struct opir_xfer *x) {
    struct opir_far *f = (struct opir_far *)x;
    if (f->holder == A_BLOCK)
        atomic_fetch_sub_explicit(&given, f->room, memory_order_relaxed);
    if (f->holder == A_BLOCK && f->data)
        opir_block_drop(f->data, f->room);
    else if (f->holder == THE_HEAP)
        free(f->data);
    struct opir_req *q = f->q;
    free(f);
    if (q)
        opir_done(q);
}

static void clear(int process, const struct opir_head *h) {
    struct opir_far *f = (struct opir_far *)(uintptr_t)h->id;
    struct opir_req *free_to_go = NULL;
    opir_lock(&far_lock);
    f->going = true;
    if (f->q)
        f->q->far = NULL;
    if (f->holder == THE_SENDER && h->bytes && !f->q->type->contiguous) {
        f->data = packed(f->q);
        f->holder = THE_HEAP;
        free_to_go = f->q;
        f->q = NULL;
    }
    opir_unlock(&far_lock);
    if (free_to_go)
        opir_done(free_to_go);
    f->x = (struct opir_xfer){.buf = f->holder == THE_SENDER ? f->q->buf : f->data, .bytes = h->bytes, .peer = process, .tag = h->tag, .over = sent};
    if (!h->bytes) {
        sent(&f->x);
        return;
    }
    opir_net_start(&f->x);
}

static void cancelled(const struct opir_head *h) {
    struct opir_far *f = (struct opir_far *)(uintptr_t)h->id;
    struct opir_req *q = f->q; /* still waits: it is not relieved once it is asked back */
    free(f);
    q->cancelled = true;
    opir_done(q);
}

/* ---- receiving -------------------------------------------------------------------------------------------------------------------------- */

/* A receive that has matched an ASK, until its data are here. */
struct incoming {
    struct opir_xfer x; /* the first */
    struct opir_req *q;
    void *packed; /* NULL: the data come straight to where they belong */
};

static void arrived(struct opir_xfer *x) {
    struct incoming *in = (struct incoming *)x;
    struct opir_req *q = in->q;
    if (in->packed) {
        opir_unpack(q->type, q->take ? q->block : q->buf, q->count, in->packed, x->bytes);
        free(in->packed);
    }
    free(in);
    opir_done(q);
}

/* The message m, an ASK taken out of its queue, to the receive q, whose result is set; `to` is where its data belong. */
void opir_far_fetch(int process, uint64_t id, struct opir_req *q, void *to) {
    struct opir_packet *p = opir_packet_new(OPIR_P_CLEAR, 0);
    size_t bytes = q->take && !to ? 0 : q->r_bytes;
    p->head.id = id;
    p->head.bytes = bytes;
    if (!bytes) {
        opir_net_send(process, p);
        opir_done(q);
        return;
    }
    struct incoming *in = opir_alloc(sizeof *in);
    in->q = q;
    if (!q->type->contiguous) {
        in->packed = malloc(bytes);
        if (!in->packed)
            opir_die("out of memory: %zu bytes", bytes);
    }
    p->head.tag = opir_net_tag(false);
    in->x = (struct opir_xfer){.buf = in->packed ? in->packed : to, .bytes = bytes, .peer = process, .tag = p->head.tag, .receives = true, .over = arrived};
    p->with = &in->x;
    opir_net_send(process, p);
}

static void take_back(int process, const struct opir_head *h) {
    struct opir_rank *to = opir_rank_of(h->dst);
    opir_rank_lock(to);
    struct opir_msg *m = to->msg_head;
    while (m && !(m->kind == OPIR_M_FAR && m->from == process + 1 && m->id == h->id))
        m = m->next;
    if (m)
        opir_msg_unlink(m);
    opir_rank_unlock(to);
    if (!m)
        return; /* received: the data are on their way */
    free(m);
    struct opir_packet *p = opir_packet_new(OPIR_P_CANCELLED, 0);
    p->head.id = h->id;
    opir_net_send(process, p);
}

void opir_far_packet(int process, const struct opir_head *h, const void *data) {
    struct opir_msg m = {.kind = h->kind == OPIR_P_EAGER ? OPIR_M_EAGER : OPIR_M_FAR, .ctx = h->ctx, .src = h->src, .tag = h->tag, .bytes = h->bytes,
                         .from = process + 1, .id = h->id};
    switch (h->kind) {
    case OPIR_P_EAGER:
    case OPIR_P_ASK:
        opir_deliver(opir_rank_of(h->dst), &m, data);
        break;
    case OPIR_P_CLEAR:
        clear(process, h);
        break;
    case OPIR_P_CANCEL:
        take_back(process, h);
        break;
    case OPIR_P_CANCELLED:
        cancelled(h);
        break;
    default:
        atomic_fetch_sub_explicit(&owed[process], h->bytes, memory_order_relaxed);
    }
}
