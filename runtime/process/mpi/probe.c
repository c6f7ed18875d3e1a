/* probe.c - looking at messages without receiving them, and receiving what a matched probe found.
 *
 * On a communicator that spans nodes a probe looks on both sides.  A message found here by a matched probe is claimed (its send can no longer be cancelled) and
 * leaves the queues; an MPI_Message of ours stands for it, encoded like a request of ours. */
#include "process/base/alive.h"
#include "process/base/export.h"
#include "process/below/net.h"
#include "process/engine/deliver.h"
#include "process/engine/match.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/mpi/p2p.h"
#include "process/objects/request.h"

_Static_assert(sizeof(MPI_Message) == sizeof(MPI_Request), "messages are encoded like requests");

/* The message of ours that a handle stands for; NULL when it is the MPI's. */
static struct opi_req *message_of(MPI_Message m) {
    MPI_Request h;
    if (m == MPI_MESSAGE_NULL || m == MPI_MESSAGE_NO_PROC)
        return NULL;
    memcpy(&h, &m, sizeof h);
    if (!opi_is_ours(h))
        return NULL;
    struct opi_req *r = opi_req_of_handle(h);
    return r && r->kind == OPI_R_MESSAGE ? r : NULL;
}

/* Checks arguments; an error class is raised outside enter/leave by the caller through the communicator. */
static int probe_check(const char *call, int source, int tag, MPI_Comm comm, struct opi_comm **c) {
    if (OPI_UNLIKELY(!opi.mpi_running))
        return OPI_NATIVE;
    *c = opi_comm_of(comm);
    int class = !*c ? MPI_ERR_COMM
                : source == MPI_PROC_NULL ? MPI_SUCCESS
                : (tag < 0 && tag != MPI_ANY_TAG) || tag > (*c)->tag_ub ? MPI_ERR_TAG
                : (source < 0 || source >= (*c)->size) && source != MPI_ANY_SOURCE ? MPI_ERR_RANK : MPI_SUCCESS;
    if (OPI_LIKELY(class == MPI_SUCCESS))
        return MPI_SUCCESS;
    opi_leave();
    int rc = opi_raise(*c ? comm : MPI_COMM_WORLD, class, call, "source %d, tag %d", source, tag);
    opi_enter();
    return rc;
}

/* Looks at the MPI below.  A message that a receive posted earlier is owed is not there for a probe. */
static int look_below(struct opi_comm *c, int source, int tag, int *flag, MPI_Status *status) {
    MPI_Status st;
    int rc = PMPI_Iprobe(source, tag, c->handle, flag, &st);
    if (rc == MPI_SUCCESS && *flag && OPI_UNLIKELY(opi.nheld) && opi_net_must_hold(c, st.MPI_SOURCE, st.MPI_TAG)) {
        opi_net_poll(); /* let the receive take what it can, then look again */
        rc = PMPI_Iprobe(source, tag, c->handle, flag, &st);
        if (rc == MPI_SUCCESS && *flag && opi_net_must_hold(c, st.MPI_SOURCE, st.MPI_TAG))
            *flag = 0;
    }
    if (rc == MPI_SUCCESS && *flag && status != MPI_STATUS_IGNORE) {
        int error = status->MPI_ERROR; /* a call that completes one thing leaves it alone */
        *status = st;
        status->MPI_ERROR = error;
    }
    return rc;
}

/* One look on both sides.  Returns an error code of the MPI below, or success. */
static int look(struct opi_comm *c, int source, int tag, int *flag, MPI_Message *message, MPI_Status *status) {
    bool any = source == MPI_ANY_SOURCE;
    int local = any ? -1 : c->local_of_rank[source];
    *flag = 0;
    if (any || local >= 0) {
        struct opi_req r = {.any_source = any, .any_tag = tag == MPI_ANY_TAG, .src = local, .tag = tag, .ctx = c->ctx};
        struct opi_umsg *m;
        opi_progress();
        while ((m = opi_find_unexpected(&r)) != NULL) {
            if (message && !opi_claim(&m->env)) { /* withdrawn meanwhile */
                opi_drop_unexpected(m);
                continue;
            }
            opi_status_set(status, c->rank_of_local[m->src], m->env.tag, opi_env_bytes(&m->env), false);
            *flag = 1;
            if (!message)
                return MPI_SUCCESS;
            struct opi_req *q = opi_req_new(OPI_R_MESSAGE);
            q->message = opi_umsg_new();
            *q->message = *m;
            opi_drop_unexpected(m);
            q->comm = c;
            c->refs++;
            MPI_Request h = opi_req_handle(q);
            memcpy(message, &h, sizeof h);
            return MPI_SUCCESS;
        }
    }
    if (local >= 0 || !c->mixed)
        return MPI_SUCCESS;
    MPI_Status st;
    st.MPI_SOURCE = source;
    st.MPI_TAG = tag;
    int rc = look_below(c, source, tag, flag, &st);
    if (rc != MPI_SUCCESS || !*flag)
        return rc;
    /* The message that was seen: the first of its source and tag. */
    if (message)
        return PMPI_Improbe(st.MPI_SOURCE, st.MPI_TAG, c->handle, flag, message, status);
    return PMPI_Iprobe(st.MPI_SOURCE, st.MPI_TAG, c->handle, flag, status);
}

/* A look, where the communicator is not ours too. */
static int look_anywhere(struct opi_comm *c, int source, int tag, int *flag, MPI_Message *message, MPI_Status *status) {
    if (c->active && source != MPI_PROC_NULL)
        return look(c, source, tag, flag, message, status);
    opi_progress();
    return message ? PMPI_Improbe(source, tag, c->handle, flag, message, status) : PMPI_Iprobe(source, tag, c->handle, flag, status);
}

