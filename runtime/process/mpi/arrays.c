/* arrays.c - the calls over arrays of requests, which mix ours with the MPI's own. */
#include "process/base/alive.h"
#include "process/base/error.h"
#include "process/base/export.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/heap/pool.h"
#include "process/mpi/completion.h"

#include <stdlib.h>

/* Looks at entry i of an array and completes it when it can be.  Returns 1 completed (with *rc), 0 not yet, -1 null or inactive. */
static int try_entry(MPI_Request *h, MPI_Status *status, int *rc, MPI_Comm *comm, bool *raised) {
    *rc = MPI_SUCCESS;
    *raised = false;
    if (opi_is_ours(*h)) {
        struct opi_req *r = opi_req_of_handle(*h);
        if (!r) {
            *rc = MPI_ERR_REQUEST;
            *comm = MPI_COMM_WORLD;
            return 1;
        }
        if (OPI_UNLIKELY(r->kind == OPI_R_PERSIST)) {
            if (!r->started)
                return -1;
            int got = try_entry(&r->native, status, rc, comm, raised); /* one level deep: an instance is never persistent */
            r->started = got == 0;
            if (got < 0)
                opi_status_empty(status);
            return got != 0;
        }
        if (!opi_req_poll(r))
            return 0;
        *comm = r->comm && r->comm->refs > 1 ? r->comm->handle : MPI_COMM_WORLD;
        *raised = r->raised;
        *rc = opi_req_complete(r, status);
        *h = MPI_REQUEST_NULL;
        return 1;
    }
    if (*h == MPI_REQUEST_NULL)
        return -1;
    int flag = 0, index;
    MPI_Status st;
    *comm = MPI_COMM_WORLD;
    opi_below_begin();
    *rc = PMPI_Testany(1, h, &index, &flag, &st);
    opi_below_end();
    *raised = true;
    if (*rc == MPI_SUCCESS && !flag)
        return 0;
    if (*rc == MPI_SUCCESS && index == MPI_UNDEFINED)
        return -1;
    if (status != MPI_STATUS_IGNORE)
        *status = st;
    return 1;
}

/* Sees to sends of ours that stay unmatched while the caller waits or tests. */
static void relieve_all(int count, const MPI_Request *h) {
    for (int i = 0; i < count; i++) {
        struct opi_req *r = opi_running(h[i]);
        if (r && !r->done)
            opi_maybe_relieve(r, OPI_RELIEVE_POLLS);
    }
}

/* A rank that one of them waits for, another one each time: which of several can act we do not know.  -1: none in particular. */
static int wait_target(int count, const MPI_Request *h) {
    static uint32_t turn;
    for (uint32_t k = 0; k < (uint32_t)count; k++) {
        uint32_t i = (turn + k) % (uint32_t)count;
        const struct opi_req *r = opi_running(h[i]);
        if (r && !r->done && opi_waits_on(r) >= 0) {
            turn = i + 1;
            return opi_waits_on(r);
        }
    }
    return -1;
}

/* What a call that tests does when nothing was complete. */
static void none_done(int count, const MPI_Request *h) {
    static uint32_t tests;
    if ((++tests & 63) == 0)
        relieve_all(count, h);
    if (opi_in_vain())
        opi_kick_those(wait_target(count, h));
}

/* Is one of them the MPI's own, or carried by it? */
static bool any_below(int count, const MPI_Request *h) {
    for (int i = 0; i < count; i++) {
        if (!opi_is_ours(h[i])) {
            if (h[i] != MPI_REQUEST_NULL)
                return true;
            continue;
        }
        const struct opi_req *r = opi_req_of_handle(h[i]);
        if (r && r->kind == OPI_R_PERSIST) {
            if (r->started && !opi_is_ours(r->native))
                return true;
            r = opi_running(h[i]);
        }
        if (r && opi_waits_below(r))
            return true;
    }
    return false;
}

static void array_relax(struct opi_wait *w, int count, const MPI_Request *h) {
    if (w->n >= opi.spin_limit && (w->n & 15) == 0) {
        relieve_all(count, h);
        w->on = wait_target(count, h);
        w->below = any_below(count, h);
    }
    opi_relax(w);
}

/* Collects the outcome of completing several: MPI_ERR_IN_STATUS when one failed, each status telling its own.  What the MPI below told a handler is not told
 * again, least of all to that of another communicator. */
