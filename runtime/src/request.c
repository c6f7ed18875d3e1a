/* request.c - our requests, and the completion calls over arrays that mix them with the MPI's own. */
#include "internal.h"

#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#define CHUNK OPI_REQ_CHUNK
#define CHUNKS 65536u
#define RELIEVE_POLLS 64u /* MPI_Test calls after which an unmatched standard send is copied aside */

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
    r->started = false;
    r->take = false;
    return r;
}

void opi_req_free(struct opi_req *r) {
    if (r == &opi_sent)
        return;
    if (r->freed && r->take && r->block && r->done) { /* MPI_Request_free on an Itake: nobody is left to be told later */
        void *p = r->block;
        if (opi_hold(p, r->block_class))
            memcpy(r->buf, &p, sizeof p);
    }
    if (r->comm && !r->on_stack) {
        opi_comm_release(r->comm);
        opi_type_release(r->type);
    }
    r->kind = OPI_R_FREE;
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

static void status_empty(MPI_Status *status) {
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
    if (r->done)
        return true;
    switch (r->kind) {
    case OPI_R_QUEUED:
        r->done = opi.out[r->src].flushed >= r->mark;
        break;
    case OPI_R_DESC:
        /* acquire: the receiver has finished reading the data. */
        if (atomic_load_explicit(&r->desc->state, memory_order_acquire) == OPI_D_DONE) {
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
            if (p && OPI_UNLIKELY(!opi_hold(p, r->block_class))) {
                opi_pool_free(p);
                p = NULL;
                r->r_error = MPI_ERR_NO_MEM;
            }
            memcpy(r->buf, &p, sizeof p);
        }
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

/* The request of ours that a handle stands for, through a persistent one; NULL when there is none that runs. */
static inline struct opi_req *running(MPI_Request h) {
    if (!opi_is_ours(h))
        return NULL;
    struct opi_req *r = opi_req_of_handle(h);
    if (OPI_UNLIKELY(r && r->kind == OPI_R_PERSIST))
        return r->started && opi_is_ours(r->native) ? opi_req_of_handle(r->native) : NULL;
    return r;
}

/* An unmatched standard send does not make its caller wait for ever. */
static inline void maybe_relieve(struct opi_req *r, uint32_t polls) {
    if (r->kind == OPI_R_DESC && r->standard && r->desc && polls >= RELIEVE_POLLS)
        (void)opi_relieve(r);
}

static inline int waits_on(const struct opi_req *r) {
    return r->kind == OPI_R_DESC || r->kind == OPI_R_QUEUED || (r->kind == OPI_R_RECV && r->pipe) ? r->src : -1;
}

void opi_req_wait(struct opi_req *r) {
    struct opi_wait w = {0, 0, waits_on(r), r->kind >= OPI_R_NETSEND};
    for (;;) {
        opi_progress();
        if (opi_req_poll(r))
            return;
        opi_relax(&w);
        if (w.n > opi.spin_limit)
            maybe_relieve(r, w.n);
    }
}

/* Reports the error of one request, for the calls that complete a single one. */
static int report(const char *call, struct opi_req *r, MPI_Comm comm, int rc, bool raised) {
    (void)r;
    if (OPI_LIKELY(rc == MPI_SUCCESS) || raised)
        return rc;
    return opi_raise(comm, rc, call, "%s", rc == MPI_ERR_TRUNCATE ? "message longer than the buffer" : "a request failed");
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

static inline bool busy(void) {
    return opi.nposted || opi.nqueued || opi.nstreams || opi.nheld;
}

OPI_COLD static int bad_request(const char *call) {
    return opi_raise(MPI_COMM_WORLD, MPI_ERR_REQUEST, call, "invalid request");
}

/* Progress for a call that looks at the MPI's own requests only. */
static void progress_once(void) {
    if (!opi.ready)
        return;
    opi_enter();
    opi_progress();
    if (opi.nheld)
        opi_native_poll();
    opi_leave();
}

/* ---- Wait, Test ----------------------------------------------------------------------------------------------------------------------------------- */

EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (OPI_LIKELY(opi_is_ours(*request))) {
        opi_enter();
        struct opi_req *r = opi_req_of_handle(*request);
        if (OPI_UNLIKELY(!r)) {
            opi_leave();
            return bad_request("MPI_Wait");
        }
        if (OPI_UNLIKELY(r->kind == OPI_R_PERSIST)) {
            opi_leave();
            if (!r->started) {
                status_empty(status);
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
    if (*request == MPI_REQUEST_NULL || !opi.mpi_running || !busy())
        return PMPI_Wait(request, status);
    opi_enter();
    struct opi_wait w = {0, 0, -1, true};
    int flag = 0, rc;
    for (;;) {
        opi_below_begin();
        rc = PMPI_Test(request, &flag, status);
        opi_below_end();
        if (rc != MPI_SUCCESS || flag)
            break;
        opi_progress();
        opi_relax(&w);
    }
    opi_leave();
    return rc;
}

EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    if (!opi_is_ours(*request)) {
        progress_once();
        return PMPI_Test(request, flag, status);
    }
    opi_enter();
    struct opi_req *r = opi_req_of_handle(*request);
    if (OPI_UNLIKELY(!r)) {
        opi_leave();
        return bad_request("MPI_Test");
    }
    if (OPI_UNLIKELY(r->kind == OPI_R_PERSIST)) {
        opi_leave();
        if (!r->started) {
            *flag = 1;
            status_empty(status);
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
        maybe_relieve(r, ++r->polls);
        if ((r->polls & 15) == 0)
            opi_native_poll();
        if ((r->polls & 1023) == 0 && waits_on(r) >= 0 && waits_on(r) != opi.me)
            opi_kick(waits_on(r));
        *flag = r->done;
    }
    if (*flag)
        rc = complete_user("MPI_Test", request, r, status);
    opi_leave();
    return rc;
}

EXPORT int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    if (!opi_is_ours(request))
        return PMPI_Request_get_status(request, flag, status);
    opi_enter();
    struct opi_req *r = opi_req_of_handle(request);
    if (!r) {
        opi_leave();
        return bad_request("MPI_Request_get_status");
    }
    if (r->kind == OPI_R_PERSIST) {
        opi_leave();
        if (r->started)
            return MPI_Request_get_status(r->native, flag, status);
        *flag = 1;
        status_empty(status);
        return MPI_SUCCESS;
    }
    opi_progress();
    *flag = opi_req_poll(r);
    if (!*flag) {
        maybe_relieve(r, ++r->polls);
        *flag = r->done;
    }
    if (*flag) {
        bool receives = r->kind == OPI_R_RECV || r->kind == OPI_R_NETRECV || r->kind == OPI_R_NETHELD;
        opi_status_set(status, receives ? r->r_source : opi.world_rank, receives ? r->r_tag : MPI_ANY_TAG, receives ? r->r_bytes : 0, r->cancelled);
    }
    opi_leave();
    return MPI_SUCCESS;
}

/* ---- arrays --------------------------------------------------------------------------------------------------------------------------------------- */

static bool any_ours(int count, const MPI_Request *h) {
    for (int i = 0; i < count; i++)
        if (opi_is_ours(h[i]))
            return true;
    return false;
}

static inline MPI_Status *status_at(MPI_Status *statuses, int i) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

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
                status_empty(status);
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
        struct opi_req *r = running(h[i]);
        if (r && r->kind == OPI_R_DESC && !r->done && r->standard)
            (void)opi_relieve(r);
    }
}

static int wait_target(int count, const MPI_Request *h) {
    int on = -1;
    for (int i = 0; i < count; i++) {
        const struct opi_req *r = running(h[i]);
        if (r && !r->done && waits_on(r) >= 0)
            on = waits_on(r);
    }
    return on;
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
            r = running(h[i]);
        }
        if (r && !r->done && (r->kind >= OPI_R_NETSEND || r->held))
            return true;
    }
    return false;
}

static void array_relax(struct opi_wait *w, int count, const MPI_Request *h) {
    if (w->n == opi.spin_limit)
        w->below = any_below(count, h);
    if (w->n >= opi.spin_limit && (w->n & 15) == 0) {
        relieve_all(count, h);
        w->on = wait_target(count, h);
    }
    opi_relax(w);
}

/* Collects the outcome of completing several: MPI_ERR_IN_STATUS when one failed, each status telling its own. */
struct outcome {
    MPI_Comm comm;
    int failed;
};

static int outcome_end(const struct outcome *o, const char *call) {
    if (OPI_LIKELY(!o->failed))
        return MPI_SUCCESS;
    return opi_raise(o->comm, MPI_ERR_IN_STATUS, call, "%d of the requests failed", o->failed);
}

static void outcome_add(struct outcome *o, MPI_Status *status, int rc, MPI_Comm comm) {
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        o->failed++;
        o->comm = comm;
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
        MPI_Status *status = status_at(statuses, i);
        if (h[i] == MPI_REQUEST_NULL) {
            status_empty(status);
            continue;
        }
        struct opi_req *r = opi_req_of_handle(h[i]);
        if (OPI_LIKELY(status == MPI_STATUS_IGNORE && r->kind == OPI_R_RECV && r->take && r->block)) {
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
    if (!any_ours(count, h) && (!opi.mpi_running || !busy()))
        return PMPI_Waitall(count, h, statuses);
    opi_enter();
    if (OPI_LIKELY(waitall_ours(count, h, statuses))) {
        opi_leave();
        return MPI_SUCCESS;
    }
    struct outcome o = {MPI_COMM_WORLD, 0};
    struct opi_wait w = {0, 0, -1, false};
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
            int got = try_entry(&h[i], status_at(statuses, i), &rc, &comm, &raised);
            if (got == 0)
                continue;
            left[i] = 0;
            pending--;
            if (got < 0) {
                status_empty(status_at(statuses, i));
                continue;
            }
            outcome_add(&o, status_at(statuses, i), rc, comm);
        }
        if (!pending)
            break;
        array_relax(&w, count, h);
    }
    if (left != small)
        free(left);
    opi_leave();
    return outcome_end(&o, "MPI_Waitall");
}

