/* recv.c - receives and takes. */
#include "process/base/alive.h"
#include "process/below/net.h"
#include "process/engine/deliver.h"
#include "process/engine/match.h"
#include "process/engine/path.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/heap/pool.h"
#include "process/mpi/p2p.h"
#include "process/objects/request.h"

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
static inline size_t take_room(const struct opi_args *a, size_t count) {
    if (OPI_LIKELY(a->t->contiguous))
        return a->bytes;
    if (count == 0)
        return 0;
    ptrdiff_t span = a->t->extent * (ptrdiff_t)count, last = a->t->extent * (ptrdiff_t)(count - 1) + a->t->true_lb + a->t->true_extent;
    ptrdiff_t most = span > last ? span : last;
    return most > 0 ? (size_t)most : 0;
}

/* Fills in a receive request; `r` is zero apart from its kind and handle. */
static inline void recv_fill(struct opi_req *r, const struct opi_args *a, void *buf, size_t count, int source, int tag, bool take) {
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
    if (OPI_UNLIKELY(opi.check))
        r->site = opi_check_site;
}

/* A receive of a message that a matched probe took out of the queues: `m` is used up. */
void opi_recv_matched(struct opi_req *r, const struct opi_args *a, void *buf, size_t count, struct opi_umsg *m) {
    recv_fill(r, a, buf, count, m->src, m->env.tag, false);
    opi_deliver(r, &m->env, m->src);
    opi_umsg_free(m);
}

/* Starts a receive or take whose request is r.  Returns an MPI error code of the MPI below, or success. */
static int recv_go(struct opi_req *r, const struct opi_args *a, void *buf, size_t count, MPI_Datatype type, int source, int tag, bool take) {
    struct opi_comm *c = a->c;
    recv_fill(r, a, buf, count, source, tag, take);
    if (source == MPI_PROC_NULL && (c->active || take)) {
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

static __attribute__((noinline)) int recv_block(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                                MPI_Status *status, bool take) {
    struct opi_args a;
    opi_enter();
    int rc = opi_check(&a, call, count, type, source, tag, comm, true);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    if (!take && opi_null_buffer(&a, buf) && source != MPI_PROC_NULL) {
        rc = opi_bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
        opi_leave();
        return rc;
    }
    if (take && OPI_UNLIKELY(a.t->true_lb < 0)) {
        rc = opi_bad(comm, MPI_ERR_TYPE, call, "datatype that starts before its origin, bytes", (long long)a.t->true_lb);
        opi_leave();
        return rc;
    }
    /* Nothing of ours needs progress: the MPI below may wait as it likes. */
    if (!take && OPI_UNLIKELY(!a.c->active || (source >= 0 && a.c->local_of_rank[source] < 0)) &&
        !opi_busy() && count <= INT32_MAX) {
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
        opi_raise(comm, rc, call, "%s, %zu bytes wanted", opi_reason(rc), a.bytes);
    return rc;
}

int opi_recv_block(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status, bool take) {
    if (OPI_UNLIKELY(opi_elsewhere(comm, source)) && !take && !opi_busy_outside()) {
        opi.stat.net_msgs++;
        return OPI_NATIVE;
    }
    return recv_block(call, buf, count, type, source, tag, comm, status, take);
}

int opi_recv_nonblock(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request,
                         bool take) {
    if (OPI_UNLIKELY(opi_elsewhere(comm, source)) && !take && count >= 0 && !opi.nheld) {
        opi.stat.net_msgs++;
        return opi_net_irecv(buf, (size_t)count, type, source, tag, comm, request);
    }
    struct opi_args a;
    opi_enter();
    int rc = opi_check(&a, call, count, type, source, tag, comm, true);
    if (rc == MPI_SUCCESS && !take && opi_null_buffer(&a, buf) && source != MPI_PROC_NULL)
        rc = opi_bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
    if (rc == MPI_SUCCESS && take && OPI_UNLIKELY(a.t->true_lb < 0))
        rc = opi_bad(comm, MPI_ERR_TYPE, call, "datatype that starts before its origin, bytes", (long long)a.t->true_lb);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    /* A plain receive that only the MPI below can match needs no request of ours. */
    if (!take && (!a.c->active || (source >= 0 && a.c->local_of_rank[source] < 0)) &&
        !(a.c->active && opi_net_must_hold(a.c, source, tag))) {
        opi.stat.net_msgs++;
        opi_leave();
        return opi_net_irecv(buf, (size_t)count, type, source, tag, comm, request);
    }
    struct opi_req *r = opi_req_new(OPI_R_RECV);
    rc = recv_go(r, &a, buf, (size_t)count, type, source, tag, take);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        r->comm = NULL; /* the request has no share yet in communicator and datatype, so none is given back */
        r->type = NULL;
        opi_req_free(r);
        opi_leave();
        return rc;
    }
    r->comm->refs++;
    r->type = opi_type_pending(r->type, r->held);
    if (take) {
        void *null = NULL;
        memcpy(buf, &null, sizeof null);
    }
    *request = opi_req_handle(r);
    opi_leave();
    return MPI_SUCCESS;
}

bool opi_irecv_fast(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request, bool take) {
    opi_enter();
    struct opi_req *r = opi_req_pool;
    if (OPI_UNLIKELY(!opi_usual(comm, type, count, source, tag) || !r || opi_unexpected_now)) {
        opi_leave();
        return false;
    }
    struct opi_comm *c = opi.last_comm;
    struct opi_type *t = opi.last_type;
    int src = c->local_of_rank[source];
    size_t bytes = (size_t)count * t->size;
    if (OPI_UNLIKELY(src < 0 || (!take && (*opi_device_newest || (!buf && bytes))))) {
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
