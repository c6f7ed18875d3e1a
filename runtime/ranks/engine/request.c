/* request.c - requests: making, starting, finishing. */
#include "ranks/base/ranks.h"

#include <stdlib.h>

#define CHUNK 4

void opir_req_setup(struct opir_req *q, struct opir_rank *me, int kind) {
    atomic_init(&q->done, false);
    q->kind = (uint8_t)kind;
    q->mode = OPIR_STANDARD;
    q->persistent = q->take = q->cancelled = q->detached = q->posted = q->on_stack = q->lent = false;
    q->active = true;
    q->owner = me;
    q->comm = NULL;
    q->type = NULL;
    q->block = NULL;
    q->first = q->second = NULL;
    q->a = NULL;
    q->r_error = MPI_SUCCESS;
}

struct opir_req *opir_req_new(struct opir_rank *me, int kind) {
    if (OPIR_UNLIKELY(me->detached != NULL))
        opir_sweep(me);
    if (OPIR_UNLIKELY(!me->free)) {
        struct opir_req *more = opir_alloc(CHUNK * sizeof *more);
        for (int i = 0; i < CHUNK; i++) {
            more[i].next = me->free;
            me->free = &more[i];
        }
    }
    struct opir_req *q = me->free;
    me->free = q->next;
    opir_obj_init(&q->obj, OPIR_REQUEST); /* keeps its number when it is used again */
    opir_req_setup(q, me, kind);
    return q;
}

struct opir_req *opir_req_sent(struct opir_rank *me) {
    if (OPIR_UNLIKELY(!me->sent)) {
        me->sent = opir_req_new(me, OPIR_R_NULL);
        me->sent->on_stack = true; /* it does not end */
        me->sent->call = "OPI_Igive";
        atomic_store_explicit(&me->sent->done, true, memory_order_relaxed); /* the owner itself */
    }
    return me->sent;
}

static void unlend(struct opir_req *q) {
    if (!q->lent)
        return;
    q->lent = false;
    *(q->lent_prev ? &q->lent_prev->lent_next : &q->owner->lent) = q->lent_next;
    if (q->lent_next)
        q->lent_next->lent_prev = q->lent_prev;
}

static void drop_types(struct opir_args *a) {
    if (a->st)
        opir_type_drop(a->st);
    if (a->rt)
        opir_type_drop(a->rt);
    for (int i = 0; a->sts && i < a->nsts; i++)
        opir_type_drop(a->sts[i]);
    for (int i = 0; a->rts && i < a->nrts; i++)
        opir_type_drop(a->rts[i]);
    free(a->sts);
    free(a->rts);
}

/* The request ends: what it held, and its place. */
void opir_req_release(struct opir_req *q) {
    unlend(q);
    if (q->kind == OPIR_R_COLL)
        drop_types(q->a);
    if (q->on_stack)
        return;
    if (q->comm)
        opir_comm_drop(q->comm);
    if (q->type)
        opir_type_drop(q->type);
    if (q->kind == OPIR_R_PAIR) {
        opir_req_release(q->first);
        opir_req_release(q->second);
        free(q->buf);
    }
    q->obj.kind = OPIR_FREE;
    q->next = q->owner->free;
    q->owner->free = q;
}

/* A persistent request keeps its communicator, but nothing pends there. */
void opir_req_rest(struct opir_req *q) {
    q->active = false;
    q->comm->idle++;
}

/* Starts a persistent request. */
void opir_req_start(struct opir_req *q) {
    q->active = true;
    q->comm->idle--;
    unlend(q);
    atomic_store_explicit(&q->done, false, memory_order_relaxed);
    if (q->kind == OPIR_R_SEND)
        opir_send_begin(q);
    else if (q->kind == OPIR_R_RECV)
        opir_recv_begin(q);
    else
        opir_coll_begin(q);
}

/* ---- status ------------------------------------------------------------------------------------------------------------------------------- */

void opir_status_set(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled) {
    if (status == MPI_STATUS_IGNORE)
        return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
    PMPI_Status_set_cancelled(status, cancelled);
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
}

void opir_status_empty(MPI_Status *status) {
    opir_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}

/* ---- the end of an operation ---------------------------------------------------------------------------------------------------------------- */

/* The operation is done: sets the status, gives a take its buffer, ends the request or makes a persistent one inactive.  Returns the error class, not
 * raised; *comm, where given, is the communicator to raise it on, and then holds a reference. */