EXPORT int MPI_Testall(int count, MPI_Request h[], int *flag, MPI_Status statuses[]) {
    if (!any_ours(count, h)) {
        progress_once();
        return PMPI_Testall(count, h, flag, statuses);
    }
    opi_enter();
    opi_progress();
    bool all = true;
    for (int i = 0; i < count && all; i++) {
        if (opi_is_ours(h[i])) {
            struct opi_req *r = opi_req_of_handle(h[i]);
            if (r && !opi_req_poll(r)) {
                struct opi_req *k = running(h[i]);
                if (k)
                    maybe_relieve(k, ++k->polls);
                if ((++r->polls & 15) == 0)
                    opi_native_poll();
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
        MPI_Status *st = single ? statuses : status_at(statuses, got);
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
            outcome_add(o, st, rc, comm);
        }
    }
    return dead == count ? -1 : got;
}

static int single_end(const struct outcome *o, int code, const char *call) {
    if (OPI_LIKELY(!o->failed))
        return code;
    return opi_raise(o->comm, code, call, "%s", code == MPI_ERR_TRUNCATE ? "message longer than the buffer" : "a request failed");
}

EXPORT int MPI_Waitany(int count, MPI_Request h[], int *index, MPI_Status *status) {
    if (!any_ours(count, h) && (!opi.mpi_running || !busy()))
        return PMPI_Waitany(count, h, index, status);
    opi_enter();
    struct outcome o = {MPI_COMM_WORLD, 0};
    struct opi_wait w = {0, 0, -1, false};
    int code = MPI_SUCCESS, n;
    for (;;) {
        opi_progress();
        n = sweep(count, h, 1, index, status, true, &o, &code);
        if (n != 0)
            break;
        array_relax(&w, count, h);
    }
    if (n < 0) {
        *index = MPI_UNDEFINED;
        status_empty(status);
    }
    opi_leave();
    return single_end(&o, code, "MPI_Waitany");
}

EXPORT int MPI_Testany(int count, MPI_Request h[], int *index, int *flag, MPI_Status *status) {
    if (!any_ours(count, h)) {
        progress_once();
        return PMPI_Testany(count, h, index, flag, status);
    }
    opi_enter();
    struct outcome o = {MPI_COMM_WORLD, 0};
    int code = MPI_SUCCESS;
    static uint32_t tests;
    opi_progress();
    int n = sweep(count, h, 1, index, status, true, &o, &code);
    *flag = n != 0;
    if (n <= 0)
        *index = MPI_UNDEFINED;
    if (n < 0)
        status_empty(status);
    if (n == 0 && (++tests & 15) == 0) {
        opi_native_poll();
        if ((tests & 63) == 0)
            relieve_all(count, h);
    }
    opi_leave();
    return single_end(&o, code, "MPI_Testany");
}

EXPORT int MPI_Waitsome(int count, MPI_Request h[], int *outcount, int indices[], MPI_Status statuses[]) {
    if (!any_ours(count, h) && (!opi.mpi_running || !busy()))
        return PMPI_Waitsome(count, h, outcount, indices, statuses);
    opi_enter();
    struct outcome o = {MPI_COMM_WORLD, 0};
    struct opi_wait w = {0, 0, -1, false};
    int n, code = MPI_SUCCESS;
    for (;;) {
        opi_progress();
        n = sweep(count, h, count, indices, statuses, false, &o, &code);
        if (n != 0)
            break;
        array_relax(&w, count, h);
    }
    *outcount = n < 0 ? MPI_UNDEFINED : n;
    opi_leave();
    return outcome_end(&o, "MPI_Waitsome");
}

EXPORT int MPI_Testsome(int count, MPI_Request h[], int *outcount, int indices[], MPI_Status statuses[]) {
    if (!any_ours(count, h)) {
        progress_once();
        return PMPI_Testsome(count, h, outcount, indices, statuses);
    }
    opi_enter();
    struct outcome o = {MPI_COMM_WORLD, 0};
    int code = MPI_SUCCESS;
    static uint32_t tests;
    opi_progress();
    int n = sweep(count, h, count, indices, statuses, false, &o, &code);
    *outcount = n < 0 ? MPI_UNDEFINED : n;
    if (n == 0 && (++tests & 15) == 0) {
        opi_native_poll();
        if ((tests & 63) == 0)
            relieve_all(count, h);
    }
    opi_leave();
    return outcome_end(&o, "MPI_Testsome");
}

/* ---- free, cancel ------------------------------------------------------------------------------------------------------------------------------- */

EXPORT int MPI_Request_free(MPI_Request *request) {
    if (!opi_is_ours(*request))
        return PMPI_Request_free(request);
    opi_enter();
    struct opi_req *r = opi_req_of_handle(*request);
    if (!r) {
        opi_leave();
        return bad_request("MPI_Request_free");
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
    r->freed = true;
    if (r != &opi_sent) {
        opi_progress();
        if (opi_req_poll(r))
            opi_req_free(r);
        else
            opi_net_retire_req(r);
    } else {
        r->freed = false;
    }
    opi_leave();
    return MPI_SUCCESS;
}

EXPORT int MPI_Cancel(MPI_Request *request) {
    if (!opi_is_ours(*request))
        return PMPI_Cancel(request);
    opi_enter();
    struct opi_req *r = opi_req_of_handle(*request);
    if (!r) {
        opi_leave();
        return bad_request("MPI_Cancel");
    }
    if (r->kind == OPI_R_PERSIST) {
        opi_leave();
        return r->started ? MPI_Cancel(&r->native) : bad_request("MPI_Cancel");
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
            struct opi_desc *d = r->desc;
            uint32_t s = OPI_D_OPEN;
            void *block = d->owned ? d->addr : NULL;
            /* acq_rel: the receiver that finds CANCELLED frees the desc. */
            if (atomic_compare_exchange_strong_explicit(&d->state, &s, OPI_D_CANCELLED, memory_order_acq_rel, memory_order_acquire)) {
                if (block)
                    opi_pool_free(block);
                r->desc = NULL;
                r->cancelled = r->done = true;
            }
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

/* ---- looking at several, and Fortran's numbers --------------------------------------------------------------------------------------------------- */

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
EXPORT int MPI_Request_get_status_all(int count, const MPI_Request h[], int *flag, MPI_Status statuses[]) {
    if (!any_ours(count, h))
        return PMPI_Request_get_status_all(count, h, flag, statuses);
    int rc = MPI_SUCCESS;
    *flag = 1;
    for (int i = 0; i < count && *flag && rc == MPI_SUCCESS; i++)
        rc = MPI_Request_get_status(h[i], flag, status_at(statuses, i));
    return rc;
}

EXPORT int MPI_Request_get_status_any(int count, const MPI_Request h[], int *index, int *flag, MPI_Status *status) {
    if (!any_ours(count, h))
        return PMPI_Request_get_status_any(count, h, index, flag, status);
    int rc = MPI_SUCCESS;
    *flag = 0;
    *index = MPI_UNDEFINED;
    for (int i = 0; i < count && !*flag && rc == MPI_SUCCESS; i++)
        if (h[i] != MPI_REQUEST_NULL) {
            rc = MPI_Request_get_status(h[i], flag, status);
            if (*flag)
                *index = i;
        }
    return rc;
}

EXPORT int MPI_Request_get_status_some(int count, const MPI_Request h[], int *outcount, int indices[], MPI_Status statuses[]) {
    if (!any_ours(count, h))
        return PMPI_Request_get_status_some(count, h, outcount, indices, statuses);
    int rc = MPI_SUCCESS, flag;
    *outcount = 0;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        if (h[i] != MPI_REQUEST_NULL) {
            rc = MPI_Request_get_status(h[i], &flag, status_at(statuses, *outcount));
            if (flag)
                indices[(*outcount)++] = i;
        }
    return rc;
}
#endif

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
    return n / CHUNK < opi.req_chunks ? opi_req_handle(&opi_req_chunks[n / CHUNK][n % CHUNK]) : MPI_REQUEST_NULL;
}
#endif
