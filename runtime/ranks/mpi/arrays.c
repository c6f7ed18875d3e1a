/* arrays.c - the completion calls on arrays of requests. */
#include "ranks/base/ranks.h"

/* The requests after an array of handles, looked at one by one. */
static inline bool known(const char *call, int n, const MPI_Request *r, int *rc) {
    for (int i = 0; i < n; i++)
        if (r[i] != MPI_REQUEST_NULL && !opir_req_of(r[i])) {
            *rc = opir_raise(NULL, MPI_ERR_REQUEST, call, "invalid request at index %d", i);
            return false;
        }
    return true;
}

static MPI_Status *status_at(MPI_Status *statuses, int i) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Ends the complete request at `i`; its error goes to its status, or is raised by the caller through *failed. */
static int end_at(MPI_Request *r, MPI_Status *status, int *failed) {
    struct opir_req *q = opir_req_of(*r);
    int rc = MPI_SUCCESS;
    if (!q || !q->active) {
        opir_status_empty(status);
    } else {
        if (!q->persistent)
            *r = MPI_REQUEST_NULL;
        rc = opir_req_finish(q, status);
    }
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = rc;
    if (rc != MPI_SUCCESS)
        *failed = rc;
    return rc;
}

static bool done_at(MPI_Request r) {
    struct opir_req *q = opir_req_of(r);
    return !q || opir_req_poll(q);
}

static bool active_at(MPI_Request r) {
    struct opir_req *q = opir_req_of(r);
    return q && q->active;
}

EXPORT int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    static const char call[] = "MPI_Waitall";
    int rc = MPI_SUCCESS, failed = MPI_SUCCESS;
    opir_me(call);
    if (!known(call, n, requests, &rc))
        return rc;
    for (int i = 0; i < n; i++) {
        struct opir_req *q = opir_req_of(requests[i]);
        if (q)
            opir_wait_req(call, q);
        if (OPIR_LIKELY(statuses == MPI_STATUSES_IGNORE && q && opir_req_end_fast(q)))
            requests[i] = MPI_REQUEST_NULL;
        else
            end_at(&requests[i], status_at(statuses, i), &failed);
    }
    return failed == MPI_SUCCESS ? MPI_SUCCESS : statuses == MPI_STATUSES_IGNORE ? failed : MPI_ERR_IN_STATUS;
}

EXPORT int MPI_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    static const char call[] = "MPI_Testall";
    int rc = MPI_SUCCESS, failed = MPI_SUCCESS;
    opir_me(call);
    if (!known(call, n, requests, &rc))
        return rc;
    *flag = 0;
    for (int i = 0; i < n; i++)
        if (!done_at(requests[i])) {
            opir_vain();
            return MPI_SUCCESS;
        }
    *flag = 1;
    for (int i = 0; i < n; i++)
        end_at(&requests[i], status_at(statuses, i), &failed);
    return failed == MPI_SUCCESS ? MPI_SUCCESS : statuses == MPI_STATUSES_IGNORE ? failed : MPI_ERR_IN_STATUS;
}

/* The first complete active request; -1: none yet, MPI_UNDEFINED: none is active. */
static int first_done(int n, const MPI_Request *requests) {
    bool any = false;
    for (int i = 0; i < n; i++)
        if (active_at(requests[i])) {
            if (done_at(requests[i]))
                return i;
            any = true;
        }
    return any ? -1 : MPI_UNDEFINED;
}

/* Waits until some active request is complete; its index, or MPI_UNDEFINED. */
static int wait_some(const char *call, int n, const MPI_Request *requests) {
    int i = first_done(n, requests);
    if (i != -1)
        return i;
    struct opir_rank *me = opir_self;
    struct opir_wait w = {0};
    me->call = call;
    while ((i = first_done(n, requests)) == -1)
        opir_relax(&w);
    opir_relaxed(&w);
    me->call = NULL;
    return i;
}

static int end_one(const char *call, MPI_Request *requests, int i, int *index, MPI_Status *status) {
    (void)call;
    *index = i;
    if (i == MPI_UNDEFINED) {
        opir_status_empty(status);
        return MPI_SUCCESS;
    }
    struct opir_req *q = opir_req_of(requests[i]);
    if (!q->persistent)
        requests[i] = MPI_REQUEST_NULL;
    return opir_req_finish(q, status);
}

