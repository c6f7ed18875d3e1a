/* protocol.c - what happens when a message meets its receive. */
#include "process/base/error.h"
#include "process/below/net.h"
#include "process/engine/deliver.h"
#include "process/engine/match.h"
#include "process/engine/ring.h"
#include "process/engine/section.h"
#include "process/heap/pool.h"
#include "process/objects/datatype.h"
#include "process/objects/request.h"

#include <stdlib.h>

#define OPI_PREFETCH_BYTES ((size_t)256)

/* The receiver consumed accounted bytes of src's. */
static void credit(int src, size_t bytes) {
    if (src == opi.me) /* messages to oneself are not accounted */
        return;
    for (int i = 0; i < opi.nin; i++) {
        struct opi_in *in = &opi.in[i];
        if (in->src == src) {
            in->freed += bytes;
            /* relaxed would do for the count; release keeps "freed" from overtaking the reads of the block it counts. */
            atomic_store_explicit(&in->ring->freed, in->freed, memory_order_release);
            return;
        }
    }
}

/* Wins an envelope for the receiver.  False: its sender withdrew it; the desc is freed and the envelope must be forgotten. */
bool opi_claim(const struct opi_slot *e) {
    if (OPI_LIKELY(opi_env_kind(e) != OPI_K_RNDV))
        return true;
    struct opi_desc *d = e->u.ref.ptr;
    for (;;) { /* three times at most: the sender gives a buffering up once, and begins no other */
        uint32_t s = OPI_D_OPEN;
        /* acq_rel: acquire the sender's fields, and order our reads of its data after winning. */
        if (atomic_compare_exchange_strong_explicit(&d->state, &s, OPI_D_CLAIMED, memory_order_acq_rel, memory_order_acquire))
            return true;
        if (s == OPI_D_CANCELLED) {
            opi_pool_free(d);
            return false;
        }
        /* While the sender copies it aside, which may last as long as it likes: it may have lost its processor, or died. */
        if (s != OPI_D_BUFFERING || atomic_compare_exchange_strong_explicit(&d->state, &s, OPI_D_WANTED, memory_order_acq_rel, memory_order_acquire))
            return true;
    }
}

static void finish(struct opi_req *r, size_t n) {
    r->r_bytes = n < r->bytes_max ? n : r->bytes_max;
    if (OPI_UNLIKELY(n > r->bytes_max))
        r->r_error = MPI_ERR_TRUNCATE;
    r->done = true;
}

/* A buffer of the capacity that a take promises. */
bool opi_take_room(struct opi_req *r) {
    int cls = opi_class_of_size(r->room);
    r->block_class = cls;
    r->block = r->room <= OPI_REGION ? opi_pool_alloc_class(cls) : NULL;
    if (OPI_LIKELY(r->block != NULL)) {
        r->block_class = opi_class_of(r->block); /* a larger one when memory is short */
        return true;
    }
    r->r_error = MPI_ERR_NO_MEM;
    r->r_bytes = 0;
    r->done = true;
    return false;
}

/* From here on every call of progress looks whether the message of r can be completed. */
static void stream(struct opi_req *r, struct opi_desc *d) {
    r->pipe = d;
    r->snext = opi.streams;
    opi.streams = r;
    opi.nstreams++;
    opi.slow_work = true;
}

/* Only the MPI below can unpack it, which the helper must not call (with MPI_THREAD_MULTIPLE it may). */
static inline bool not_here(const struct opi_req *r) {
    return r->type->opaque && opi_helping && !opi.multiple;
}

/* The message is copied aside, for the owner thread. */
OPI_COLD static void put_off(struct opi_req *r, const void *data, size_t n, size_t m) {
    struct opi_desc *d = opi_desc_new(NULL, n, OPI_D_BUFFERED);
    void *block = d ? opi_pool_alloc(m) : NULL;
    if (!block) {
        if (d)
            opi_pool_free(d);
        r->r_error = MPI_ERR_NO_MEM;
        r->r_bytes = 0;
        r->done = true;
        return;
    }
    memcpy(block, data, m);
    d->block = block;
    atomic_store_explicit(&d->filled, n, memory_order_relaxed); /* nobody else has the desc */
    r->pipe_off = 0;
    r->aside = NULL;
    stream(r, d);
}

