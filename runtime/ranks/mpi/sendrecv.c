/* sendrecv.c - the calls that send and receive at once. */
#include "ranks/base/ranks.h"

#include <errno.h>
#include <stdlib.h>

static void fill(struct opir_req *q, const char *call, void *buf, MPI_Count count, struct opir_type *t, int peer, int tag, struct opir_comm *c) {
    q->call = call;
    q->comm = c;
    q->type = t;
    q->ctx = c->ctx;
    q->peer = peer;
    q->tag = tag;
    q->buf = buf;
    q->count = (size_t)count;
    q->bytes = (size_t)count * t->size;
}

/* Takes a buffer from its owner for a give; the error is raised. */
int opir_give_taken(const char *call, struct opir_rank *me, void *bufp, struct opir_req *q) {
    void *block, *null = NULL;
    memcpy(&block, bufp, sizeof block);
    size_t room = 0;
    if (block ? !opir_block_owned(me, block, &room) : q->count > 0 && q->peer != MPI_PROC_NULL)
        return opir_raise(q->comm, MPI_ERR_BUFFER, call, block ? "a buffer that the caller does not own" : "null buffer");
    ptrdiff_t reach = q->type->extent * ((ptrdiff_t)q->count - 1) + q->type->true_lb + q->type->true_extent;
    if (block && q->bytes && (q->type->true_lb < 0 || reach > (ptrdiff_t)room))
        return opir_raise(q->comm, MPI_ERR_BUFFER, call, "more elements than the buffer holds");
    if (block)
        opir_block_disown(me, block);
    q->mode = OPIR_GIVE;
    q->block = block;
    q->room = room;
    memcpy(bufp, &null, sizeof null);
    return MPI_SUCCESS;
}

int opir_sendrecv(const char *call, void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, bool give, void *rbuf, MPI_Count rcount,
                  MPI_Datatype rtype, int source, int rtag, bool take, MPI_Comm comm, MPI_Status *status) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *st, *rt;
    int rc = opir_check_args(me, call, sbuf, scount, stype, dest, stag, comm, false, &c, &st);
    if (rc == MPI_SUCCESS)
        rc = opir_check_args(me, call, rbuf, rcount, rtype, source, rtag, comm, true, &c, &rt);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_req s, r;
    opir_req_setup(&s, me, OPIR_R_SEND);
    opir_req_setup(&r, me, OPIR_R_RECV);
    s.on_stack = r.on_stack = true;
    fill(&s, call, sbuf, scount, st, dest, stag, c);
    fill(&r, call, rbuf, rcount, rt, source, rtag, c);
    if (give && (rc = opir_give_taken(call, me, sbuf, &s)) != MPI_SUCCESS)
        return rc;
    r.take = take;
    opir_recv_begin(&r);
    opir_send_begin(&s);
    opir_wait_req(call, &r);
    opir_wait_req(call, &s);
    rc = opir_req_finish(&r, status);
    int sent = opir_req_finish(&s, MPI_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : sent;
}

/* The data of a replace, packed, to be sent as bytes. */
static void *packed(struct opir_rank *me, const void *buf, MPI_Count count, MPI_Datatype type, size_t *bytes) {
    struct opir_type *t = count > 0 ? opir_type_of(me, type) : NULL;
    *bytes = t ? t->size * (size_t)count : 0;
    void *copy = malloc(*bytes ? *bytes : 1);
    if (!copy)
        opir_die("out of memory: %zu bytes", *bytes);
    if (t)
        opir_pack(t, buf, (size_t)count, copy);
    return copy;
}

int opir_sendrecv_replace(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm, MPI_Status *status) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, call, buf, count, type, dest, stag, comm, false, &c, &t);
    if (rc != MPI_SUCCESS)
        return rc;
    size_t bytes;
    void *copy = packed(me, buf, count, type, &bytes);
    rc = opir_sendrecv(call, copy, (MPI_Count)bytes, MPI_BYTE, dest, stag, false, buf, count, type, source, rtag, false, comm, status);
    free(copy);
    return rc;
}

int opir_isendrecv(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, void *rbuf, MPI_Count rcount,
                   MPI_Datatype rtype, int source, int rtag, MPI_Comm comm, MPI_Request *request, bool replace) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *st, *rt;
    int rc = opir_check_args(me, call, sbuf, scount, stype, dest, stag, comm, false, &c, &st);
    if (rc == MPI_SUCCESS)
        rc = opir_check_args(me, call, rbuf, rcount, rtype, source, rtag, comm, true, &c, &rt);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_req *q = opir_req_new(me, OPIR_R_PAIR), *r = opir_req_new(me, OPIR_R_RECV), *s = opir_req_new(me, OPIR_R_SEND);
    size_t bytes;
    q->buf = replace ? packed(me, sbuf, scount, stype, &bytes) : NULL;
    q->call = call;
    q->first = r;
    q->second = s;
    fill(r, call, rbuf, rcount, rt, source, rtag, c);
    if (replace)
        fill(s, call, q->buf, (MPI_Count)bytes, opir_type_of(me, MPI_BYTE), dest, stag, c);
    else
        fill(s, call, (void *)(uintptr_t)sbuf, scount, st, dest, stag, c);
    r->type = opir_type_hold(r->type);
    s->type = opir_type_hold(s->type);
    c->refs += 2;
    opir_recv_begin(r);
    opir_send_begin(s);
    OPIR_PUT(request, q);
    return MPI_SUCCESS;
}

