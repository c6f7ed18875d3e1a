/* complete.c - the calls that complete or look at one request: ours, or the MPI's own while ours need progress. */
#include "process/base/alive.h"
#include "process/base/error.h"
#include "process/base/export.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/mpi/completion.h"
#include "process/tools/profile.h"

/* Reports the error of one request, for the calls that complete a single one. */
static int report(const char *call, struct opi_req *r, MPI_Comm comm, int rc, bool raised) {
    (void)r;
    if (OPI_LIKELY(rc == MPI_SUCCESS) || raised)
        return rc;
    return opi_raise(comm, rc, call, "%s", opi_reason(rc));
}

static int complete_user(const char *call, MPI_Request *h, struct opi_req *r, MPI_Status *status) {
    MPI_Comm comm = r->comm && r->comm->refs > 1 ? r->comm->handle : MPI_COMM_WORLD;
    bool raised = r->raised;
    int rc = opi_req_complete(r, status);
    *h = MPI_REQUEST_NULL;
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        rc = report(call, r, comm, rc, raised);
        opi_enter();
    }
    return rc;
}

/* Progress for a call that looks at the MPI's own requests only. */
void opi_progress_once(void) {
    if (!opi.ready)
        return;
    opi_enter();
    opi_progress();
    if (opi.nheld)
        opi_native_poll();
    opi_leave();
}

EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (OPI_LIKELY(opi_is_ours(*request))) {
        opi_enter();
        struct opi_req *r = opi_req_of_handle(*request);
        if (OPI_UNLIKELY(!r)) {
            opi_leave();
            return opi_bad_request("MPI_Wait");
        }
        if (OPI_UNLIKELY(r->kind == OPI_R_PERSIST)) {
            opi_leave();
            if (!r->started) {
                opi_status_empty(status);
                return MPI_SUCCESS;
            }
            int rc = MPI_Wait(&r->native, status);
            r->started = false;
            return rc;
        }
        if (!r->done)
            opi_req_wait(r);
        int rc = complete_user("MPI_Wait", request, r, status);
        opi_leave();
        return rc;
    }
    if (*request == MPI_REQUEST_NULL || !opi.mpi_running || !opi_busy_outside())
        return PMPI_Wait(request, status);
    opi_enter();
    struct opi_wait w = {.on = -1, .below = true};
    int flag = 0, rc;
    opi_profile_wait(true);
    for (;;) {
        opi_below_begin();
        rc = PMPI_Test(request, &flag, status);
        opi_below_end();
        if (rc != MPI_SUCCESS || flag)
            break;
        opi_progress();
        opi_relax(&w);
    }
    opi_profile_wait(false);
    opi_leave();
    return rc;
}

EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (!opi_is_ours(*request)) {
        opi_progress_once();
        return PMPI_Test(request, flag, status);
    }
    opi_enter();
    struct opi_req *r = opi_req_of_handle(*request);
    if (OPI_UNLIKELY(!r)) {
        opi_leave();
        return opi_bad_request("MPI_Test");
    }
    if (OPI_UNLIKELY(r->kind == OPI_R_PERSIST)) {
        opi_leave();
        if (!r->started) {
            *flag = 1;
            opi_status_empty(status);
            return MPI_SUCCESS;
        }
        int code = MPI_Test(&r->native, flag, status);
        r->started = code == MPI_SUCCESS && !*flag;
        return code;
    }
    opi_progress();
    int rc = MPI_SUCCESS;
    *flag = opi_req_poll(r);
    if (!*flag) {
        opi_maybe_relieve(r, ++r->polls);
        if (opi_in_vain())
            opi_kick_those(opi_waits_on(r));
        *flag = r->done;
    }
    if (*flag)
        rc = complete_user("MPI_Test", request, r, status);
    opi_leave();
    return rc;
}

EXPORT int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    if (!opi_is_ours(request)) {
        opi_progress_once();
        return PMPI_Request_get_status(request, flag, status);
    }
    opi_enter();
    struct opi_req *r = opi_req_of_handle(request);
    if (!r) {
        opi_leave();
        return opi_bad_request("MPI_Request_get_status");
    }
    if (r->kind == OPI_R_PERSIST) {
        opi_leave();
        if (r->started)
            return MPI_Request_get_status(r->native, flag, status);
        *flag = 1;
        opi_status_empty(status);
        return MPI_SUCCESS;
    }
    opi_progress();
    *flag = opi_req_poll(r);
    if (!*flag) {
        opi_maybe_relieve(r, ++r->polls);
        if (opi_in_vain())
            opi_kick_those(opi_waits_on(r));
        *flag = r->done;
    }
    if (*flag) {
        if (r->kind == OPI_R_PAIR)
            r = r->first;
        bool receives = r->kind == OPI_R_RECV || r->kind == OPI_R_NETRECV || r->kind == OPI_R_NETHELD;
        opi_status_set(status, receives ? r->r_source : opi.world_rank, receives ? r->r_tag : MPI_ANY_TAG, receives ? r->r_bytes : 0, r->cancelled);
    }
    opi_leave();
    return MPI_SUCCESS;
}