/* n packed bytes are the message; they stay the caller's. */
void opi_accept_bytes(struct opi_req *r, const void *data, size_t n) {
    size_t m = n < r->bytes_max ? n : r->bytes_max;
    char *to = r->buf;
    if (OPI_UNLIKELY(!r->type->contiguous) && m && not_here(r)) {
        put_off(r, data, n, m);
        return;
    }
    if (r->take) {
        if (!opi_take_room(r))
            return;
        to = r->block;
    }
    if (m) {
        if (OPI_LIKELY(r->type->contiguous))
            memcpy(to, data, m);
        else
            opi_unpack(r->type, to, r->count, data, m);
    }
    opi_profile_copied(m);
    finish(r, n);
}

/* A block with n packed bytes is the message, and it is ours now. */
void opi_accept_block(struct opi_req *r, void *block, size_t n) {
    if (OPI_LIKELY(r->take && r->type->contiguous && block)) {
        int cls = opi_class_of(block);
        if (OPI_LIKELY(opi_class_bytes[cls] >= r->room)) {
            r->block = block;
            r->block_class = cls;
            opi.stat.passed++;
            finish(r, n);
            return;
        }
    }
    opi.stat.copied++;
    opi_accept_bytes(r, block, n);
    if (block)
        opi_pool_free(block);
}

static void pipe_begin(struct opi_req *r, struct opi_desc *d) {
    r->pipe = d;
    r->pipe_off = 0;
    r->aside = NULL;
    if (!opi_pipe_poll(r))
        stream(r, d);
}

/* The data of a message that its sender lends are in its buffer, or packed in `to`. */
static void lent_came(struct opi_req *r, struct opi_desc *d, void *to) {
    size_t n = d->size;
    if (!r->type->contiguous) {
        opi_accept_bytes(r, to, n);
        if (to)
            opi_pool_free(to);
    } else {
        finish(r, n);
        opi_profile_copied(r->r_bytes);
    }
}

/* The reads of the data are over; the sender may write and free them. */
static void lent_over(struct opi_desc *d, int src) {
    atomic_store_explicit(&d->state, OPI_D_DONE, memory_order_release);
    opi_wake(src);
}

/* What was allowed when the job began is refused now, or not for this memory: the sender copies, when it gets to it. */
static void lent_refused(struct opi_req *r, struct opi_desc *d, int src, void *to) {
    if (to && (!r->type->contiguous || r->take))
        opi_pool_free(to);
    r->block = NULL;
    atomic_store_explicit(&d->state, OPI_D_REFUSED, memory_order_release);
    opi_wake(src);
}

/* The sender writes blocks of the message too; true when all have come. */
static bool co_poll(struct opi_req *r, struct opi_desc *d) {
    enum opi_lent is = opi_lent_more(d, r->src);
    if (is == OPI_LENT_COMING)
        return false;
    if (OPI_UNLIKELY(is == OPI_LENT_REFUSED)) {
        lent_refused(r, d, r->src, d->to);
        return false;
    }
    lent_came(r, d, d->to);
    lent_over(d, r->src);
    r->pipe = NULL;
    return true;
}

/* The request ends without the rest of its message. */
OPI_COLD void opi_stream_drop(struct opi_req *r) {
    for (struct opi_req **p = &opi.streams; *p; p = &(*p)->snext)
        if (*p == r) {
            *p = r->snext;
            opi.nstreams--;
            break;
        }
    free(r->aside);
    r->aside = NULL;
    r->pipe = NULL;
}

static bool accept_lent(struct opi_req *r, struct opi_desc *d, int src);

