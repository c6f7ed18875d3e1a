/* cancel.c - requests that end early, and requests as Fortran's numbers. */
#include "process/base/export.h"
#include "process/below/net.h"
#include "process/engine/match.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/heap/pool.h"
#include "process/mpi/completion.h"

EXPORT int MPI_Request_free(MPI_Request *request) {
    if (!opi_is_ours(*request))
        return PMPI_Request_free(request);
    opi_enter();
    struct opi_req *r = opi_req_of_handle(*request);
    if (!r) {
        opi_leave();
        return opi_bad_request("MPI_Request_free");
    }
    *request = MPI_REQUEST_NULL;
    if (r->kind == OPI_R_PERSIST) {
        opi_leave();
        if (r->started)
            MPI_Request_free(&r->native);
        opi_enter();
        opi_persist_drop(r);
        opi_leave();
        return MPI_SUCCESS;
    }
    if (r != &opi_sent) {
        opi_progress(); /* before it is marked: whoever completes a freed receive frees it (opi_arrive) */
        bool over = opi_req_poll(r);
        r->freed = true;
        if (over)
            opi_req_free(r);
        else
            opi_net_retire_req(r);
    }
    opi_leave();
    return MPI_SUCCESS;
}

/* Takes back a send that nobody has begun to receive; false when somebody has. */
bool opi_desc_withdraw(struct opi_req *r) {
    struct opi_desc *d = r->desc;
    uint32_t s = OPI_D_OPEN;
    void *block = d->owned ? d->addr : NULL;
    /* acq_rel: the receiver that finds CANCELLED frees the desc. */
    if (!atomic_compare_exchange_strong_explicit(&d->state, &s, OPI_D_CANCELLED, memory_order_acq_rel, memory_order_acquire))
        return false;
    if (block)
        opi_pool_free(block);
    opi_lent_over(r);
    r->desc = NULL;
    return true;
}

EXPORT int MPI_Cancel(MPI_Request *request) {
    if (!opi_is_ours(*request))
        return PMPI_Cancel(request);
    opi_enter();
    struct opi_req *r = opi_req_of_handle(*request);
    if (!r) {
        opi_leave();
        return opi_bad_request("MPI_Cancel");
    }
    if (r->kind == OPI_R_PERSIST) {
        opi_leave();
        return r->started ? MPI_Cancel(&r->native) : opi_bad_request("MPI_Cancel");
    }
    if (!r->done) {
        if (r->kind == OPI_R_RECV && r->posted) {
            opi_unpost(r);
            if (r->held)
                opi_net_unhold(r);
            r->cancelled = r->done = true;
        } else if (r->kind == OPI_R_NETHELD && r->held) {
            opi_net_unhold(r);
            r->cancelled = r->done = true;
        } else if (r->kind == OPI_R_NETRECV) {
            PMPI_Cancel(&r->native);
        } else if (r->kind == OPI_R_DESC) {
            r->cancelled = r->done = opi_desc_withdraw(r);
        }
        if (r->cancelled) {
            r->r_source = MPI_ANY_SOURCE;
            r->r_tag = MPI_ANY_TAG;
            r->r_bytes = 0;
        }
    }
    opi_leave();
    return MPI_SUCCESS;
}

#if !defined(MPI_Request_c2f) && !defined(MPI_ABI_VERSION) /* where it is a macro, our handles are integers like the MPI's own; the ABI has its own call */
EXPORT MPI_Fint MPI_Request_c2f(MPI_Request request) {
    return opi_is_ours(request) ? -(MPI_Fint)opi_req_of_handle(request)->handle : PMPI_Request_c2f(request);
}

EXPORT MPI_Request MPI_Request_f2c(MPI_Fint request) {
    if (request >= 0)
        return PMPI_Request_f2c(request);
    if (request == -1)
        return opi_req_handle(&opi_sent);
    uint32_t n = (uint32_t)-request - 2;
    return n / OPI_REQ_CHUNK < opi.req_chunks ? opi_req_handle(&opi_req_chunks[n / OPI_REQ_CHUNK][n % OPI_REQ_CHUNK]) : MPI_REQUEST_NULL;
}
#endif