struct outcome {
    MPI_Comm comm; /* of the last failure that no handler has heard of */
    int failed, untold;
};

static int outcome_end(const struct outcome *o, const char *call) {
    if (OPI_LIKELY(!o->failed))
        return MPI_SUCCESS;
    return o->untold ? opi_raise(o->comm, MPI_ERR_IN_STATUS, call, "%d of the requests failed", o->failed) : MPI_ERR_IN_STATUS;
}

static void outcome_add(struct outcome *o, MPI_Status *status, int rc, MPI_Comm comm, bool raised) {
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        o->failed++;
        if (!raised) {
            o->untold++;
            o->comm = comm;
        }
    }
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = rc;
}

/* Waits for requests that are all ours, or null, and all succeed.  True when that is done; false leaves what remains to the long way. */
static inline bool waitall_ours(int count, MPI_Request h[], MPI_Status statuses[]) {
    uint32_t spins = 0;
    for (int i = 0; i < count;) {
        if (OPI_UNLIKELY(!opi_is_ours(h[i]))) {
            if (h[i] != MPI_REQUEST_NULL)
                return false;
            i++;
            continue;
        }
        const struct opi_req *r = opi_req_of_handle(h[i]);
        if (OPI_UNLIKELY(!r))
            return false;
        if (r->done) {
            if (OPI_UNLIKELY(r->r_error != MPI_SUCCESS || r->kind == OPI_R_PERSIST))
                return false;
            i++;
            continue;
        }
        if (OPI_UNLIKELY(r->kind != OPI_R_RECV || ++spins > 100))
            return false;
        opi_progress();
    }
    for (int i = 0; i < count; i++) {
        MPI_Status *status = opi_status_at(statuses, i);
        if (h[i] == MPI_REQUEST_NULL) {
            opi_status_empty(status);
            continue;
        }
        struct opi_req *r = opi_req_of_handle(h[i]);
        if (OPI_LIKELY(status == MPI_STATUS_IGNORE && r->kind == OPI_R_RECV && r->take && r->block && !opi.check)) {
            void *p = r->block;
            uint8_t *held = opi_held_byte(p);
            if (OPI_LIKELY(held != NULL && r->comm->refs > 1 && r->type->named)) {
                *held = (uint8_t)(r->block_class + 1);
                memcpy(r->buf, &p, sizeof p);
                r->comm->refs--;
                r->kind = OPI_R_FREE;
                r->free_next = opi_req_pool;
                opi_req_pool = r;
                h[i] = MPI_REQUEST_NULL;
                continue;
            }
        }
        if (r != &opi_sent)
            opi_req_complete(r, status);
        else if (OPI_UNLIKELY(status != MPI_STATUS_IGNORE))
            opi_status_set(status, opi.world_rank, MPI_ANY_TAG, 0, false);
        if (OPI_UNLIKELY(status != MPI_STATUS_IGNORE))
            status->MPI_ERROR = MPI_SUCCESS;
        h[i] = MPI_REQUEST_NULL;
    }
    return true;
}

EXPORT int MPI_Waitall(int count, MPI_Request h[], MPI_Status statuses[]) {
    if (!opi_any_ours(count, h) && (!opi.mpi_running || !opi_busy_outside()))
        return PMPI_Waitall(count, h, statuses);
    opi_enter();
    opi_profile_wait(true);
    if (OPI_LIKELY(waitall_ours(count, h, statuses))) {
        opi_profile_wait(false);
        opi_leave();
        return MPI_SUCCESS;
    }
    struct outcome o = {MPI_COMM_WORLD, 0, 0};
    struct opi_wait w = {.on = -1};
    unsigned char small[128], *left = count <= (int)sizeof small ? small : malloc((size_t)count);
    if (!left)
        opi_die("out of memory in MPI_Waitall");
    memset(left, 1, (size_t)count);
    int pending = count;
    for (;;) {
        opi_progress();
        for (int i = 0; i < count; i++) {
            if (!left[i])
                continue;
            int rc;
            MPI_Comm comm;
            bool raised;
            int got = try_entry(&h[i], opi_status_at(statuses, i), &rc, &comm, &raised);
            if (got == 0)
                continue;
            left[i] = 0;
            pending--;
            if (got < 0) {
                opi_status_empty(opi_status_at(statuses, i));
                continue;
            }
            outcome_add(&o, opi_status_at(statuses, i), rc, comm, raised);
        }
        if (!pending)
            break;
        array_relax(&w, count, h);
    }
    if (left != small)
        free(left);
    opi_profile_wait(false);
    opi_leave();
    return outcome_end(&o, "MPI_Waitall");
}