/* Copies what the sender has filled in since; true when the message is complete. */
bool opi_pipe_poll(struct opi_req *r) {
    struct opi_desc *d = r->pipe;
    uint32_t state = atomic_load_explicit(&d->state, memory_order_acquire);
    if (OPI_UNLIKELY(state == OPI_D_REFUSED || state == OPI_D_WANTED))
        return false; /* its sender has yet to copy */
    if (OPI_UNLIKELY(not_here(r)))
        return false;
    if (OPI_UNLIKELY(state == OPI_D_FLOWING))
        return opi_flow_in(r, d);
    if (state == OPI_D_COPYING)
        return co_poll(r, d);
    if (OPI_UNLIKELY(state == OPI_D_CLAIMED)) { /* the sender has no memory to copy it to */
        if (!accept_lent(r, d, r->src))
            return false;
        r->pipe = NULL;
        return true;
    }
    /* acquire: the bytes below `filled` are written. */
    size_t filled = atomic_load_explicit(&d->filled, memory_order_acquire);
    bool direct = !r->take && r->type->contiguous;
    if (direct) {
        size_t end = filled < r->bytes_max ? filled : r->bytes_max;
        if (end > r->pipe_off) {
            memcpy((char *)r->buf + r->pipe_off, (char *)d->block + r->pipe_off, end - r->pipe_off);
            r->pipe_off = end;
        }
    }
    if (filled < d->size)
        return false;
    if (d->accounted)
        credit(r->src, d->size);
    if (direct) {
        opi_profile_copied(r->pipe_off);
        opi_pool_free(d->block);
        finish(r, d->size);
    } else {
        opi_accept_block(r, d->block, d->size);
    }
    opi_pool_free(d);
    r->pipe = NULL;
    return true;
}

/* A message whose sender lends its memory until we say that we are done.  False: some of it has yet to come. */
static bool accept_lent(struct opi_req *r, struct opi_desc *d, int src) {
    size_t n = d->size, m = n < r->bytes_max ? n : r->bytes_max;
    bool direct = r->type->contiguous;
    if (OPI_UNLIKELY(d->flow)) {
        lent_refused(r, d, src, NULL);
        return false;
    }
    if (!direct && !d->remote) {
        opi_accept_bytes(r, d->addr, n);
        lent_over(d, src);
        return true;
    }
    void *to = direct ? r->buf : opi_pool_alloc(n); /* with gaps: aside, then unpacked */
    if (OPI_UNLIKELY(!direct && !to)) { /* no memory for that: it comes in pieces */
        lent_refused(r, d, src, NULL);
        return false;
    }
    if (direct && r->take) {
        to = opi_take_room(r) ? r->block : NULL;
    } else if (!to && m) {
        r->r_error = MPI_ERR_NO_MEM;
        r->r_bytes = 0;
        r->done = true;
    }
    if (!r->done) {
        enum opi_lent is = m ? opi_lent_to(d, src, to, direct ? m : n) : OPI_LENT_CAME;
        if (OPI_UNLIKELY(is == OPI_LENT_REFUSED))
            lent_refused(r, d, src, to);
        if (is != OPI_LENT_CAME)
            return false;
        lent_came(r, d, to);
    }
    lent_over(d, src);
    return true;
}

/* Hands a claimed envelope to a receive that is no longer posted. */
void opi_deliver(struct opi_req *r, const struct opi_slot *e, int src) {
    r->src = src;
    r->r_source = r->comm->rank_of_local[src];
    r->r_tag = e->tag;
    if (OPI_UNLIKELY(r->held))
        opi_net_unhold(r);
    switch (opi_env_kind(e)) {
    case OPI_K_INLINE:
        opi_accept_bytes(r, e->u.data, opi_env_len(e));
        return;
    case OPI_K_COPY:
        opi_accept_bytes(r, e->u.ref.ptr, e->u.ref.size);
        free(e->u.ref.ptr);
        return;
    case OPI_K_BLOCK:
        if (opi_env_len(e) & OPI_LEN_ACCOUNTED)
            credit(src, e->u.ref.size);
        opi_accept_block(r, e->u.ref.ptr, e->u.ref.size);
        return;
    case OPI_K_PIPE:
        pipe_begin(r, e->u.ref.ptr);
        return;
    default:
        break;
    }
    struct opi_desc *d = e->u.ref.ptr;
    uint32_t state = atomic_load_explicit(&d->state, memory_order_acquire);
    if (state == OPI_D_BUFFERED) {
        if (d->accounted)
            credit(src, d->size);
        opi_accept_block(r, d->block, d->size);
        opi_pool_free(d);
        return;
    }
    if (state == OPI_D_WANTED) {
        pipe_begin(r, d);
        return;
    }
    if (!d->owned) {
        if (!accept_lent(r, d, src))
            pipe_begin(r, d);
        return;
    }
    opi_accept_block(r, d->addr, d->size);
    atomic_store_explicit(&d->state, OPI_D_DONE, memory_order_release); /* the block is ours; the sender may go on */
    opi_wake(src);
}

