/* p2p.c - the calls that send or receive: their arguments, blocking and nonblocking forms, persistent requests. */
#include "ranks/base/ranks.h"

/* ---- arguments -------------------------------------------------------------------------------------------------------------------------- */

int opir_check_args(struct opir_rank *me, const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, bool recv,
                    struct opir_comm **cp, struct opir_type **tp) {
    struct opir_comm *c = opir_comm_of(me, comm);
    if (OPIR_UNLIKELY(!c))
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator");
    *cp = c;
    if (OPIR_UNLIKELY(count < 0))
        return opir_raise(c, MPI_ERR_COUNT, call, "count %lld is negative", (long long)count);
    struct opir_type *t = opir_type_for(me, type, count);
    if (OPIR_UNLIKELY(!t))
        return opir_raise(c, MPI_ERR_TYPE, call, "invalid datatype");
    *tp = t;
    if (OPIR_UNLIKELY((unsigned)peer >= (unsigned)c->remote->size && peer != MPI_PROC_NULL && !(recv && peer == MPI_ANY_SOURCE)))
        return opir_raise(c, MPI_ERR_RANK, call, "rank %d in a communicator of %d", peer, c->remote->size);
    if (OPIR_UNLIKELY(tag < 0 && !(recv && tag == MPI_ANY_TAG)))
        return opir_raise(c, MPI_ERR_TAG, call, "tag %d is negative", tag);
    if (OPIR_UNLIKELY(!buf && count > 0 && t->named && t->size && peer != MPI_PROC_NULL))
        return opir_raise(c, MPI_ERR_BUFFER, call, "null buffer");
    ptrdiff_t bytes;
    if (OPIR_UNLIKELY(__builtin_mul_overflow(count, t->size, &bytes)))
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
    if (OPIR_LIKELY(status == MPI_STATUS_IGNORE && q.r_error == MPI_SUCCESS)) {
        if (take) {
            if (q.block)
                opir_block_own(me, q.block, q.room);
            memcpy(buf, &q.block, sizeof q.block);
        }
        return MPI_SUCCESS;
    }
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
    keep(q);
    opir_req_rest(q);
    OPIR_PUT(request, q);
    return MPI_SUCCESS;
}