/* Raises an error where nothing that is looked for can come any more. */
static int lost(const char *call, struct opi_comm *c, int source, MPI_Comm comm) {
    if (!c->active || source == MPI_PROC_NULL || (source >= 0 && c->local_of_rank[source] < 0) ||
        !opi_comm_lost(c, source == MPI_ANY_SOURCE ? -1 : c->local_of_rank[source]))
        return MPI_SUCCESS;
    return opi_bad(comm, opi_lost_class(), call, opi_reason(opi_lost_class()), source);
}

int opi_iprobe(const char *call, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct opi_comm *c = NULL;
    opi_enter();
    int rc = probe_check(call, source, tag, comm, &c);
    if (rc == MPI_SUCCESS) {
        rc = look_anywhere(c, source, tag, flag, message, status);
        if (rc == MPI_SUCCESS && !*flag && opi_in_vain())
            opi_kick_those(-1);
        if (OPI_UNLIKELY(opi.broken) && rc == MPI_SUCCESS && !*flag)
            rc = lost(call, c, source, comm);
    }
    opi_leave();
    return rc;
}

int opi_probe(const char *call, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct opi_comm *c = NULL;
    opi_enter();
    int rc = probe_check(call, source, tag, comm, &c), flag = 0;
    if (rc == MPI_SUCCESS && (source == MPI_PROC_NULL || (!c->active && !opi_busy()))) {
        opi_leave();
        return OPI_NATIVE;
    }
    struct opi_wait w = {.on = -1};
    opi_profile_wait(true);
    while (rc == MPI_SUCCESS) {
        rc = look_anywhere(c, source, tag, &flag, message, status);
        if (rc != MPI_SUCCESS || flag)
            break;
        if (OPI_UNLIKELY(opi.broken) && (rc = lost(call, c, source, comm)) != MPI_SUCCESS)
            break;
        opi_relax(&w);
    }
    opi_profile_wait(false);
    opi_leave();
    return rc;
}

/* ---- receiving a message that was found ------------------------------------------------------------------------------------------------------------ */

static int matched_check(struct opi_args *a, const char *call, const void *buf, MPI_Count count, MPI_Datatype type, struct opi_req *m, MPI_Comm *comm) {
    *comm = m->comm->refs > 1 ? m->comm->handle : MPI_COMM_WORLD;
    a->call = call;
    a->c = m->comm;
    if (count < 0)
        return opi_bad(*comm, MPI_ERR_COUNT, call, "negative count", (long long)count);
    a->t = opi_type_for(type, count);
    if (!a->t)
        return opi_bad(*comm, MPI_ERR_TYPE, call, "null or invalid datatype", 0);
    a->bytes = (size_t)count * a->t->size;
    return opi_null_buffer(a, buf) ? opi_bad(*comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count) : MPI_SUCCESS;
}

/* The handle is given up; what it stood for has been received. */
static void message_done(struct opi_req *m, MPI_Message *message) {
    m->message = NULL;
    opi_comm_release(m->comm);
    m->comm = NULL;
    opi_req_free(m);
    *message = MPI_MESSAGE_NULL;
}

int opi_mrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    struct opi_args a = {0};
    MPI_Comm comm;
    opi_enter();
    struct opi_req *m = message_of(*message);
    if (!m) {
        bool idle = !opi_busy();
        opi_leave();
        if (idle)
            return OPI_NATIVE;
        MPI_Request h = MPI_REQUEST_NULL;
        int rc = opi_net_imrecv(buf, count, type, message, &h);
        return rc != MPI_SUCCESS ? rc : MPI_Wait(&h, status);
    }
    int rc = matched_check(&a, call, buf, count, type, m, &comm);
    if (rc == MPI_SUCCESS) {
        struct opi_req r = {.on_stack = true};
        opi_recv_matched(&r, &a, buf, (size_t)count, m->message);
        if (!r.done)
            opi_req_wait(&r);
        rc = opi_req_complete(&r, status);
        message_done(m, message);
        if (rc != MPI_SUCCESS)
            rc = opi_bad(comm, rc, call, opi_reason(rc), (long long)a.bytes);
    }
    opi_leave();
    return rc;
}

int opi_imrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    struct opi_args a = {0};
    MPI_Comm comm;
    opi_enter();
    struct opi_req *m = message_of(*message);
    if (!m) {
        opi_leave();
        return OPI_NATIVE;
    }
    int rc = matched_check(&a, call, buf, count, type, m, &comm);
    if (rc == MPI_SUCCESS) {
        struct opi_req *r = opi_req_new(OPI_R_RECV);
        opi_recv_matched(r, &a, buf, (size_t)count, m->message);
        r->comm->refs++;
        r->type = opi_type_pending(r->type, false);
        message_done(m, message);
        *request = opi_req_handle(r);
    }
    opi_leave();
    return rc;
}

#if !defined(MPI_Message_c2f) && !defined(MPI_ABI_VERSION) /* as for requests (cancel.c) */
EXPORT MPI_Fint MPI_Message_c2f(MPI_Message message) {
    const struct opi_req *m = message_of(message);
    return m ? -(MPI_Fint)m->handle : PMPI_Message_c2f(message);
}

EXPORT MPI_Message MPI_Message_f2c(MPI_Fint message) {
    if (message >= 0)
        return PMPI_Message_f2c(message);
    MPI_Request h = MPI_Request_f2c(message);
    MPI_Message m = MPI_MESSAGE_NULL;
    if (h != MPI_REQUEST_NULL)
        memcpy(&m, &h, sizeof m);
    return m;
}
#endif