/* An envelope comes out of a ring, or from ourselves. */
void opi_arrive(const struct opi_slot *e, int src) {
    struct opi_req *r = opi_match_posted(e->ctx, src, e->tag);
    if (!r) {
        opi_add_unexpected(e, src);
        return;
    }
    if (OPI_UNLIKELY(!opi_claim(e)))
        return;
    opi_unpost(r);
    opi_deliver(r, e, src);
    if (OPI_UNLIKELY(r->freed) && r->done && !r->retired)
        opi_req_free(r);
}

/* Collects the payload of a LONG message, whose envelope stands at `at` of the ring. */
static void gather(const struct opi_in *in, uint32_t at, void *to, size_t n) {
    const struct opi_slot *s = &in->ring->slot[at & in->mask];
    char *p = to;
    memcpy(p, s->u.data, OPI_INLINE_MAX);
    p += OPI_INLINE_MAX;
    n -= OPI_INLINE_MAX;
    for (;; p += OPI_MORE_BYTES, n -= OPI_MORE_BYTES) {
        s = &in->ring->slot[++at & in->mask];
        if (n <= OPI_MORE_BYTES)
            break;
        memcpy(p, (const char *)s + sizeof(uint32_t), OPI_MORE_BYTES);
    }
    memcpy(p, (const char *)s + sizeof(uint32_t), n);
}

static uint32_t slots_of(size_t n) {
    return 1 + (uint32_t)((n - OPI_INLINE_MAX + OPI_MORE_BYTES - 1) / OPI_MORE_BYTES);
}

/* A LONG message: straight into the buffer that waits for it, else through a copy. */
static void arrive_long(struct opi_in *in, uint32_t at, struct opi_req *r) {
    const struct opi_slot *s = &in->ring->slot[at & in->mask];
    size_t n = opi_env_len(s);
    if (OPI_LIKELY(r && r->type->contiguous && !r->held && !r->freed && n <= r->bytes_max)) {
        opi_unpost(r);
        r->src = in->src;
        r->r_source = r->comm->rank_of_local[in->src];
        r->r_tag = s->tag;
        if (r->take && !opi_take_room(r))
            return;
        gather(in, at, r->take ? r->block : r->buf, n);
        opi_profile_copied(n);
        finish(r, n);
        return;
    }
    struct opi_slot e = {.tag = s->tag, .ctx = s->ctx, .u.ref.size = n};
    e.u.ref.ptr = malloc(n);
    if (!e.u.ref.ptr)
        opi_die("out of memory for unexpected messages (%zu waiting)", opi_unexpected_now);
    gather(in, at, e.u.ref.ptr, n);
    atomic_store_explicit(&e.stamp, OPI_STAMP(0, OPI_K_COPY, 0), memory_order_relaxed);
    opi_arrive(&e, in->src);
}

