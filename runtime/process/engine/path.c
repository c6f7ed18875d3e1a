/* path.c - sends and gives inside the node: choosing the path of a message.
 *
 *   destination on this node:
 *     up to OPI_INLINE_MAX            payload rides in the envelope
 *     up to opi.inline_limit          payload rides in the envelope and the ring slots after it
 *     give                            the block travels in the envelope
 *     reachable, above the eager limit, or synchronous
 *                                     a desc points at the data; the receiver copies once, large ones with the sender's help
 *     private, from opi.kernel_min on the same, by process_vm_readv, where the kernel allows it
 *     else                            copied to a block; from opi.pipe_min on while the receiver already reads
 *     no memory for such a block      lent from private memory as above, or piece by piece through a small block
 *     more than opi.cap unmatched, or a synchronous give
 *                                     a desc owns the block, and the send completes when it is matched
 *   destination on another node, or a communicator that is not ours: the MPI below */
#include "process/below/net.h"
#include "process/engine/deliver.h"
#include "process/engine/path.h"
#include "process/engine/ring.h"
#include "process/heap/heap.h"
#include "process/objects/datatype.h"
#include "process/objects/request.h"

#include <stdlib.h>

#define PIPE_STEP ((size_t)64 << 10)

/* Sends an envelope.  True when it is in the ring (or delivered, to ourselves); false when it waits for room. */
static bool push(int dst, struct opi_slot *e, int kind, size_t len) {
    atomic_store_explicit(&e->stamp, OPI_STAMP(0, kind, len), memory_order_relaxed);
    if (dst == opi.me) {
        opi.stat.self_msgs++;
        opi_arrive(e, dst);
        return true;
    }
    struct opi_slot *s = opi_ring_slot(dst);
    if (OPI_UNLIKELY(!s)) {
        opi_queue_envelope(dst, e);
        return false;
    }
    s->tag = e->tag;
    s->ctx = e->ctx;
    memcpy(&s->u, &e->u, sizeof s->u);
    opi_ring_publish(dst, s, kind, len);
    return true;
}

/* Marks r complete once its envelope, the last one queued for dst, has left. */
static void after_push(struct opi_req *r, int dst, bool sent) {
    if (sent) {
        r->done = true;
        return;
    }
    r->kind = OPI_R_QUEUED;
    r->src = dst;
    r->mark = opi.out[dst].queued;
}

/* Whose the data of a desc are, and where. */
enum lent { LENT, LENT_PRIVATE, FLOWS, OWNED, GIVEN };

/* A desc whose sender waits for the receiver. */
static bool send_desc(struct opi_req *r, void *addr, size_t bytes, enum lent how, struct opi_comm *c, int dst, int tag, bool standard) {
    struct opi_desc *d = opi_desc_new(addr, bytes, OPI_D_OPEN);
    if (!d)
        return false;
    d->owned = how >= OWNED;
    d->remote = how == LENT_PRIVATE || how == FLOWS;
    d->flow = how == FLOWS;
    struct opi_slot e = {.tag = tag, .ctx = c->ctx, .u.ref = {d, bytes}};
    r->kind = OPI_R_DESC;
    r->desc = d;
    r->ctx = c->ctx;
    r->src = dst;
    r->standard = standard;
    r->since = 0;
    if (d->remote || r->aside || (dst != opi.me && how == LENT && bytes >= opi.co_min))
        opi_lend(r);
    push(dst, &e, OPI_K_RNDV, 0);
    opi.stat.rndv_msgs++;
    opi_profile_sent(how == GIVEN ? OPI_W_GIVE : how == OWNED || how == FLOWS ? OPI_W_BLOCK : how == LENT ? OPI_W_REF : OPI_W_KERNEL, dst, bytes);
    return true;
}

/* The heap is full.  Then a message lies in private memory, and waits for its receiver, to whom the kernel copies it, or it flows through a small block.  False:
 * no private memory either. */
OPI_COLD static bool send_scarce(const void *buf, size_t count, struct opi_type *t, struct opi_comm *c, int dst, int tag, int mode, struct opi_req *r) {
    size_t bytes = count * t->size;
    void *aside = NULL;
    if (!t->contiguous || mode == OPI_BUFFERED || (dst == opi.me && mode != OPI_SYNC)) {
        aside = malloc(bytes);
        if (!aside)
            return false;
        opi_pack(t, buf, count, aside);
    }
    if (dst == opi.me && mode != OPI_SYNC) {
        struct opi_slot e = {.tag = tag, .ctx = c->ctx, .u.ref = {aside, bytes}};
        after_push(r, dst, push(dst, &e, OPI_K_COPY, 0));
        opi_profile_sent(OPI_W_BLOCK, dst, bytes);
        return true;
    }
    struct opi_req *own = mode == OPI_BUFFERED ? opi_req_new(OPI_R_SENT) : r; /* a buffered send is over for its caller */
    own->aside = aside;
    if (!send_desc(own, aside ? aside : (void *)(uintptr_t)buf, bytes, dst == opi.me ? LENT : opi.kernel_copy ? LENT_PRIVATE : FLOWS, c, dst, tag, false)) {
        own->aside = NULL;
        free(aside);
        if (own != r)
            opi_req_free(own);
        return false;
    }
    if (own != r) {
        own->freed = true;
        opi_net_retire_req(own);
        r->done = true;
    }
    return true;
}

