/* p2p.c - sends, gives, receives and takes: choosing the path of a message.
 *
 *   destination on this node:
 *     up to the inline limit          payload rides in the envelope
 *     give                            the block travels in the envelope
 *     reachable, above the eager limit, or synchronous
 *                                     a desc points at the data; the receiver copies once
 *     else                            copied to a block; from opi.pipe_min on while the receiver already reads
 *     more than opi.cap unmatched     a desc owns the block, and the send completes when it is matched
 *   destination on another node, or a communicator that is not ours: the MPI below */
#include "internal.h"

#define EXPORT __attribute__((visibility("default")))
#define PIPE_STEP ((size_t)64 << 10)

/* ---- arguments -------------------------------------------------------------------------------------------------------------------------------- */

struct args {
    const char *call;
    struct opi_comm *c;
    struct opi_type *t;
    size_t bytes;
};

OPI_COLD static int bad(MPI_Comm comm, int class, const char *call, const char *what, long long value) {
    opi_leave();
    int rc = opi_raise(comm, class, call, "%s (%lld)", what, value);
    opi_enter();
    return rc;
}

/* Looks the handles up and checks the envelope.  Inside enter/leave.  Returns an error class that has been raised. */
static inline int check(struct args *a, const char *call, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, bool recv) {
    a->call = call;
    if (OPI_UNLIKELY(!opi.mpi_running)) {
        opi_die("%s called %s", call, opi.mpi_over ? "after MPI_Finalize" : "before MPI_Init");
    }
    a->c = opi_comm_of(comm);
    if (OPI_UNLIKELY(!a->c))
        return bad(MPI_COMM_WORLD, MPI_ERR_COMM, call, "null or invalid communicator", 0);
    if (OPI_UNLIKELY(count < 0))
        return bad(comm, MPI_ERR_COUNT, call, "negative count", (long long)count);
    a->t = opi_type_of(type);
    if (OPI_UNLIKELY(!a->t))
        return bad(comm, MPI_ERR_TYPE, call, "null or invalid datatype", 0);
    if (OPI_UNLIKELY((tag < 0 && !(recv && tag == MPI_ANY_TAG)) || tag > a->c->tag_ub) && peer != MPI_PROC_NULL)
        return bad(comm, MPI_ERR_TAG, call, "invalid tag", tag);
    if (OPI_UNLIKELY((peer < 0 || peer >= a->c->size) && peer != MPI_PROC_NULL && !(recv && peer == MPI_ANY_SOURCE)))
        return bad(comm, MPI_ERR_RANK, call, "invalid rank", peer);
    a->bytes = (size_t)count * a->t->size;
    return MPI_SUCCESS;
}

static inline bool null_buffer(const struct args *a, const void *buf) {
    return OPI_UNLIKELY(buf == NULL && a->bytes && a->t->named);
}

/* Local index of a peer whose messages are ours, else -1. */
static inline int local_of(const struct opi_comm *c, int peer) {
    return OPI_LIKELY(c->active) ? c->local_of_rank[peer] : -1;
}

/* ---- sending inside the node --------------------------------------------------------------------------------------------------------------------- */

