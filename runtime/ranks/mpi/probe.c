/* probe.c - probes, and receives of what a matched probe has found. */
#include "ranks/carrier/guard.h"

static struct opir_msg *look(struct opir_rank *me, const struct opir_comm *c, int source, int tag, MPI_Message *message, MPI_Status *status, bool wait) {
    for (int i = 0; i < 64 && me->inbox && opir_look_in(me); i++) /* not for ever: others may send faster than this */
        ;
    opir_own_lock(me);
    struct opir_msg *m = opir_msg_find(me, c->ctx, source, tag);
    struct opir_msg seen;
    if (m) {
        seen = *m;
        if (message)
            opir_msg_unlink(m);
    }
    me->probing = wait && !m;
    opir_own_unlock(me);
    if (!m)
        return NULL;
    opir_status_set(status, seen.src, seen.tag, seen.bytes, false);
    if (message) {
        m->obj.handle = 0;
        opir_obj_init(&m->obj, OPIR_MESSAGE);
        OPIR_PUT(message, m);
    }
    return m;
}

static int arguments(const char *call, struct opir_rank *me, int source, int tag, MPI_Comm comm, struct opir_comm **c) {
    struct opir_type *t;
    return opir_check_args(me, call, NULL, 0, MPI_BYTE, source, tag, comm, true, c, &t);
}

static bool nobody(int source, MPI_Message *message, MPI_Status *status) {
    if (source != MPI_PROC_NULL)
        return false;
    opir_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
    if (message)
        *message = MPI_MESSAGE_NO_PROC;
    return true;
}

int opir_probe(const char *call, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    int rc = arguments(call, me, source, tag, comm, &c);
    if (rc != MPI_SUCCESS || nobody(source, message, status))
        return rc;
    struct opir_req what; /* for the report of a deadlock */
    struct opir_wait w = {0};
    opir_req_setup(&what, me, OPIR_R_RECV);
    what.peer = source;
    what.tag = tag;
    what.comm = c;
    me->call = call;
    me->waits = &what;
    while (!look(me, c, source, tag, message, status, true))
        opir_relax(&w);
    opir_relaxed(&w);
    me->waits = NULL;
    me->call = NULL;
    return MPI_SUCCESS;
}

int opir_iprobe(const char *call, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c;
    int rc = arguments(call, me, source, tag, comm, &c);
    if (rc != MPI_SUCCESS)
        return rc;
    *flag = nobody(source, message, status) || look(me, c, source, tag, message, status, false);
    if (!*flag) {
        if (message)
            *message = MPI_MESSAGE_NULL;
        opir_vain();
    }
    return MPI_SUCCESS;
}

/* Starts the receive of a message; q is on the stack or a request. */
static int begin(const char *call, struct opir_rank *me, struct opir_req *q, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message) {
    struct opir_type *t = opir_type_for(me, type, count);
    struct opir_msg *m = opir_get(message, sizeof *message, OPIR_MESSAGE);
    int rc = MPI_SUCCESS;
    if (count < 0)
        rc = opir_raise(NULL, MPI_ERR_COUNT, call, "count %lld is negative", (long long)count);
    else if (!t)
        rc = opir_raise(NULL, MPI_ERR_TYPE, call, "invalid datatype");
    else if (*message != MPI_MESSAGE_NO_PROC && !m)
        rc = opir_raise(NULL, MPI_ERR_REQUEST, call, "invalid message");
    if (rc != MPI_SUCCESS)
        return rc;
    q->call = call;
    q->buf = buf;
    q->count = (size_t)count;
    q->bytes = (size_t)count * t->size;
    q->type = q->on_stack ? t : opir_type_hold(t);
    if (*message == MPI_MESSAGE_NO_PROC) {
        q->peer = MPI_PROC_NULL;
        opir_recv_begin(q);
    } else {
        if (m->kind == OPIR_M_REF)
            opir_obj_gone(&m->obj); /* the message lies in its sender's request, which ends with it */
        opir_msg_into(m, q);
    }
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

int opir_mrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    struct opir_rank *me = opir_me(call);
    struct opir_req q;
    opir_req_setup(&q, me, OPIR_R_RECV);
    q.on_stack = true;
    int rc = begin(call, me, &q, buf, count, type, message);
    if (rc != MPI_SUCCESS)
        return rc;
    opir_wait_req(call, &q); /* its data may still be in another process */
    return opir_req_finish(&q, status);
}

int opir_imrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    struct opir_rank *me = opir_me(call);
    struct opir_req *q = opir_req_new(me, OPIR_R_RECV);
    int rc = begin(call, me, q, buf, count, type, message);
    if (rc != MPI_SUCCESS) {
        opir_req_release(q);
        return rc;
    }
    OPIR_PUT(request, q);
    return MPI_SUCCESS;
}
