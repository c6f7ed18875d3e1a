/* completion.h - what the calls on requests share: complete.c waits for one, arrays.c for several, cancel.c ends them early; request.c keeps them. */
#ifndef OPI_COMPLETION_H
#define OPI_COMPLETION_H

#include "process/engine/deliver.h"
#include "process/objects/handle.h"
#include "process/objects/request.h"

#define OPI_RELIEVE_POLLS 64u /* MPI_Test calls after which an unmatched standard send is copied aside */

#pragma GCC visibility push(hidden)

/* request.c */
void opi_status_empty(MPI_Status *status);
int opi_bad_request(const char *call) OPI_COLD;

/* complete.c */
void opi_progress_once(void);

/* The request of ours that a handle stands for, through a persistent one; NULL when there is none that runs. */
static inline struct opi_req *opi_running(MPI_Request h) {
    if (!opi_is_ours(h))
        return NULL;
    struct opi_req *r = opi_req_of_handle(h);
    if (OPI_UNLIKELY(r && r->kind == OPI_R_PERSIST))
        return r->started && opi_is_ours(r->native) ? opi_req_of_handle(r->native) : NULL;
    return r;
}

/* An unmatched standard send does not make its caller wait for ever. */
static inline void opi_maybe_relieve(struct opi_req *r, uint32_t polls) {
    if (OPI_UNLIKELY(r->kind == OPI_R_PAIR && !r->second->done))
        r = r->second;
    if (r->kind == OPI_R_DESC && r->standard && r->desc && polls >= OPI_RELIEVE_POLLS)
        (void)opi_relieve(r);
}

static inline bool opi_waits_below_alone(const struct opi_req *r) {
    return !r->done && (r->kind >= OPI_R_NETSEND || r->held);
}

static inline int opi_waits_on(const struct opi_req *r) {
    if (OPI_UNLIKELY(r->kind == OPI_R_PAIR))
        r = r->second->done ? r->first : r->second;
    return r->kind == OPI_R_DESC || r->kind == OPI_R_QUEUED || (r->kind == OPI_R_RECV && r->pipe) ? r->src : -1;
}

/* Does it wait for the MPI below, which wakes nobody? */
static inline bool opi_waits_below(const struct opi_req *r) {
    if (OPI_UNLIKELY(r->kind == OPI_R_PAIR))
        return opi_waits_below_alone(r->first) || opi_waits_below_alone(r->second);
    return opi_waits_below_alone(r);
}

/* Is one of them ours? */
static inline bool opi_any_ours(int count, const MPI_Request *h) {
    for (int i = 0; i < count; i++)
        if (opi_is_ours(h[i]))
            return true;
    return false;
}

static inline MPI_Status *opi_status_at(MPI_Status *statuses, int i) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

#pragma GCC visibility pop

#endif