/* Sends an envelope.  True when it is in the ring (or delivered, to ourselves); false when it waits for room. */
static bool push(int dst, struct opi_slot *e, int kind, size_t len) {
    atomic_store_explicit(&e->stamp, (uint32_t)kind << 8 | (uint32_t)len, memory_order_relaxed);
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

/* A desc whose sender waits for the receiver. */
static bool send_desc(struct opi_req *r, void *addr, size_t bytes, bool owned, struct opi_comm *c, int dst, int tag, bool standard) {
    struct opi_desc *d = opi_desc_new(addr, bytes, OPI_D_OPEN);
    if (!d)
        return false;
    d->owned = owned;
    struct opi_slot e = {.tag = tag, .ctx = c->ctx, .u.ref = {d, bytes}};
    r->kind = OPI_R_DESC;
    r->desc = d;
    r->src = dst;
    r->standard = standard;
    push(dst, &e, OPI_K_RNDV, 0);
    opi.stat.rndv_msgs++;
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
        return true;
    }
    if (t->contiguous && opi_reachable(buf, bytes) && (sync || (bytes > opi.eager_limit && mode == OPI_STANDARD)))
        return send_desc(r, (void *)(uintptr_t)buf, bytes, false, c, dst, tag, !sync);
    void *block = opi_pool_alloc(bytes);
    if (!block)
        return false;
    bool room = !sync && (mode == OPI_BUFFERED || opi_account(dst, bytes));
    if (!room) {
        opi_pack(t, buf, count, block);
        if (send_desc(r, block, bytes, true, c, dst, tag, !sync))
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
    return true;
}

/* Starts a give of a block that the user no longer owns. Returns an error class, and then the block is untouched. */
int opi_give_start(void *block, size_t count, struct opi_type *t, struct opi_comm *c, int dst, int tag, struct opi_req *r) {
    size_t bytes = count * t->size;
    if (bytes <= OPI_INLINE_MAX || !t->contiguous) {
        if (!opi_send_start(block, count, t, c, dst, tag, OPI_STANDARD, r))
            return MPI_ERR_NO_MEM;
        if (r->kind == OPI_R_DESC && !r->desc->owned && !r->done) { /* cannot be: only contiguous data are lent */
            return MPI_ERR_INTERN;
        }
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
        return MPI_SUCCESS;
    }
    return send_desc(r, block, bytes, true, c, dst, tag, true) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* The path that most messages take: small and contiguous, room in the ring. */
static inline bool send_fast(const void *buf, const struct args *a, int dst, int tag) {
    if (OPI_UNLIKELY(a->bytes > OPI_INLINE_MAX || !a->t->contiguous || dst == opi.me))
        return false;
    struct opi_slot *s = opi_ring_slot(dst);
    if (OPI_UNLIKELY(!s))
        return false;
    s->tag = tag;
    s->ctx = a->c->ctx;
    if (a->bytes)
        memcpy(s->u.data, buf, a->bytes);
    opi_ring_publish(dst, s, OPI_K_INLINE, a->bytes);
    opi.stat.inline_msgs++;
    return true;
}

static inline bool give_fast(void *block, const struct args *a, int dst, int tag) {
    if (a->bytes <= OPI_INLINE_MAX) {
        if (!send_fast(block, a, dst, tag))
            return false;
        if (block)
            opi_pool_free(block);
        return true;
    }
    if (OPI_UNLIKELY(!a->t->contiguous || dst == opi.me))
        return false;
    struct opi_slot *s = opi_ring_slot(dst);
    if (OPI_UNLIKELY(!s) || OPI_UNLIKELY(!opi_account(dst, a->bytes)))
        return false;
    s->tag = tag;
    s->ctx = a->c->ctx;
    s->u.ref.ptr = block;
    s->u.ref.size = a->bytes;
    opi_ring_publish(dst, s, OPI_K_BLOCK, OPI_LEN_ACCOUNTED);
    opi.stat.give_msgs++;
    return true;
}

/* ---- receiving -------------------------------------------------------------------------------------------------------------------------------------- */

/* Takes a message that is there, or posts the receive. */
void opi_recv_start(struct opi_req *r) {
    struct opi_umsg *m;
    while (OPI_UNLIKELY((m = opi_find_unexpected(r)) != NULL)) {
        if (OPI_LIKELY(opi_claim(&m->env))) {
            opi_deliver(r, &m->env, m->src);
            opi_drop_unexpected(m);
            return;
        }
        opi_drop_unexpected(m);
    }
    opi_post(r);
}

/* Bytes that a taken buffer must hold. */
static inline size_t take_room(const struct args *a, size_t count) {
    if (OPI_LIKELY(a->t->contiguous))
        return a->bytes;
    if (count == 0)
        return 0;
    ptrdiff_t span = a->t->extent * (ptrdiff_t)count, last = a->t->extent * (ptrdiff_t)(count - 1) + a->t->true_lb + a->t->true_extent;
    ptrdiff_t most = span > last ? span : last;
    return most > 0 ? (size_t)most : 0;
}

/* Fills in a receive request; `r` is zero apart from its kind and handle. */
static inline void recv_fill(struct opi_req *r, const struct args *a, void *buf, size_t count, int source, int tag, bool take) {
    r->kind = OPI_R_RECV;
    r->done = false;
    r->take = take;
    r->any_source = source == MPI_ANY_SOURCE;
    r->any_tag = tag == MPI_ANY_TAG;
    r->posted = r->held = r->freed = r->cancelled = r->raised = false;
    r->src = -1;
    r->tag = tag;
    r->ctx = a->c->ctx;
    r->comm = a->c;
    r->type = a->t;
    r->count = count;
    r->buf = buf;
    r->bytes_max = a->bytes;
    r->block = NULL;
    r->pipe = NULL;
    r->r_error = MPI_SUCCESS;
    r->room = take ? take_room(a, count) : 0; /* beyond the region: refused when memory is wanted */
    r->net_rank = source;
}

/* Starts a receive or take whose request is r.  Returns an MPI error code of the MPI below, or success. */
static int recv_go(struct opi_req *r, const struct args *a, void *buf, size_t count, MPI_Datatype type, int source, int tag, bool take) {
    struct opi_comm *c = a->c;
    recv_fill(r, a, buf, count, source, tag, take);
    if (source == MPI_PROC_NULL) {
        r->r_source = MPI_PROC_NULL;
        r->r_tag = MPI_ANY_TAG;
        r->r_bytes = 0;
        r->done = true;
        if (take && !(r->block = opi_pool_alloc(r->room)))
            r->r_error = MPI_ERR_NO_MEM;
        else if (take)
            r->block_class = opi_class_of(r->block);
        return MPI_SUCCESS;
    }
    if (OPI_LIKELY(c->active)) {
        if (source == MPI_ANY_SOURCE) {
            opi_recv_start(r);
            if (c->mixed && !r->done && !r->pipe)
                opi_net_hold(r);
            return MPI_SUCCESS;
        }
        r->src = c->local_of_rank[source];
        if (OPI_LIKELY(r->src >= 0)) {
            opi_recv_start(r);
            return MPI_SUCCESS;
        }
        if (OPI_UNLIKELY(opi_net_must_hold(c, source, tag))) {
            r->kind = OPI_R_NETHELD;
            opi_net_hold(r);
            return MPI_SUCCESS;
        }
    }
    r->kind = OPI_R_NETRECV;
    r->native = MPI_REQUEST_NULL;
    opi.stat.net_msgs++;
    void *to = buf;
    if (take) {
        to = r->block = opi_pool_alloc(r->room);
        if (!to) {
            r->kind = OPI_R_RECV;
            r->done = true;
            r->r_error = MPI_ERR_NO_MEM;
            r->r_bytes = 0;
            return MPI_SUCCESS;
        }
        r->block_class = opi_class_of(to);
    }
    int rc = opi_net_irecv(to, count, type, source, tag, c->handle, &r->native);
    if (rc != MPI_SUCCESS && r->block)
        opi_pool_free(r->block);
    return rc;
}

static int recv_block(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status, bool take) {
    struct args a;
    opi_enter();
    int rc = check(&a, call, count, type, source, tag, comm, true);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    if (!take && null_buffer(&a, buf) && source != MPI_PROC_NULL) {
        rc = bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
        opi_leave();
        return rc;
    }
    if (take && OPI_UNLIKELY(a.t->true_lb < 0)) {
        rc = bad(comm, MPI_ERR_TYPE, call, "datatype that starts before its origin, bytes", (long long)a.t->true_lb);
        opi_leave();
        return rc;
    }
    /* Nothing of ours needs progress: the MPI below may wait as it likes. */
    if (!take && OPI_UNLIKELY(source != MPI_PROC_NULL && (!a.c->active || (source != MPI_ANY_SOURCE && a.c->local_of_rank[source] < 0))) &&
        !opi.nposted && !opi.nqueued && !opi.nstreams && !opi.nheld && count <= INT32_MAX) {
        opi.stat.net_msgs++;
        opi_leave();
        return PMPI_Recv(buf, (int)count, type, source, tag, comm, status);
    }
    struct opi_req r;
    r.on_stack = true;
    rc = recv_go(&r, &a, buf, (size_t)count, type, source, tag, take);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    if (!r.done)
        opi_req_wait(&r);
    rc = opi_req_complete(&r, status);
    bool raised = r.raised;
    opi_leave();
    if (OPI_UNLIKELY(rc != MPI_SUCCESS) && !raised)
        opi_raise(comm, rc, call, rc == MPI_ERR_TRUNCATE ? "message longer than the buffer of %zu bytes" : "no memory for %zu bytes", a.bytes);
    return rc;
}

static int recv_nonblock(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request,
                         bool take) {
    struct args a;
    opi_enter();
    int rc = check(&a, call, count, type, source, tag, comm, true);
    if (rc == MPI_SUCCESS && !take && null_buffer(&a, buf) && source != MPI_PROC_NULL)
        rc = bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
    if (rc == MPI_SUCCESS && take && OPI_UNLIKELY(a.t->true_lb < 0))
        rc = bad(comm, MPI_ERR_TYPE, call, "datatype that starts before its origin, bytes", (long long)a.t->true_lb);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    /* A plain receive that only the MPI below can match needs no request of ours. */
    if (!take && source != MPI_PROC_NULL && (!a.c->active || (source != MPI_ANY_SOURCE && a.c->local_of_rank[source] < 0)) &&
        !(a.c->active && opi_net_must_hold(a.c, source, tag))) {
        opi.stat.net_msgs++;
        opi_leave();
        return opi_net_irecv(buf, (size_t)count, type, source, tag, comm, request);
    }
    struct opi_req *r = opi_req_new(OPI_R_RECV);
    rc = recv_go(r, &a, buf, (size_t)count, type, source, tag, take);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_req_free(r);
        opi_leave();
        return rc;
    }
    r->comm->refs++;
    if (!r->type->named)
        r->type->refs++;
    if (take) {
        void *null = NULL;
        memcpy(buf, &null, sizeof null);
    }
    *request = opi_req_handle(r);
    opi_leave();
    return MPI_SUCCESS;
}

/* The paths that most calls take: the communicator and datatype of the call before, a peer of this node, nothing out of order.  False: nothing was done,
 * and the long way sorts out why. */
static inline bool usual(MPI_Comm comm, MPI_Datatype type, MPI_Count count, int peer, int tag) {
    const struct opi_comm *c = opi.last_comm;
    return OPI_LIKELY(!opi.special && c && opi.last_comm_handle == comm && c->active && opi.last_type && opi.last_type_handle == type &&
                      opi.last_type->contiguous && count >= 0 && (unsigned)tag <= (unsigned)c->tag_ub && (unsigned)peer < (unsigned)c->size);
}

static inline bool irecv_fast(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request, bool take) {
    opi_enter();
    struct opi_req *r = opi_req_pool;
    if (OPI_UNLIKELY(!usual(comm, type, count, source, tag) || !r || opi_unexpected_now)) {
        opi_leave();
        return false;
    }
    struct opi_comm *c = opi.last_comm;
    struct opi_type *t = opi.last_type;
    int src = c->local_of_rank[source];
    size_t bytes = (size_t)count * t->size;
    if (OPI_UNLIKELY(src < 0 || (!take && !buf && bytes))) {
        opi_leave();
        return false;
    }
    opi_req_pool = r->free_next;
    r->kind = OPI_R_RECV;
    r->done = false;
    r->take = take;
    r->any_source = r->any_tag = false;
    r->posted = true;
    r->held = r->freed = false;
    r->cancelled = r->standard = r->on_stack = r->raised = false;
    r->r_error = MPI_SUCCESS;
    r->src = src;
    r->tag = tag;
    r->ctx = c->ctx;
    r->comm = c;
    r->type = t;
    r->count = (size_t)count;
    r->buf = buf;
    r->bytes_max = bytes;
    r->room = bytes;
    r->block = NULL;
    r->pipe = NULL;
    r->polls = 0;
    r->net_rank = source;
    c->refs++;
    opi_post_exact(r);
    if (take) {
        void *null = NULL;
        memcpy(buf, &null, sizeof null);
    }
    *request = opi_req_handle(r);
    opi_leave();
    return true;
}

/* A give that leaves at once. */
static inline bool give_whole(void *bufp, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    opi_enter();
    if (OPI_UNLIKELY(!usual(comm, type, count, dest, tag))) {
        opi_leave();
        return false;
    }
    struct opi_comm *c = opi.last_comm;
    int dst = c->local_of_rank[dest];
    size_t bytes = (size_t)count * opi.last_type->size;
    void *block, *null = NULL;
    memcpy(&block, bufp, sizeof block);
    uint8_t *held = opi_held_by_user(block);
    struct opi_slot *s;
    if (OPI_UNLIKELY(dst < 0 || dst == opi.me || !held || bytes > opi_class_bytes[*held - 1] || !(s = opi_ring_slot(dst)))) {
        opi_leave();
        return false;
    }
    s->tag = tag;
    s->ctx = c->ctx;
    if (bytes <= OPI_INLINE_MAX) {
        memcpy(s->u.data, block, OPI_INLINE_MAX); /* every block is larger */
        opi_ring_publish(dst, s, OPI_K_INLINE, bytes);
        opi_pool_free_class(block, *held - 1);
        opi.stat.inline_msgs++;
    } else {
        if (OPI_UNLIKELY(!opi_account(dst, bytes))) {
            opi_leave();
            return false;
        }
        s->u.ref.ptr = block;
        s->u.ref.size = bytes;
        opi_ring_publish(dst, s, OPI_K_BLOCK, OPI_LEN_ACCOUNTED);
        opi.stat.give_msgs++;
    }
    *held = 0;
    memcpy(bufp, &null, sizeof null);
    opi_leave();
    return true;
}

/* ---- MPI_Send and its family ----------------------------------------------------------------------------------------------------------------------- */

static int send_block(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, int mode) {
    struct args a;
    opi_enter();
    int rc = check(&a, call, count, type, dest, tag, comm, false);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    if (OPI_UNLIKELY(dest == MPI_PROC_NULL)) {
        opi_leave();
        return MPI_SUCCESS;
    }
    if (null_buffer(&a, buf)) {
        rc = bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
        opi_leave();
        return rc;
    }
    int dst = local_of(a.c, dest);
    if (OPI_UNLIKELY(dst < 0)) {
        bool idle = !opi.nposted && !opi.nqueued && !opi.nstreams && !opi.nheld;
        opi.stat.net_msgs++;
        opi_leave();
        return opi_net_send(buf, (size_t)count, type, dest, tag, comm, mode, idle);
    }
    if (mode != OPI_SYNC && OPI_LIKELY(send_fast(buf, &a, dst, tag))) {
        opi_leave();
        return MPI_SUCCESS;
    }
    struct opi_req r = {.on_stack = true};
    if (OPI_UNLIKELY(!opi_send_start(buf, (size_t)count, a.t, a.c, dst, tag, mode, &r))) {
        rc = bad(comm, MPI_ERR_NO_MEM, call, "the shared heap is exhausted, bytes wanted", (long long)a.bytes);
        opi_leave();
        return rc;
    }
    if (!r.done && mode != OPI_BUFFERED)
        opi_req_wait(&r);
    opi_leave();
    return MPI_SUCCESS;
}

static int send_nonblock(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request,
                         int mode) {
    struct args a;
    opi_enter();
    int rc = check(&a, call, count, type, dest, tag, comm, false);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    if (OPI_UNLIKELY(dest == MPI_PROC_NULL)) {
        *request = opi_req_handle(&opi_sent);
        opi_leave();
        return MPI_SUCCESS;
    }
    if (null_buffer(&a, buf)) {
        rc = bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
        opi_leave();
        return rc;
    }
    int dst = local_of(a.c, dest);
    if (OPI_UNLIKELY(dst < 0)) {
        opi.stat.net_msgs++;
        opi_leave();
        return opi_net_isend(buf, (size_t)count, type, dest, tag, comm, mode, request);
    }
    if (mode != OPI_SYNC && OPI_LIKELY(send_fast(buf, &a, dst, tag))) {
        *request = opi_req_handle(&opi_sent);
        opi_leave();
        return MPI_SUCCESS;
    }
    struct opi_req *r = opi_req_new(OPI_R_SENT);
    if (OPI_UNLIKELY(!opi_send_start(buf, (size_t)count, a.t, a.c, dst, tag, mode, r))) {
        opi_req_free(r);
        rc = bad(comm, MPI_ERR_NO_MEM, call, "the shared heap is exhausted, bytes wanted", (long long)a.bytes);
        opi_leave();
        return rc;
    }
    if (r->done) {
        opi_req_free(r);
        *request = opi_req_handle(&opi_sent);
    } else {
        *request = opi_req_handle(r);
    }
    opi_leave();
    return MPI_SUCCESS;
}

/* ---- gives ------------------------------------------------------------------------------------------------------------------------------------------- */

/* Starts a give; *sent tells whether it is complete, else r is its request.  Errors were raised, and left pointer and ownership. */
static inline int give(const char *call, void *bufp, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, struct opi_req **rp, bool *sent) {
    struct args a;
    int rc = check(&a, call, count, type, dest, tag, comm, false);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS))
        return rc;
    void *block, *null = NULL;
    memcpy(&block, bufp, sizeof block);
    uint8_t *held = opi_held_by_user(block);
    if (OPI_UNLIKELY(!held) && !(block == NULL && (count == 0 || dest == MPI_PROC_NULL)))
        return bad(comm, MPI_ERR_BUFFER, call, block ? "buffer that the caller does not own, address" : "null buffer, count",
                   block ? (long long)(intptr_t)block : (long long)count);
    *sent = true;
    if (OPI_UNLIKELY(dest == MPI_PROC_NULL)) {
        if (block) {
            int cls = *held - 1;
            *held = 0;
            opi_pool_free_class(block, cls);
        }
        memcpy(bufp, &null, sizeof null);
        return MPI_SUCCESS;
    }
    if (OPI_UNLIKELY(block && (ptrdiff_t)a.bytes > 0 &&
                     ((size_t)(a.t->contiguous ? (ptrdiff_t)a.bytes : a.t->extent * ((ptrdiff_t)count - 1) + a.t->true_lb + a.t->true_extent) >
                          opi_class_size(*held - 1) ||
                      a.t->true_lb < 0)))
        return bad(comm, MPI_ERR_BUFFER, call, "more elements than the buffer holds, count", (long long)count);
    int dst = local_of(a.c, dest);
    if (OPI_UNLIKELY(dst < 0)) {
        opi.stat.net_msgs++;
        struct opi_req *r = *rp ? *rp : (*rp = opi_req_new(OPI_R_SENT));
        rc = opi_net_isend(block, (size_t)count, type, dest, tag, comm, OPI_STANDARD, &r->native);
        if (rc != MPI_SUCCESS)
            return rc;
        r->kind = OPI_R_NETSEND;
        r->block = block;
        r->done = false;
        r->comm = NULL;
        r->type = NULL;
        *sent = false;
    } else if (OPI_UNLIKELY(!give_fast(block, &a, dst, tag))) {
        struct opi_req *r = *rp ? *rp : (*rp = opi_req_new(OPI_R_SENT));
        rc = opi_give_start(block, (size_t)count, a.t, a.c, dst, tag, r);
        if (rc != MPI_SUCCESS)
            return bad(comm, rc, call, "the shared heap is exhausted, bytes wanted", (long long)a.bytes);
        *sent = r->done;
    }
    if (block)
        *held = 0;
    memcpy(bufp, &null, sizeof null);
    return MPI_SUCCESS;
}