/* Sends n bytes, more than OPI_INLINE_MAX, at most OPI_LONG_MAX, in ring slots.  False: no room. */
bool opi_ring_long(int dst, uint64_t ctx, int tag, const void *data, size_t n) {
    struct opi_slot *first = opi_ring_slot(dst);
    struct opi_out *o = &opi.out[dst];
    if (OPI_UNLIKELY(!first))
        return false;
    struct opi_ring *g = o->ring;
    uint32_t slots = slots_of(n), mask = g->nslots - 1, shift = (uint32_t)__builtin_ctz(g->nslots);
    if (OPI_UNLIKELY(o->tail + slots - o->head_seen > g->nslots)) {
        o->head_seen = atomic_load_explicit(&g->head, memory_order_acquire); /* as in opi_ring_slot */
        if (o->tail + slots - o->head_seen > g->nslots)
            return false;
    }
    const char *p = data;
    size_t left = n - OPI_INLINE_MAX;
    first->tag = tag;
    first->ctx = ctx;
    memcpy(first->u.data, p, OPI_INLINE_MAX);
    p += OPI_INLINE_MAX;
    for (uint32_t i = 1; i < slots; i++) {
        struct opi_slot *s = &g->slot[(o->tail + i) & mask];
        size_t m = left < OPI_MORE_BYTES ? left : OPI_MORE_BYTES;
        atomic_store_explicit(&s->stamp, OPI_STAMP(((o->tail + i) >> shift) + 1, OPI_K_MORE, 0), memory_order_relaxed); /* types.h */
        if (OPI_LIKELY(m == OPI_MORE_BYTES))
            memcpy((char *)s + sizeof(uint32_t), p, OPI_MORE_BYTES);
        else
            memcpy((char *)s + sizeof(uint32_t), p, m);
        p += m;
        left -= m;
    }
    uint32_t lap = (o->tail >> shift) + 1;
    o->tail += slots;
    atomic_store_explicit(&first->stamp, OPI_STAMP(lap, OPI_K_LONG, n), memory_order_release); /* publishes all the slots */
    opi_wake(dst);
    /* The slots of the next such message come back to our cache before it is sent.  Stores do that; a prefetch does nothing to a line that is there, shared. */
    for (uint32_t i = 0; i < slots && o->tail + i - o->head_seen < g->nslots; i++)
        g->slot[(o->tail + i) & mask].tag = 0;
    opi.stat.inline_msgs++;
    opi_profile_sent(OPI_W_INLINE, dst, n);
    return true;
}

/* Consumes the envelope that is ready in a ring.  One at a time: to look at the next slot would take its line from a producer that is about to write it,
 * and mostly what we waited for has come.  The usual messages, a block for a take and a few bytes for a plain buffer, are handled right here. */
void opi_progress_ring(struct opi_in *in) {
    struct opi_ring *g = in->ring;
    const struct opi_slot *s = &g->slot[in->head & in->mask];
    /* acquire: pairs with opi_ring_publish; the caller looked without. */
    (void)atomic_load_explicit(&((struct opi_slot *)(uintptr_t)s)->stamp, memory_order_acquire);
    uint32_t at = in->head++;
    int src = in->src, kind = opi_env_kind(s);
    struct opi_req *r = opi_match_posted(s->ctx, src, s->tag);
    if (OPI_LIKELY(r && kind == OPI_K_BLOCK && r->take && r->type->contiguous && !r->held && !r->freed)) {
        void *block = s->u.ref.ptr;
        size_t n = s->u.ref.size;
        int cls = opi_class_of(block);
        if (OPI_LIKELY(opi_class_bytes[cls] >= r->room)) {
            /* The program reads the buffer next; the hardware needs a few misses to see the stream. */
            for (size_t i = 0; i < n && i < OPI_PREFETCH_BYTES; i += OPI_LINE)
                __builtin_prefetch((char *)block + i);
            opi_unpost(r);
            r->src = src;
            r->r_source = r->comm->rank_of_local[src];
            r->r_tag = s->tag;
            r->block = block;
            r->block_class = cls;
            if (opi_env_len(s) & OPI_LEN_ACCOUNTED) {
                in->freed += n;
                atomic_store_explicit(&g->freed, in->freed, memory_order_release); /* as in credit() */
            }
            opi.stat.passed++;
            finish(r, n);
            goto consumed;
        }
    }
    if (OPI_LIKELY(r && kind == OPI_K_INLINE && r->type->contiguous && !r->held && !r->freed)) {
        opi_unpost(r);
        r->src = src;
        r->r_source = r->comm->rank_of_local[src];
        r->r_tag = s->tag;
        opi_accept_bytes(r, s->u.data, opi_env_len(s));
        goto consumed;
    }
    if (kind == OPI_K_LONG) {
        in->head = at + slots_of(opi_env_len(s));
        arrive_long(in, at, r);
        goto consumed;
    }
    opi_arrive(s, src);
consumed:
    /* A quarter of the ring at a time: the producer's line is written seldom, and it never waits for long.  What is consumed and not published, a quarter
     * at most, leaves room for the longest message also in the smallest ring of 16. */
    if (OPI_UNLIKELY(in->head - in->published > in->mask >> 2)) {
        in->published = in->head;
        atomic_store_explicit(&g->head, in->head, memory_order_release); /* we are done with those slots */
    }
}