/* ---- the calls of opi.h ------------------------------------------------------------------------------------------------------------------------- */

static int alloc(const char *call, void *bufp, size_t length) {
    struct opir_rank *me = opir_self;
    if (!bufp)
        return me && me->world_comm ? opir_raise(NULL, MPI_ERR_ARG, call, "null address") : MPI_ERR_ARG;
    if (!me)
        opir_no_rank(call);
    size_t room;
    bool never = length > PTRDIFF_MAX; /* a negative number became it: malloc gives NULL, and a program that has nothing to put there goes on */
    void *block = never ? NULL : opir_block_new(length, &room);
    if (never) {
        memcpy(bufp, &block, sizeof block);
        errno = ENOMEM;
        return MPI_ERR_NO_MEM;
    }
    if (!block)
        return me->world_comm ? opir_raise(NULL, MPI_ERR_NO_MEM, call, "no memory for %zu bytes", length) : MPI_ERR_NO_MEM;
    opir_block_own(me, block, room);
    memcpy(bufp, &block, sizeof block);
    return MPI_SUCCESS;
}

EXPORT int (OPI_Alloc)(void *bufp, size_t length) {
    return alloc("OPI_Alloc", bufp, length);
}

EXPORT void *OPI_Malloc(size_t length) {
    struct opir_rank *me = opir_self;
    if (!me)
        opir_no_rank("OPI_Malloc");
    size_t room;
    void *block = opir_block_new(length, &room);
    if (block)
        opir_block_own(me, block, room);
    else
        errno = ENOMEM;
    return block;
}

EXPORT void *OPI_Calloc(size_t count, size_t size) {
    size_t length;
    if (__builtin_mul_overflow(count, size, &length))
        length = SIZE_MAX; /* so much there never is */
    void *p = NULL;
    return alloc("OPI_Calloc", &p, length) == MPI_SUCCESS ? memset(p, 0, length) : NULL;
}

EXPORT int (OPI_Free)(void *bufp) {
    struct opir_rank *me = opir_self;
    if (!me)
        opir_no_rank("OPI_Free");
    void *block, *null = NULL;
    memcpy(&block, bufp, sizeof block);
    if (!block)
        return MPI_SUCCESS;
    size_t room;
    if (OPIR_UNLIKELY(!opir_block_let_go(me, block, 0, &room)))
        return me->world_comm ? opir_raise(NULL, MPI_ERR_BUFFER, "OPI_Free", "a buffer that the caller does not own") : MPI_ERR_BUFFER;
    opir_block_free(block, room);
    memcpy(bufp, &null, sizeof null);
    return MPI_SUCCESS;
}

static int give(const char *call, void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, call, bufp, count, type, dest, tag, comm, false, &c, &t);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_req own, *q = &own;
    if (request) {
        q = opir_req_new(me, OPIR_R_SEND);
        c->refs++;
    } else {
        opir_req_setup(q, me, OPIR_R_SEND);
        q->on_stack = true;
    }
    fill(q, call, NULL, count, request ? opir_type_hold(t) : t, dest, tag, c);
    rc = opir_give_taken(call, me, bufp, q);
    if (rc != MPI_SUCCESS) {
        opir_req_release(q);
        return rc;
    }
    opir_send_begin(q);
    if (request) {
        OPIR_PUT(request, q);
        return MPI_SUCCESS;
    }
    if (OPIR_UNLIKELY(q->lent))
        opir_wait_req(call, q);
    return opir_req_finish(q, MPI_STATUS_IGNORE);
}

EXPORT int (OPI_Give)(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    if (OPIR_LIKELY(opir_give_fast(opir_me("OPI_Give"), bufp, count, type, dest, tag, comm)))
        return MPI_SUCCESS;
    return give("OPI_Give", bufp, count, type, dest, tag, comm, NULL);
}

/* Ranks of one process copy a synchronous message from the sender's memory; the buffer goes when somebody has it. */
EXPORT int (OPI_Sgive)(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    struct opir_rank *me = opir_me("OPI_Sgive");
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, "OPI_Sgive", bufp, count, type, dest, tag, comm, false, &c, &t);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_req q;
    opir_req_setup(&q, me, OPIR_R_SEND);
    q.on_stack = true;
    fill(&q, "OPI_Sgive", NULL, count, t, dest, tag, c);
    void *block;
    memcpy(&block, bufp, sizeof block);
    rc = opir_give_taken("OPI_Sgive", me, bufp, &q);
    size_t room = q.room;
    opir_req_release(&q);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = MPI_Ssend(block, count, type, dest, tag, comm);
    if (block)
        opir_block_free(block, room);
    return rc;
}