EXPORT int OPI_Give(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    if (OPI_LIKELY(give_whole(bufp, count, type, dest, tag, comm)))
        return MPI_SUCCESS;
    struct opi_req *r = NULL;
    bool sent;
    opi_enter();
    int rc = give("OPI_Give", bufp, count, type, dest, tag, comm, &r, &sent);
    if (OPI_UNLIKELY(r != NULL)) {
        if (rc == MPI_SUCCESS) {
            opi_req_wait(r);
            rc = opi_req_complete(r, MPI_STATUS_IGNORE);
        } else {
            opi_req_free(r);
        }
    }
    opi_leave();
    return rc;
}

OPI_COLD static int igive_slow(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    bool sent;
    struct opi_req *r = NULL;
    opi_enter();
    int rc = give("OPI_Igive", bufp, count, type, dest, tag, comm, &r, &sent);
    if (OPI_LIKELY(rc == MPI_SUCCESS))
        *request = opi_req_handle(sent ? &opi_sent : r);
    if (OPI_UNLIKELY(r != NULL) && (rc != MPI_SUCCESS || sent))
        opi_req_free(r);
    opi_leave();
    return rc;
}

EXPORT int OPI_Igive(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    if (OPI_LIKELY(give_whole(bufp, count, type, dest, tag, comm))) {
        *request = opi_req_handle(&opi_sent);
        return MPI_SUCCESS;
    }
    return igive_slow(bufp, count, type, dest, tag, comm, request);
}