EXPORT int MPI_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status) {
    static const char call[] = "MPI_Waitany";
    int rc;
    opir_me(call);
    if (!known(call, n, requests, &rc))
        return rc;
    return end_one(call, requests, wait_some(call, n, requests), index, status);
}

EXPORT int MPI_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    static const char call[] = "MPI_Testany";
    int rc;
    opir_me(call);
    if (!known(call, n, requests, &rc))
        return rc;
    int i = first_done(n, requests);
    *flag = i != -1;
    if (i == -1) {
        *index = MPI_UNDEFINED;
        opir_vain();
        return MPI_SUCCESS;
    }
    return end_one(call, requests, i, index, status);
}

static int end_some(int n, MPI_Request *requests, int *count, int *indices, MPI_Status *statuses) {
    int failed = MPI_SUCCESS, ended = 0;
    for (int i = 0; i < n; i++)
        if (active_at(requests[i]) && done_at(requests[i])) {
            indices[ended] = i;
            end_at(&requests[i], status_at(statuses, ended), &failed);
            ended++;
        }
    *count = ended;
    return failed == MPI_SUCCESS ? MPI_SUCCESS : statuses == MPI_STATUSES_IGNORE ? failed : MPI_ERR_IN_STATUS;
}

EXPORT int MPI_Waitsome(int n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]) {
    static const char call[] = "MPI_Waitsome";
    int rc;
    opir_me(call);
    if (!known(call, n, requests, &rc))
        return rc;
    if (wait_some(call, n, requests) == MPI_UNDEFINED) {
        *count = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return end_some(n, requests, count, indices, statuses);
}

EXPORT int MPI_Testsome(int n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]) {
    static const char call[] = "MPI_Testsome";
    int rc;
    opir_me(call);
    if (!known(call, n, requests, &rc))
        return rc;
    int i = first_done(n, requests);
    if (i == MPI_UNDEFINED) {
        *count = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (i == -1) {
        *count = 0;
        opir_vain();
        return MPI_SUCCESS;
    }
    return end_some(n, requests, count, indices, statuses);
}

/* ---- MPI 4.1: looking without ending --------------------------------------------------------------------------------------------------- */

#ifdef OPIR_HAS_MPI_Request_get_status_all
EXPORT int MPI_Request_get_status_all(int n, const MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    static const char call[] = "MPI_Request_get_status_all";
    int rc = MPI_SUCCESS, one;
    opir_me(call);
    if (!known(call, n, requests, &rc))
        return rc;
    *flag = 0;
    for (int i = 0; i < n; i++)
        if (!done_at(requests[i])) {
            opir_vain();
            return MPI_SUCCESS;
        }
    *flag = 1;
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
        rc = MPI_Request_get_status(requests[i], &one, status_at(statuses, i));
    return rc;
}

EXPORT int MPI_Request_get_status_any(int n, const MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    static const char call[] = "MPI_Request_get_status_any";
    int rc, one;
    opir_me(call);
    if (!known(call, n, requests, &rc))
        return rc;
    opir_vain(); /* nothing is taken away: the next call finds the same, whatever it waits for */
    int i = first_done(n, requests);
    *flag = i != -1;
    *index = i == -1 ? MPI_UNDEFINED : i;
    if (i == -1)
        return MPI_SUCCESS;
    if (i == MPI_UNDEFINED) {
        opir_status_empty(status);
        return MPI_SUCCESS;
    }
    return MPI_Request_get_status(requests[i], &one, status);
}

EXPORT int MPI_Request_get_status_some(int n, const MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]) {
    static const char call[] = "MPI_Request_get_status_some";
    int rc = MPI_SUCCESS, one, found = 0;
    opir_me(call);
    if (!known(call, n, requests, &rc))
        return rc;
    opir_vain(); /* as above */
    if (first_done(n, requests) == MPI_UNDEFINED) {
        *count = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
        if (active_at(requests[i]) && done_at(requests[i])) {
            indices[found] = i;
            rc = MPI_Request_get_status(requests[i], &one, status_at(statuses, found));
            found++;
        }
    *count = found;
    return rc;
}
#endif
