/* request.c - our requests: making, polling and ending them. */
#include "process/base/alive.h"
#include "process/base/error.h"
#include "process/below/net.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/heap/pool.h"
#include "process/mpi/completion.h"
#include "process/objects/comm.h"
#include "process/objects/datatype.h"
#include "process/objects/revoke.h"

#include <stdlib.h>

#define CHUNK OPI_REQ_CHUNK
#define CHUNKS 65536u

struct opi_req *opi_req_chunks[CHUNKS];
struct opi_req *opi_req_pool;
struct opi_req opi_sent = {.kind = OPI_R_SENT, .done = true, .handle = 1};

static OPI_COLD void more_requests(void) {
    struct opi_req *c = calloc(CHUNK, sizeof *c);
    if (!c || opi.req_chunks == CHUNKS)
        opi_die("out of memory for requests");
    opi_req_chunks[opi.req_chunks] = c;
    for (uint32_t i = CHUNK; i-- > 0;) {
        c[i].handle = opi.req_chunks * CHUNK + i + 2; /* 1 is opi_sent */
        c[i].free_next = opi_req_pool;
        opi_req_pool = &c[i];
    }
    opi.req_chunks++;
}

struct opi_req *opi_req_new(int kind) {
    if (OPI_UNLIKELY(!opi_req_pool))
        more_requests();
    struct opi_req *r = opi_req_pool;
    opi_req_pool = r->free_next;
    r->kind = (uint8_t)kind;
    r->done = r->freed = r->cancelled = r->held = r->posted = r->raised = r->standard = r->on_stack = false;
    r->polls = 0;
    r->r_error = MPI_SUCCESS;
    r->comm = NULL;
    r->type = NULL;
    r->block = NULL;
    r->pipe = NULL;
    r->aside = NULL;
    r->started = false;
    r->take = false;
    return r;
}

/* A block of the pool, or private memory that took its place. */
void opi_free_any(void *p) {
    if (opi_in_region(p))
        opi_pool_free(p);
    else
        free(p);
}

void opi_req_free(struct opi_req *r) {
    if (r == &opi_sent)
        return;
    if (r->freed && r->take && r->block && r->done) { /* MPI_Request_free on an Itake: nobody is left to be told later */
        void *p = r->block;
        if (opi_hold(p, r->block_class))
            memcpy(r->buf, &p, sizeof p);
    }
    if (OPI_UNLIKELY(r->kind == OPI_R_PAIR)) {
        if (r->first)
            opi_req_free(r->first);
        if (r->second)
            opi_req_free(r->second);
        if (r->block)
            opi_free_any(r->block);
    }
    if (r->comm && !r->on_stack) {
        opi_comm_release(r->comm);
        opi_type_release(r->type);
    }
    r->kind = OPI_R_FREE;
    r->retired = false;
    r->comm = NULL;
    r->free_next = opi_req_pool;
    opi_req_pool = r;
}

void opi_requests_fini(void) {
}

/* ---- status ------------------------------------------------------------------------------------------------------------------------------------ */

void opi_status_set(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled) {
    if (status == MPI_STATUS_IGNORE)
        return;
    PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
    PMPI_Status_set_cancelled(status, cancelled);
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
}

void opi_status_empty(MPI_Status *status) {
    opi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}

/* ---- one request -------------------------------------------------------------------------------------------------------------------------------- */

static void net_done(struct opi_req *r, int rc, const MPI_Status *st) {
    MPI_Count n = 0;
    r->done = true;
    r->r_error = MPI_SUCCESS;
    if (rc != MPI_SUCCESS) {
        r->raised = true;
        PMPI_Error_class(rc, &r->r_error);
    }
    if (r->kind == OPI_R_NETSEND) {
        if (r->block)
            opi_pool_free(r->block);
        r->block = NULL;
        return;
    }
    int cancelled = 0;
    PMPI_Test_cancelled(st, &cancelled);
    r->cancelled = cancelled != 0;
    r->r_source = st->MPI_SOURCE;
    r->r_tag = st->MPI_TAG;
    PMPI_Get_elements_x(st, MPI_BYTE, &n);
    r->r_bytes = n < 0 ? 0 : (size_t)n;
    if (r->r_bytes > r->bytes_max)
        r->r_bytes = r->bytes_max;
    if (r->cancelled && r->block) {
        opi_pool_free(r->block);
        r->block = NULL;
    }
}