EXPORT int OPI_Take(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    return recv_block("OPI_Take", bufp, count, type, source, tag, comm, status, true);
}

EXPORT int OPI_Itake(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    if (OPI_LIKELY(irecv_fast(bufp, count, type, source, tag, comm, request, true)))
        return MPI_SUCCESS;
    return recv_nonblock("OPI_Itake", bufp, count, type, source, tag, comm, request, true);
}

/* ---- both ways ---------------------------------------------------------------------------------------------------------------------------------------- */

static int sendrecv(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, bool gives, void *rbuf, MPI_Count rcount,
                    MPI_Datatype rtype, int source, int rtag, bool takes, MPI_Comm comm, MPI_Status *status) {
    MPI_Request rq = MPI_REQUEST_NULL, sq = MPI_REQUEST_NULL;
    void *taken = NULL;
    /* The send goes out first when it only hands a pointer over: then one pointer may serve both ways. */
    int rc = recv_nonblock(call, takes ? (void *)&taken : rbuf, rcount, rtype, source, rtag, comm, &rq, takes);
    if (rc != MPI_SUCCESS)
        return rc;
    if (gives) {
        bool sent;
        opi_enter();
        struct opi_req *r = NULL;
        rc = give(call, (void *)(uintptr_t)sbuf, scount, stype, dest, stag, comm, &r, &sent);
        if (rc == MPI_SUCCESS && !sent)
            sq = opi_req_handle(r);
        else if (r)
            opi_req_free(r);
        opi_leave();
    } else {
        rc = send_nonblock(call, sbuf, scount, stype, dest, stag, comm, &sq, OPI_STANDARD);
    }
    if (rc != MPI_SUCCESS) {
        MPI_Cancel(&rq);
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        return rc;
    }
    if (opi_is_ours(rq)) {
        opi_enter();
        struct opi_req *r = opi_req_of_handle(rq);
        if (!r->done)
            opi_req_wait(r);
        rc = opi_req_complete(r, status);
        bool raised = r->raised;
        opi_leave();
        if (takes && rbuf && taken)
            memcpy(rbuf, &taken, sizeof taken);
        if (rc != MPI_SUCCESS && !raised)
            opi_raise(comm, rc, call, "%s", rc == MPI_ERR_TRUNCATE ? "message longer than the buffer" : "no memory");
    } else {
        rc = MPI_Wait(&rq, status);
    }
    int rc2 = MPI_Wait(&sq, MPI_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : rc2;
}

EXPORT int OPI_Givetake(void *sp, int sc, MPI_Datatype st, int dest, int stag, void *rp, int rc, MPI_Datatype rt, int source, int rtag, MPI_Comm comm,
                        MPI_Status *status) {
    return sendrecv("OPI_Givetake", sp, sc, st, dest, stag, true, rp, rc, rt, source, rtag, true, comm, status);
}

EXPORT int OPI_Giverecv(void *sp, int sc, MPI_Datatype st, int dest, int stag, void *rb, int rc, MPI_Datatype rt, int source, int rtag, MPI_Comm comm,
                        MPI_Status *status) {
    return sendrecv("OPI_Giverecv", sp, sc, st, dest, stag, true, rb, rc, rt, source, rtag, false, comm, status);
}

EXPORT int OPI_Sendtake(const void *sb, int sc, MPI_Datatype st, int dest, int stag, void *rp, int rc, MPI_Datatype rt, int source, int rtag, MPI_Comm comm,
                        MPI_Status *status) {
    return sendrecv("OPI_Sendtake", sb, sc, st, dest, stag, false, rp, rc, rt, source, rtag, true, comm, status);
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------------------------------- */

OPI_COLD static int alloc_slow(void *bufp, size_t length) {
    opi_enter();
    void *p = bufp ? opi_pool_alloc(length) : NULL;
    if (!p || !opi_hold(p, opi_class_of(p))) {
        opi_leave();
        return bufp ? opi_raise_world(MPI_ERR_NO_MEM, "OPI_Alloc", "no memory for %zu bytes", length)
                    : opi_raise_world(MPI_ERR_ARG, "OPI_Alloc", "null address of a pointer");
    }
    memcpy(bufp, &p, sizeof p);
    opi_leave();
    return MPI_SUCCESS;
}

EXPORT int OPI_Alloc(void *bufp, size_t length) {
    if (OPI_UNLIKELY(!bufp || length > OPI_REGION || opi.special))
        return alloc_slow(bufp, length);
    opi_enter();
    int cls = opi_class_of_size(length);
    struct opi_class *c = &opi_classes[cls];
    uint32_t depth = c->depth;
    uint8_t *held;
    if (OPI_UNLIKELY(depth == 0 || c->borrowed || !(held = opi_held_byte(c->stack[depth - 1])))) {
        opi_leave();
        return alloc_slow(bufp, length);
    }
    void *p = c->stack[depth - 1];
    c->depth = depth - 1;
    *held = (uint8_t)(cls + 1);
    memcpy(bufp, &p, sizeof p);
    opi_leave();
    return MPI_SUCCESS;
}

OPI_COLD static int free_slow(void *bufp) {
    void *p, *null = NULL;
    if (!bufp)
        return opi_raise_world(MPI_ERR_ARG, "OPI_Free", "null address of a pointer");
    memcpy(&p, bufp, sizeof p);
    if (!p)
        return MPI_SUCCESS;
    opi_enter();
    uint8_t *held = opi_held_by_user(p);
    if (!held) {
        opi_leave();
        return opi_raise_world(MPI_ERR_BUFFER, "OPI_Free", "%p is no buffer that the caller owns", p);
    }
    *held = 0;
    opi_pool_free(p);
    memcpy(bufp, &null, sizeof null);
    opi_leave();
    return MPI_SUCCESS;
}

EXPORT int OPI_Free(void *bufp) {
    if (OPI_UNLIKELY(!bufp || opi.special))
        return free_slow(bufp);
    opi_enter();
    void *p, *null = NULL;
    memcpy(&p, bufp, sizeof p);
    uint8_t *held = opi_held_by_user(p); /* NULL is outside the region */
    if (OPI_LIKELY(held != NULL)) {
        /* The class from the map, not from *held: the load that OPI_Alloc's store just fed would lengthen the chain. */
        struct opi_class *c = &opi_classes[opi_class_of(p)];
        uint32_t depth = c->depth;
        if (OPI_LIKELY(depth < c->limit)) {
            *held = 0;
            c->stack[depth] = p;
            c->depth = depth + 1;
            memcpy(bufp, &null, sizeof null);
            opi_leave();
            return MPI_SUCCESS;
        }
    }
    opi_leave();
    return free_slow(bufp);
}

/* ---- the MPI names ----------------------------------------------------------------------------------------------------------------------------------- */

#define SENDS(suffix, count_t)                                                                                                                       \
    EXPORT int MPI_Send##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c) {                                             \
        return send_block("MPI_Send" #suffix, b, n, t, d, tag, c, OPI_STANDARD);                                                                    \
    }                                                                                                                                               \
    EXPORT int MPI_Rsend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c) {                                            \
        return send_block("MPI_Rsend" #suffix, b, n, t, d, tag, c, OPI_STANDARD);                                                                   \
    }                                                                                                                                               \
    EXPORT int MPI_Ssend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c) {                                            \
        return send_block("MPI_Ssend" #suffix, b, n, t, d, tag, c, OPI_SYNC);                                                                       \
    }                                                                                                                                               \
    EXPORT int MPI_Bsend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c) {                                            \
        return send_block("MPI_Bsend" #suffix, b, n, t, d, tag, c, OPI_BUFFERED);                                                                   \
    }                                                                                                                                               \
    EXPORT int MPI_Isend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request *r) {                            \
        return send_nonblock("MPI_Isend" #suffix, b, n, t, d, tag, c, r, OPI_STANDARD);                                                             \
    }                                                                                                                                               \
    EXPORT int MPI_Irsend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request *r) {                           \
        return send_nonblock("MPI_Irsend" #suffix, b, n, t, d, tag, c, r, OPI_STANDARD);                                                            \
    }                                                                                                                                               \
    EXPORT int MPI_Issend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request *r) {                           \
        return send_nonblock("MPI_Issend" #suffix, b, n, t, d, tag, c, r, OPI_SYNC);                                                                \
    }                                                                                                                                               \
    EXPORT int MPI_Ibsend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request *r) {                           \
        return send_nonblock("MPI_Ibsend" #suffix, b, n, t, d, tag, c, r, OPI_BUFFERED);                                                            \
    }                                                                                                                                               \
    EXPORT int MPI_Recv##suffix(void *b, count_t n, MPI_Datatype t, int s, int tag, MPI_Comm c, MPI_Status *st) {                                   \
        return recv_block("MPI_Recv" #suffix, b, n, t, s, tag, c, st, false);                                                                       \
    }                                                                                                                                               \
    EXPORT int MPI_Irecv##suffix(void *b, count_t n, MPI_Datatype t, int s, int tag, MPI_Comm c, MPI_Request *r) {                                  \
        if (OPI_LIKELY(irecv_fast(b, n, t, s, tag, c, r, false)))                                                                                   \
            return MPI_SUCCESS;                                                                                                                     \
        return recv_nonblock("MPI_Irecv" #suffix, b, n, t, s, tag, c, r, false);                                                                    \
    }                                                                                                                                               \
    EXPORT int MPI_Sendrecv##suffix(const void *sb, count_t sn, MPI_Datatype st, int d, int stag, void *rb, count_t rn, MPI_Datatype rt, int s,    \
                                    int rtag, MPI_Comm c, MPI_Status *status) {                                                                     \
        return sendrecv("MPI_Sendrecv" #suffix, sb, sn, st, d, stag, false, rb, rn, rt, s, rtag, false, c, status);                                 \
    }                                                                                                                                               \
    EXPORT int MPI_Sendrecv_replace##suffix(void *b, count_t n, MPI_Datatype t, int d, int stag, int s, int rtag, MPI_Comm c, MPI_Status *status) { \
        return sendrecv_replace("MPI_Sendrecv_replace" #suffix, b, n, t, d, stag, s, rtag, c, status);                                              \
    }

/* The outgoing data are packed aside; the buffer then receives. */
static int sendrecv_replace(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm,
                            MPI_Status *status) {
    struct args a;
    opi_enter();
    int rc = check(&a, call, count, type, dest, stag, comm, false);
    if (rc == MPI_SUCCESS && null_buffer(&a, buf))
        rc = bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
    void *aside = NULL;
    if (rc == MPI_SUCCESS && dest != MPI_PROC_NULL) {
        aside = opi_pool_alloc(a.bytes);
        if (!aside)
            rc = bad(comm, MPI_ERR_NO_MEM, call, "no memory for bytes", (long long)a.bytes);
        else if (a.bytes)
            opi_pack(a.t, buf, (size_t)count, aside);
    }
    if (rc == MPI_SUCCESS && a.bytes > INT32_MAX)
        rc = bad(comm, MPI_ERR_COUNT, call, "more than 2 GiB, bytes", (long long)a.bytes);
    opi_leave();
    if (rc == MPI_SUCCESS)
        /* Bytes match any type signature here as on the wire below, both being packed data of one architecture. */
        rc = sendrecv(call, aside, (MPI_Count)a.bytes, MPI_BYTE, dest, stag, false, buf, count, type, source, rtag, false, comm, status);
    if (aside) {
        opi_enter();
        opi_pool_free(aside);
        opi_leave();
    }
    return rc;
}

SENDS(, int)
#if MPI_VERSION >= 4
SENDS(_c, MPI_Count)
#endif

/* ---- for persist.c ------------------------------------------------------------------------------------------------------------------------------- */

int opi_persist_check(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, bool recv) {
    struct args a;
    opi_enter();
    int rc = check(&a, call, count, type, peer, tag, comm, recv);
    if (rc == MPI_SUCCESS && null_buffer(&a, buf) && peer != MPI_PROC_NULL)
        rc = bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
    opi_leave();
    return rc;
}

/* Starts an instance of a persistent operation as the nonblocking call it stands for. */
int opi_persist_go(struct opi_req *r) {
    MPI_Count n = (MPI_Count)r->count;
    return r->p_mode < 0 ? recv_nonblock("MPI_Start", r->buf, n, r->p_type, r->p_peer, r->tag, r->p_comm, &r->native, false)
                         : send_nonblock("MPI_Start", r->buf, n, r->p_type, r->p_peer, r->tag, r->p_comm, &r->native, r->p_mode);
}

/* ---- memory of the MPI's own call ------------------------------------------------------------------------------------------------------------------- */

/* MPI_Alloc_mem yields reachable memory.  It is not owned in OPI's sense, so OPI_Free and the gives refuse it. */
EXPORT int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr) {
    if (opi.disabled || size < 0)
        return PMPI_Alloc_mem(size, info, baseptr);
    opi_enter();
    void *p = opi_pool_alloc((size_t)size);
    uint8_t *h = p ? opi_held_byte(p) : NULL;
    if (h)
        *h = OPI_HELD_MEM;
    opi_leave();
    if (!h)
        return PMPI_Alloc_mem(size, info, baseptr);
    memcpy(baseptr, &p, sizeof p);
    return MPI_SUCCESS;
}

EXPORT int MPI_Free_mem(void *base) {
    opi_enter();
    uint8_t *h = opi_in_region(base) ? opi_held_byte(base) : NULL;
    if (!h || *h != OPI_HELD_MEM) {
        opi_leave();
        return PMPI_Free_mem(base);
    }
    *h = 0;
    opi_pool_free(base);
    opi_leave();
    return MPI_SUCCESS;
}