EXPORT int MPI_Testall(int count, MPI_Request h[], int *flag, MPI_Status statuses[]) {
    if (!opi_any_ours(count, h)) {
        opi_progress_once();
        return PMPI_Testall(count, h, flag, statuses);
    }
    opi_enter();
    opi_progress();
    bool all = true;
    for (int i = 0; i < count && all; i++) {
        if (opi_is_ours(h[i])) {
            struct opi_req *r = opi_req_of_handle(h[i]);
            if (r && !opi_req_poll(r)) {
                struct opi_req *k = opi_running(h[i]);
                if (k)
                    opi_maybe_relieve(k, ++k->polls);
                if (opi_in_vain())
                    opi_kick_those(k ? opi_waits_on(k) : -1);
                all = opi_req_poll(r);
            }
        } else if (h[i] != MPI_REQUEST_NULL) {
            int done = 0; /* looks without completing: either all complete or none */
            opi_below_begin();
            PMPI_Request_get_status(h[i], &done, MPI_STATUS_IGNORE);
            opi_below_end();
            all = done != 0;
        }
    }
    opi_leave();
    *flag = all;
    return all ? MPI_Waitall(count, h, statuses) : MPI_SUCCESS;
}

/* One pass over the array for the any and some calls.  `most` limits how many are completed.  Returns how many, -1 when all entries are null or inactive. */
static int sweep(int count, MPI_Request h[], int most, int indices[], MPI_Status *statuses, bool single, struct outcome *o, int *code) {
    int got = 0, dead = 0;
    for (int i = 0; i < count && got < most; i++) {
        int rc;
        MPI_Comm comm;
        bool raised;
        MPI_Status *st = single ? statuses : opi_status_at(statuses, got);
        int k = try_entry(&h[i], st, &rc, &comm, &raised);
        if (k < 0)
            dead++;
        if (k <= 0)
            continue;
        indices[got++] = i;
        if (single) {
            *code = rc;
            if (rc != MPI_SUCCESS && !raised) {
                o->failed = 1;
                o->comm = comm;
            }
        } else {
            outcome_add(o, st, rc, comm, raised);
        }
    }
    return dead == count ? -1 : got;
}

static int single_end(const struct outcome *o, int code, const char *call) {
    if (OPI_LIKELY(!o->failed))
        return code;
    return opi_raise(o->comm, code, call, "%s", opi_reason(code));
}

EXPORT int MPI_Waitany(int count, MPI_Request h[], int *index, MPI_Status *status) {
    if (!opi_any_ours(count, h) && (!opi.mpi_running || !opi_busy_outside()))
        return PMPI_Waitany(count, h, index, status);
    opi_enter();
    struct outcome o = {MPI_COMM_WORLD, 0, 0};
    struct opi_wait w = {.on = -1};
    int code = MPI_SUCCESS, n;
    opi_profile_wait(true);
    for (;;) {
        opi_progress();
        n = sweep(count, h, 1, index, status, true, &o, &code);
        if (n != 0)
            break;
        array_relax(&w, count, h);
    }
    if (n < 0) {
        *index = MPI_UNDEFINED;
        opi_status_empty(status);
    }
    opi_profile_wait(false);
    opi_leave();
    return single_end(&o, code, "MPI_Waitany");
}

EXPORT int MPI_Testany(int count, MPI_Request h[], int *index, int *flag, MPI_Status *status) {
    if (!opi_any_ours(count, h)) {
        opi_progress_once();
        return PMPI_Testany(count, h, index, flag, status);
    }
    opi_enter();
    struct outcome o = {MPI_COMM_WORLD, 0, 0};
    int code = MPI_SUCCESS;
    opi_progress();
    int n = sweep(count, h, 1, index, status, true, &o, &code);
    *flag = n != 0;
    if (n <= 0)
        *index = MPI_UNDEFINED;
    if (n < 0)
        opi_status_empty(status);
    if (n == 0)
        none_done(count, h);
    opi_leave();
    return single_end(&o, code, "MPI_Testany");
}