/* Starts a send that the fast path did not take; r becomes its request.  False: out of memory, nothing was sent. */
bool opi_send_start(const void *buf, size_t count, struct opi_type *t, struct opi_comm *c, int dst, int tag, int mode, struct opi_req *r) {
    size_t bytes = count * t->size;
    bool sync = mode == OPI_SYNC;
    struct opi_slot e = {.tag = tag, .ctx = c->ctx};
    r->kind = OPI_R_SENT;
    r->src = dst;
    if (bytes <= OPI_INLINE_MAX && !sync) {
        if (bytes)
            opi_pack(t, buf, count, e.u.data);
        after_push(r, dst, push(dst, &e, OPI_K_INLINE, bytes));
        opi.stat.inline_msgs++;
        opi_profile_sent(OPI_W_INLINE, dst, bytes);
        return true;
    }
    if (bytes <= opi.inline_limit && !sync && dst != opi.me) {
        unsigned char packed[OPI_LONG_MAX];
        if (!t->contiguous)
            opi_pack(t, buf, count, packed);
        if (opi_ring_long(dst, c->ctx, tag, t->contiguous ? buf : packed, bytes)) {
            r->done = true;
            return true;
        }
    }
    if (t->contiguous && opi_reachable(buf, bytes) && (sync || (bytes > opi.eager_limit && mode == OPI_STANDARD)))
        return send_desc(r, (void *)(uintptr_t)buf, bytes, LENT, c, dst, tag, !sync);
    if (t->contiguous && opi.kernel_copy && bytes >= opi.kernel_min && mode != OPI_BUFFERED && dst != opi.me)
        return send_desc(r, (void *)(uintptr_t)buf, bytes, LENT_PRIVATE, c, dst, tag, !sync);
    void *block = opi_pool_alloc(OPI_LIKELY(bytes >= c->least) ? bytes : c->least);
    if (OPI_UNLIKELY(!block))
        return send_scarce(buf, count, t, c, dst, tag, mode, r);
    bool room = !sync && (mode == OPI_BUFFERED || opi_account(dst, bytes));
    if (!room) {
        opi_pack(t, buf, count, block);
        if (send_desc(r, block, bytes, OWNED, c, dst, tag, !sync))
            return true;
        opi_pool_free(block);
        return false;
    }
    bool accounted = mode != OPI_BUFFERED;
    if (t->contiguous && bytes >= opi.pipe_min && dst != opi.me) {
        struct opi_desc *d = opi_desc_new(NULL, bytes, OPI_D_BUFFERED);
        if (d) {
            d->block = block;
            d->accounted = accounted;
            e.u.ref.ptr = d;
            e.u.ref.size = bytes;
            after_push(r, dst, push(dst, &e, OPI_K_PIPE, 0));
            opi.stat.pipe_msgs++;
            opi_profile_sent(OPI_W_PIPE, dst, bytes);
            for (size_t at = 0; at < bytes;) {
                size_t n = bytes - at < PIPE_STEP ? bytes - at : PIPE_STEP;
                memcpy((char *)block + at, (const char *)buf + at, n);
                at += n;
                atomic_store_explicit(&d->filled, at, memory_order_release); /* the bytes below it; the last store hands block and desc over */
            }
            return true;
        }
    }
    opi_pack(t, buf, count, block);
    e.u.ref.ptr = block;
    e.u.ref.size = bytes;
    after_push(r, dst, push(dst, &e, OPI_K_BLOCK, accounted ? OPI_LEN_ACCOUNTED : 0));
    opi.stat.block_msgs++;
    opi_profile_sent(OPI_W_BLOCK, dst, bytes);
    return true;
}

/* The same for a give that is complete when it is received: a desc owns the block, or one with the packed data. */
static int give_sync(void *block, size_t count, struct opi_type *t, struct opi_comm *c, int dst, int tag, struct opi_req *r) {
    size_t bytes = count * t->size;
    void *given = block;
    r->src = dst;
    if (!block || !t->contiguous) {
        given = opi_pool_alloc(OPI_LIKELY(bytes >= c->least) ? bytes : c->least);
        if (!given)
            return MPI_ERR_NO_MEM;
        if (bytes)
            opi_pack(t, block, count, given);
    }
    if (!send_desc(r, given, bytes, GIVEN, c, dst, tag, false)) {
        if (given != block)
            opi_pool_free(given);
        return MPI_ERR_NO_MEM;
    }
    if (block && given != block)
        opi_pool_free(block);
    return MPI_SUCCESS;
}

/* Starts a give of a block that the user no longer owns. Returns an error class, and then the block is untouched. */
int opi_give_start(void *block, size_t count, struct opi_type *t, struct opi_comm *c, int dst, int tag, int mode, struct opi_req *r) {
    size_t bytes = count * t->size;
    if (mode == OPI_SYNC)
        return give_sync(block, count, t, c, dst, tag, r);
    if (bytes <= OPI_INLINE_MAX || !t->contiguous) {
        if (!opi_send_start(block, count, t, c, dst, tag, OPI_STANDARD, r))
            return MPI_ERR_NO_MEM;
        if (block)
            opi_pool_free(block);
        return MPI_SUCCESS;
    }
    r->kind = OPI_R_SENT;
    r->src = dst;
    if (OPI_LIKELY(opi_account(dst, bytes))) {
        struct opi_slot e = {.tag = tag, .ctx = c->ctx, .u.ref = {block, bytes}};
        after_push(r, dst, push(dst, &e, OPI_K_BLOCK, OPI_LEN_ACCOUNTED));
        opi.stat.give_msgs++;
        opi_profile_sent(OPI_W_GIVE, dst, bytes);
        return MPI_SUCCESS;
    }
    return send_desc(r, block, bytes, GIVEN, c, dst, tag, true) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}