/* Is it complete?  Looks only; opi_progress moves things. */
bool opi_req_poll(struct opi_req *r) {
    if (r->done || (OPI_UNLIKELY(opi.broken) && (opi_req_revoked(r) || opi_req_lost(r))))
        return true;
    switch (r->kind) {
    case OPI_R_QUEUED:
        r->done = opi.out[r->src].flushed >= r->mark;
        break;
    case OPI_R_DESC:
        /* acquire: the receiver has finished reading the data. */
        if (atomic_load_explicit(&r->desc->state, memory_order_acquire) == OPI_D_DONE) {
            opi_lent_over(r);
            if (OPI_UNLIKELY(r->desc->block != NULL))
                opi_pool_free(r->desc->block);
            opi_pool_free(r->desc);
            r->desc = NULL;
            r->done = true;
        }
        break;
    case OPI_R_NETSEND:
    case OPI_R_NETRECV: {
        int flag = 0;
        MPI_Status st;
        opi_below_begin();
        int rc = PMPI_Test(&r->native, &flag, &st);
        opi_below_end();
        if (rc != MPI_SUCCESS || flag)
            net_done(r, rc, &st);
        break;
    }
    case OPI_R_IDUP: {
        int flag = 0;
        opi_below_begin();
        int rc = PMPI_Test(&r->native, &flag, MPI_STATUS_IGNORE);
        opi_below_end();
        if (rc != MPI_SUCCESS || flag) {
            if (rc == MPI_SUCCESS)
                opi_comm_adopt_ctx(*r->newcomm, r->ctx);
            r->r_error = rc;
            r->raised = rc != MPI_SUCCESS;
            r->done = true;
        }
        break;
    }
    case OPI_R_NETHELD:
        if (opi.nheld)
            opi_net_poll();
        break;
    case OPI_R_PAIR: {
        bool received = opi_req_poll(r->first), sent = opi_req_poll(r->second);
        if (received && sent) {
            const struct opi_req *bad = r->first->r_error != MPI_SUCCESS ? r->first : r->second;
            r->r_error = bad->r_error;
            r->raised = bad->raised;
            r->done = true;
        }
        break;
    }
    case OPI_R_PERSIST: {
        if (!r->started)
            return true;
        if (opi_is_ours(r->native))
            return opi_req_poll(opi_req_of_handle(r->native));
        int flag = 0;
        opi_below_begin();
        PMPI_Request_get_status(r->native, &flag, MPI_STATUS_IGNORE);
        opi_below_end();
        return flag != 0;
    }
    default:
        if (r->held)
            opi_net_poll();
        break;
    }
    return r->done;
}

/* A request that is complete: its results reach the user and it is freed.  Returns its error class. */
int opi_req_complete(struct opi_req *r, MPI_Status *status) {
    if (OPI_LIKELY(r->kind == OPI_R_RECV || r->kind == OPI_R_NETRECV || r->kind == OPI_R_NETHELD)) {
        opi_status_set(status, r->r_source, r->r_tag, r->r_bytes, r->cancelled);
        if (r->take) {
            void *p = r->block;
            if (OPI_UNLIKELY(opi.check) && p)
                p = opi_check_taken(r, p);
            if (p && OPI_UNLIKELY(!opi_hold(p, r->block_class))) {
                opi_pool_free(p);
                p = NULL;
                r->r_error = MPI_ERR_NO_MEM;
            }
            memcpy(r->buf, &p, sizeof p);
        }
    } else if (r->kind == OPI_R_PAIR) {
        (void)opi_req_complete(r->first, status);
        (void)opi_req_complete(r->second, MPI_STATUS_IGNORE);
        r->first = r->second = NULL;
    } else if (status != MPI_STATUS_IGNORE) {
        opi_status_set(status, r->kind == OPI_R_PERSIST ? MPI_ANY_SOURCE : opi.world_rank, MPI_ANY_TAG, 0, r->cancelled);
    }
    int rc = r->r_error;
    if (rc != MPI_SUCCESS && status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = rc;
    if (!r->on_stack)
        opi_req_free(r);
    return rc;
}

void opi_req_wait(struct opi_req *r) {
    struct opi_wait w = {.on = opi_waits_on(r), .below = opi_waits_below(r)};
    opi_profile_wait(true);
    for (;;) {
        opi_progress();
        if (opi_req_poll(r)) {
            opi_profile_wait(false);
            return;
        }
        opi_relax(&w);
        if (w.n > opi.spin_limit) {
            opi_maybe_relieve(r, w.n);
            w.on = opi_waits_on(r); /* a receive waits for its sender from when it has met a message that comes in pieces */
        }
    }
}

OPI_COLD int opi_bad_request(const char *call) {
    return opi_raise(MPI_COMM_WORLD, MPI_ERR_REQUEST, call, "invalid request");
}