EXPORT int MPI_Waitsome(int count, MPI_Request h[], int *outcount, int indices[], MPI_Status statuses[]) {
    if (!opi_any_ours(count, h) && (!opi.mpi_running || !opi_busy_outside()))
        return PMPI_Waitsome(count, h, outcount, indices, statuses);
    opi_enter();
    struct outcome o = {MPI_COMM_WORLD, 0, 0};
    struct opi_wait w = {.on = -1};
    int n, code = MPI_SUCCESS;
    opi_profile_wait(true);
    for (;;) {
        opi_progress();
        n = sweep(count, h, count, indices, statuses, false, &o, &code);
        if (n != 0)
            break;
        array_relax(&w, count, h);
    }
    *outcount = n < 0 ? MPI_UNDEFINED : n;
    opi_profile_wait(false);
    opi_leave();
    return outcome_end(&o, "MPI_Waitsome");
}

EXPORT int MPI_Testsome(int count, MPI_Request h[], int *outcount, int indices[], MPI_Status statuses[]) {
    if (!opi_any_ours(count, h)) {
        opi_progress_once();
        return PMPI_Testsome(count, h, outcount, indices, statuses);
    }
    opi_enter();
    struct outcome o = {MPI_COMM_WORLD, 0, 0};
    int code = MPI_SUCCESS;
    opi_progress();
    int n = sweep(count, h, count, indices, statuses, false, &o, &code);
    *outcount = n < 0 ? MPI_UNDEFINED : n;
    if (n == 0)
        none_done(count, h);
    opi_leave();
    return outcome_end(&o, "MPI_Testsome");
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
/* Looks at one entry.  Null and inactive entries are `*idle`, and not complete. */
static int peek(MPI_Request h, int *flag, bool *idle, MPI_Status *status) {
    *flag = 0;
    *idle = h == MPI_REQUEST_NULL;
    if (*idle)
        return MPI_SUCCESS;
    if (opi_is_ours(h)) {
        const struct opi_req *r = opi_req_of_handle(h);
        *idle = r && r->kind == OPI_R_PERSIST && !r->started;
        return *idle ? MPI_SUCCESS : MPI_Request_get_status(h, flag, status);
    }
    int index;
    int rc = PMPI_Request_get_status_any(1, &h, &index, flag, status);
    *idle = rc == MPI_SUCCESS && *flag && index == MPI_UNDEFINED;
    if (*idle)
        *flag = 0;
    return rc;
}

EXPORT int MPI_Request_get_status_all(int count, const MPI_Request h[], int *flag, MPI_Status statuses[]) {
    if (!opi_any_ours(count, h)) {
        opi_progress_once();
        return PMPI_Request_get_status_all(count, h, flag, statuses);
    }
    int rc = MPI_SUCCESS;
    *flag = 1;
    for (int i = 0; i < count && *flag && rc == MPI_SUCCESS; i++)
        rc = MPI_Request_get_status(h[i], flag, opi_status_at(statuses, i));
    return rc;
}

EXPORT int MPI_Request_get_status_any(int count, const MPI_Request h[], int *index, int *flag, MPI_Status *status) {
    if (!opi_any_ours(count, h)) {
        opi_progress_once();
        return PMPI_Request_get_status_any(count, h, index, flag, status);
    }
    int rc = MPI_SUCCESS;
    bool active = false;
    *flag = 0;
    *index = MPI_UNDEFINED;
    for (int i = 0; i < count && !*flag && rc == MPI_SUCCESS; i++) {
        bool idle;
        rc = peek(h[i], flag, &idle, status);
        active = active || !idle;
        if (*flag)
            *index = i;
    }
    if (!active) {
        *flag = 1;
        opi_status_empty(status);
    }
    return rc;
}

EXPORT int MPI_Request_get_status_some(int count, const MPI_Request h[], int *outcount, int indices[], MPI_Status statuses[]) {
    if (!opi_any_ours(count, h)) {
        opi_progress_once();
        return PMPI_Request_get_status_some(count, h, outcount, indices, statuses);
    }
    int rc = MPI_SUCCESS, flag, n = 0;
    bool active = false;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        bool idle;
        rc = peek(h[i], &flag, &idle, opi_status_at(statuses, n));
        active = active || !idle;
        if (flag)
            indices[n++] = i;
    }
    *outcount = active ? n : MPI_UNDEFINED;
    return rc;
}
#endif