static int conclude(struct opir_req *q, MPI_Status *status, struct opir_comm **comm) {
    int rc = q->r_error;
    if (q->kind == OPIR_R_GREQ) {
        MPI_Status own;
        memset(&own, 0, sizeof own);
        opir_status_empty(&own);
        rc = q->g_query(q->g_state, &own);
        if (status != MPI_STATUS_IGNORE)
            *status = own;
        int freed = q->g_free(q->g_state);
        if (rc == MPI_SUCCESS)
            rc = freed;
        opir_req_release(q);
        return rc;
    }
    struct opir_req *of = q->kind == OPIR_R_PAIR ? q->first : q;
    if (q->kind == OPIR_R_PAIR && q->second->r_error != MPI_SUCCESS)
        rc = q->second->r_error;
    if (q->kind == OPIR_R_PAIR && rc == MPI_SUCCESS)
        rc = of->r_error;
    if (of->kind == OPIR_R_RECV || of->cancelled)
        opir_status_set(status, of->r_source, of->r_tag, of->r_bytes, of->cancelled);
    else
        opir_status_empty(status);
    if (q->take) {
        if (q->block)
            opir_block_own(q->owner, q->block, q->room);
        memcpy(q->buf, &q->block, sizeof q->block);
        q->block = NULL;
    }
    if (OPIR_UNLIKELY(rc != MPI_SUCCESS) && comm) {
        *comm = q->comm;
        if (q->comm)
            q->comm->refs++;
    }
    if (q->persistent) {
        unlend(q);
        opir_req_rest(q);
    } else {
        opir_req_release(q);
    }
    return rc;
}

/* The same for a request that is complete without an error, nobody wants its status, and it ends: most are so.  False: nothing was done. */
bool opir_req_end_fast(struct opir_req *q) {
    if (OPIR_UNLIKELY(q->kind > OPIR_R_RECV || q->persistent || !q->active || q->r_error != MPI_SUCCESS || q->lent))
        return q->kind == OPIR_R_NULL;
    if (q->take) {
        if (q->block)
            opir_block_own(q->owner, q->block, q->room);
        memcpy(q->buf, &q->block, sizeof q->block);
    }
    opir_req_release(q);
    return true;
}

/* The same, raising an error. */
int opir_req_finish(struct opir_req *q, MPI_Status *status) {
    struct opir_comm *c = NULL;
    const char *call = q->call;
    size_t bytes = q->bytes;
    int kind = q->kind;
    int rc = conclude(q, status, &c);
    if (OPIR_UNLIKELY(rc != MPI_SUCCESS)) {
        if (rc == MPI_ERR_TRUNCATE && kind == OPIR_R_RECV)
            opir_raise(c, rc, call, "the message is longer than the receive of %zu bytes", bytes);
        else if (rc != MPI_ERR_PENDING)
            opir_raise(c, rc, call ? call : "MPI_Wait", "the operation failed");
        if (c)
            opir_comm_drop(c);
    }
    return rc;
}

/* Ends what the program has freed while it pended. */
void opir_sweep(struct opir_rank *me) {
    struct opir_req **at = &me->detached;
    while (*at) {
        struct opir_req *q = *at;
        if (opir_req_poll(q)) {
            *at = q->detached_next;
            q->take = q->take && q->block; /* a take that was freed still gets its buffer */
            q->persistent = false;
            conclude(q, MPI_STATUS_IGNORE, NULL);
        } else {
            at = &q->detached_next;
        }
    }
}

/* At the end: copies aside what freed sends still hold. */
void opir_sweep_all(struct opir_rank *me) {
    bool some;
    opir_relieve(me, &some);
    opir_sweep(me);
}

void opir_wait_slow(const char *call, struct opir_req *q) {
    struct opir_rank *me = q->owner;
    struct opir_wait w = {0};
    if (opir.threads && !opir.several) /* what opir_relax begins with, in short: a message is seen as soon as it comes */
        for (; w.n < (uint32_t)opir.spins; w.n++) {
            opir_pause();
            if (opir_req_poll(q))
                return;
        }
    me->call = call;
    me->waits = q;
    do
        opir_relax(&w);
    while (!opir_req_poll(q));
    opir_relaxed(&w);
    me->waits = NULL;
    me->call = NULL;
}

/* ---- the calls on one request -------------------------------------------------------------------------------------------------------------- */

static int bad_request(const char *call) {
    return opir_raise(NULL, MPI_ERR_REQUEST, call, "invalid request");
}

/* A request that is complete: its error, the handle set to null where it is gone. */
static int end_of(struct opir_req *q, MPI_Request *request, MPI_Status *status) {
    if (!q->active) {
        opir_status_empty(status);
        return MPI_SUCCESS;
    }
    if (!q->persistent)
        *request = MPI_REQUEST_NULL;
    return opir_req_finish(q, status);
}

EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    opir_me("MPI_Wait");
    if (*request == MPI_REQUEST_NULL) {
        opir_status_empty(status);
        return MPI_SUCCESS;
    }
    struct opir_req *q = opir_req_of(*request);
    if (OPIR_UNLIKELY(!q))
        return bad_request("MPI_Wait");
    opir_wait_req("MPI_Wait", q);
    return end_of(q, request, status);
}

EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    opir_me("MPI_Test");
    *flag = 1;
    if (*request == MPI_REQUEST_NULL) {
        opir_status_empty(status);
        return MPI_SUCCESS;
    }
    struct opir_req *q = opir_req_of(*request);
    if (OPIR_UNLIKELY(!q))
        return bad_request("MPI_Test");
    if (opir_req_poll(q))
        return end_of(q, request, status);
    *flag = 0;
    opir_vain();
    return MPI_SUCCESS;
}

EXPORT int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    opir_me("MPI_Request_get_status");
    *flag = 1;
    if (request == MPI_REQUEST_NULL) {
        opir_status_empty(status);
        return MPI_SUCCESS;
    }
    struct opir_req *q = opir_req_of(request);
    if (!q)
        return bad_request("MPI_Request_get_status");
    if (!q->active) {
        opir_status_empty(status);
        return MPI_SUCCESS;
    }
    if (!opir_req_poll(q)) {
        *flag = 0;
        opir_vain();
        return MPI_SUCCESS;
    }
    const struct opir_req *of = q->kind == OPIR_R_PAIR ? q->first : q;
    if (q->kind == OPIR_R_GREQ)
        return q->g_query(q->g_state, status);
    if (of->kind == OPIR_R_RECV || of->cancelled)
        opir_status_set(status, of->r_source, of->r_tag, of->r_bytes, of->cancelled);
    else
        opir_status_empty(status);
    return MPI_SUCCESS;
}

EXPORT int MPI_Start(MPI_Request *request) {
    opir_me("MPI_Start");
    struct opir_req *q = opir_req_of(*request);
    if (!q || !q->persistent || q->active)
        return bad_request("MPI_Start");
    opir_req_start(q);
    return MPI_SUCCESS;
}

EXPORT int MPI_Startall(int n, MPI_Request requests[]) {
    int rc = MPI_SUCCESS;
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
        rc = MPI_Start(&requests[i]);
    return rc;
}

EXPORT int MPI_Request_free(MPI_Request *request) {
    struct opir_rank *me = opir_me("MPI_Request_free");
    struct opir_req *q = opir_req_of(*request);
    if (!q)
        return bad_request("MPI_Request_free");
    *request = MPI_REQUEST_NULL;
    if (!q->active) {
        q->comm->idle--;
        opir_req_release(q);
    } else {
        q->detached = true;
        q->detached_next = me->detached;
        me->detached = q;
        opir_sweep(me);
    }
    return MPI_SUCCESS;
}

EXPORT int MPI_Cancel(MPI_Request *request) {
    opir_me("MPI_Cancel");
    struct opir_req *q = opir_req_of(*request);
    if (!q || !q->active)
        return bad_request("MPI_Cancel");
    bool gone = false;
    if (q->kind == OPIR_R_GREQ)
        return q->g_cancel(q->g_state, opir_is_done(q));
    if (q->kind == OPIR_R_RECV)
        gone = opir_unpost(q);
    else if (q->kind == OPIR_R_SEND && !opir_is_done(q) && q->peer != MPI_PROC_NULL)
        gone = opir_withdraw(q);
    if (gone) {
        q->cancelled = true;
        q->r_source = MPI_ANY_SOURCE;
        q->r_tag = MPI_ANY_TAG;
        q->r_bytes = 0;
        q->r_error = MPI_SUCCESS;
        opir_done(q);
    }
    return MPI_SUCCESS;
}

/* ---- generalised requests -------------------------------------------------------------------------------------------------------------------- */

EXPORT int MPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *end, MPI_Grequest_cancel_function *cancel, void *state,
                              MPI_Request *request) {
    struct opir_req *q = opir_req_new(opir_me("MPI_Grequest_start"), OPIR_R_GREQ);
    q->g_query = query;
    q->g_free = end;
    q->g_cancel = cancel;
    q->g_state = state;
    q->call = "MPI_Grequest_start";
    OPIR_PUT(request, q);
    return MPI_SUCCESS;
}

EXPORT int MPI_Grequest_complete(MPI_Request request) {
    opir_me("MPI_Grequest_complete");
    struct opir_req *q = opir_req_of(request);
    if (!q || q->kind != OPIR_R_GREQ)
        return bad_request("MPI_Grequest_complete");
    opir_done(q);
    return MPI_SUCCESS;
}