EXPORT int (OPI_Igive)(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    struct opir_rank *me = opir_me("OPI_Igive");
    if (OPIR_LIKELY(opir_give_fast(me, bufp, count, type, dest, tag, comm))) {
        OPIR_PUT(request, opir_req_sent(me));
        return MPI_SUCCESS;
    }
    return give("OPI_Igive", bufp, count, type, dest, tag, comm, request);
}

EXPORT int (OPI_Take)(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    return opir_recv_block("OPI_Take", bufp, count, type, source, tag, comm, status, true);
}

EXPORT int (OPI_Itake)(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    return opir_recv_start("OPI_Itake", bufp, count, type, source, tag, comm, request, true);
}

/* Reads the caller's pointer.  An error where it names memory that the caller does not own. */
static int replaced(const char *call, const void *bufp, MPI_Comm comm, void **old) {
    struct opir_rank *me = opir_me(call);
    size_t room;
    memcpy(old, bufp, sizeof *old);
    if (OPIR_LIKELY(!*old || opir_block_owned(me, *old, &room)))
        return MPI_SUCCESS;
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, call, bufp, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, true, &c, &t);
    return rc != MPI_SUCCESS ? rc : opir_raise(c, MPI_ERR_BUFFER, call, "a buffer that the caller does not own");
}

/* What was there goes where something else has come, or will come; else it is the caller's as before. */
static void settle(void *bufp, void *old, bool coming) {
    void *now;
    size_t room;
    memcpy(&now, bufp, sizeof now);
    if (!coming && (!now || now == old))
        memcpy(bufp, &old, sizeof old);
    else if (old && opir_block_let_go(opir_self, old, 0, &room))
        opir_block_free(old, room);
}

EXPORT int (OPI_Take_replace)(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    static const char call[] = "OPI_Take_replace";
    void *old;
    int rc = replaced(call, bufp, comm, &old);
    if (rc != MPI_SUCCESS)
        return rc;
    bool take = source != MPI_PROC_NULL;
    rc = opir_recv_block(call, bufp, count, type, source, tag, comm, status, take);
    if (take)
        settle(bufp, old, false);
    return rc;
}

EXPORT int (OPI_Itake_replace)(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    static const char call[] = "OPI_Itake_replace";
    void *old;
    int rc = replaced(call, bufp, comm, &old);
    if (rc != MPI_SUCCESS)
        return rc;
    bool take = source != MPI_PROC_NULL;
    rc = opir_recv_start(call, bufp, count, type, source, tag, comm, request, take);
    if (take)
        settle(bufp, old, rc == MPI_SUCCESS);
    return rc;
}

EXPORT int (OPI_Givetake)(void *sp, int sc, MPI_Datatype st, int dest, int stag, void *rp, int rc, MPI_Datatype rt, int source, int rtag, MPI_Comm comm,
                          MPI_Status *status) {
    return opir_sendrecv("OPI_Givetake", sp, sc, st, dest, stag, true, rp, rc, rt, source, rtag, true, comm, status);
}

EXPORT int (OPI_Giverecv)(void *sp, int sc, MPI_Datatype st, int dest, int stag, void *rb, int rc, MPI_Datatype rt, int source, int rtag, MPI_Comm comm,
                          MPI_Status *status) {
    return opir_sendrecv("OPI_Giverecv", sp, sc, st, dest, stag, true, rb, rc, rt, source, rtag, false, comm, status);
}

EXPORT int (OPI_Sendtake)(const void *sb, int sc, MPI_Datatype st, int dest, int stag, void *rp, int rc, MPI_Datatype rt, int source, int rtag, MPI_Comm comm,
                          MPI_Status *status) {
    return opir_sendrecv("OPI_Sendtake", (void *)(uintptr_t)sb, sc, st, dest, stag, false, rp, rc, rt, source, rtag, true, comm, status);
}

/* From MPI_PROC_NULL nothing arrives: the buffer stays, and a copy is sent. */
EXPORT int (OPI_Givetake_replace)(void *bufp, int count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm, MPI_Status *status) {
    static const char call[] = "OPI_Givetake_replace";
    if (OPIR_LIKELY(source != MPI_PROC_NULL))
        return opir_sendrecv(call, bufp, count, type, dest, stag, true, bufp, count, type, source, rtag, true, comm, status);
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    struct opir_type *t;
    int rc = opir_check_args(me, call, bufp, count, type, dest, stag, comm, false, &c, &t);
    if (rc != MPI_SUCCESS)
        return rc;
    void *block;
    memcpy(&block, bufp, sizeof block);
    size_t room;
    if (block ? !opir_block_owned(me, block, &room) : count > 0 && dest != MPI_PROC_NULL)
        return opir_raise(c, MPI_ERR_BUFFER, call, block ? "a buffer that the caller does not own" : "null buffer");
    return opir_sendrecv(call, block, count, type, dest, stag, false, block, count, type, source, rtag, false, comm, status);
}
