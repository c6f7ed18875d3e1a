/* net.c - messages that the MPI below carries: to other nodes, and on communicators that are not ours.
 *
 * A receive from MPI_ANY_SOURCE on a communicator that spans nodes has to see both sides: it stands in our queues and, *held*, is tried with Improbe on
 * the MPI below.  It is not posted there, since it could not be withdrawn reliably when a message from this node takes it.  Off-node receives that
 * come later and could match the same message are held after it, for the MPI would give a natively posted one the message that the wildcard is owed. */
#include "process/below/net.h"
#include "process/below/outside.h"
#include "process/engine/deliver.h"
#include "process/engine/match.h"
#include "process/engine/path.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/heap/pool.h"
#include "process/objects/comm.h"
#include "process/objects/request.h"

#include <limits.h>
#include <stdlib.h>

static struct opi_req *held_head, *held_tail;

/* Sends and gives whose request the user freed, and frees of communicators, waiting for their end. */
struct retired {
    struct opi_req *req;
    struct retired *next;
};
static struct retired *retired;

struct late_comm {
    MPI_Comm comm;
    struct opi_comm *known;
    struct late_comm *next;
};
static struct late_comm *late_comms;

int opi_net_isend(const void *buf, size_t count, MPI_Datatype t, int dest, int tag, MPI_Comm comm, int mode, MPI_Request *req) {
    opi_profile_native(comm, dest, count, t);
#if MPI_VERSION >= 4
    if (count > INT_MAX) {
        MPI_Count n = (MPI_Count)count;
        return mode == OPI_SYNC       ? PMPI_Issend_c(buf, n, t, dest, tag, comm, req)
               : mode == OPI_BUFFERED ? PMPI_Ibsend_c(buf, n, t, dest, tag, comm, req)
                                      : PMPI_Isend_c(buf, n, t, dest, tag, comm, req);
    }
#endif
    int n = (int)count;
    return mode == OPI_SYNC       ? PMPI_Issend(buf, n, t, dest, tag, comm, req)
           : mode == OPI_BUFFERED ? PMPI_Ibsend(buf, n, t, dest, tag, comm, req)
                                  : PMPI_Isend(buf, n, t, dest, tag, comm, req);
}

int opi_net_irecv(void *buf, size_t count, MPI_Datatype t, int source, int tag, MPI_Comm comm, MPI_Request *req) {
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return PMPI_Irecv_c(buf, (MPI_Count)count, t, source, tag, comm, req);
#endif
    return PMPI_Irecv(buf, (int)count, t, source, tag, comm, req);
}

int opi_net_imrecv(void *buf, MPI_Count count, MPI_Datatype t, MPI_Message *message, MPI_Request *req) {
#if MPI_VERSION >= 4
    if (count > INT_MAX)
        return PMPI_Imrecv_c(buf, count, t, message, req);
#endif
    return PMPI_Imrecv(buf, (int)count, t, message, req);
}

/* A blocking send below.  `idle`: nothing of ours needs progress meanwhile (and if a peer does, it kicks our helper). */
int opi_net_send(const void *buf, size_t count, MPI_Datatype t, int dest, int tag, MPI_Comm comm, int mode, bool idle) {
    if (idle && count <= INT_MAX) {
        opi_profile_native(comm, dest, count, t);
        int n = (int)count;
        return mode == OPI_SYNC       ? PMPI_Ssend(buf, n, t, dest, tag, comm)
               : mode == OPI_BUFFERED ? PMPI_Bsend(buf, n, t, dest, tag, comm)
                                      : PMPI_Send(buf, n, t, dest, tag, comm);
    }
    MPI_Request req = MPI_REQUEST_NULL;
    int rc = opi_net_isend(buf, count, t, dest, tag, comm, mode, &req);
    return rc != MPI_SUCCESS ? rc : MPI_Wait(&req, MPI_STATUS_IGNORE);
}

/* ---- held receives ------------------------------------------------------------------------------------------------------------------------------- */

static bool overlap(const struct opi_req *h, const struct opi_comm *c, int source, int tag) {
    return h->comm == c && (h->any_source || source == MPI_ANY_SOURCE || h->net_rank == source) && (h->any_tag || tag == MPI_ANY_TAG || h->tag == tag);
}

/* Must an off-node receive queue after a held one? */
bool opi_net_must_hold(const struct opi_comm *c, int source, int tag) {
    if (OPI_LIKELY(!held_head))
        return false;
    for (const struct opi_req *h = held_head; h; h = h->hnext)
        if (overlap(h, c, source, tag))
            return true;
    return false;
}

void opi_net_hold(struct opi_req *r) {
    r->held = true;
    r->hnext = NULL;
    r->hprev = held_tail;
    if (held_tail)
        held_tail->hnext = r;
    else
        held_head = r;
    held_tail = r;
    opi.nheld++;
    if (OPI_UNLIKELY(opi.multiple))
        opi_helper_watch();
    else
        opi_hook_set();
}

void opi_net_unhold(struct opi_req *r) {
    if (r->hprev)
        r->hprev->hnext = r->hnext;
    else
        held_head = r->hnext;
    if (r->hnext)
        r->hnext->hprev = r->hprev;
    else
        held_tail = r->hprev;
    r->held = false;
    opi.nheld--;
}

/* The buffer a native receive of r goes to; NULL when memory is short (r is then complete with that error). */
static void *landing(struct opi_req *r) {
    if (!r->take)
        return r->buf;
    if (!r->block)
        r->block = opi_pool_alloc(r->room);
    if (r->block) {
        r->block_class = opi_class_of(r->block);
    } else {
        r->r_error = MPI_ERR_NO_MEM;
        r->r_bytes = 0;
        r->done = true;
    }
    return r->block;
}

static void became_native(struct opi_req *r, int rc) {
    opi_net_unhold(r);
    if (r->posted)
        opi_unpost(r);
    r->kind = OPI_R_NETRECV;
    if (rc != MPI_SUCCESS) {
        PMPI_Error_class(rc, &r->r_error);
        r->raised = true;
        r->done = true;
        r->r_bytes = 0;
    }
}

/* Is a message of the MPI below owed to a held receive that was posted before r? */
static bool owed_before(const struct opi_req *r, int source, int tag) {
    for (const struct opi_req *h = held_head; h != r; h = h->hnext)
        if (h->comm == r->comm && (h->any_source || h->net_rank == source) && (h->any_tag || h->tag == tag))
            return true;
    return false;
}

/* Takes from the MPI below the message that r is to have, if it is there.  One that an earlier held receive wants too is left to that; after it r
 * waits, but not for what the earlier one does not want: (source 0, any tag) behind (any source, tag 1) takes a message of tag 3. */
static bool take_below(const struct opi_req *r, bool behind, MPI_Message *m) {
    int flag = 0, source = r->any_source ? MPI_ANY_SOURCE : r->net_rank, tag = r->any_tag ? MPI_ANY_TAG : r->tag;
    MPI_Status st;
    if (behind) {
        if (PMPI_Iprobe(source, tag, r->comm->handle, &flag, &st) != MPI_SUCCESS || !flag || owed_before(r, st.MPI_SOURCE, st.MPI_TAG))
            return false;
        source = st.MPI_SOURCE; /* the first of its source and tag is the one that was seen */
        tag = st.MPI_TAG;
    }
    return PMPI_Improbe(source, tag, r->comm->handle, &flag, m, &st) == MPI_SUCCESS && flag;
}

/* Tries the held receives in posting order. */
void opi_net_try(void) {
    static bool inside; /* an error handler may call us again */
    if (inside)
        return;
    inside = true;
    struct opi_req *next;
    for (struct opi_req *r = held_head; r; r = next) {
        next = r->hnext;
        bool behind = false;
        for (const struct opi_req *h = held_head; h != r && !behind; h = h->hnext)
            behind = overlap(h, r->comm, r->any_source ? MPI_ANY_SOURCE : r->net_rank, r->any_tag ? MPI_ANY_TAG : r->tag);
        if (!behind && !r->any_source) { /* nothing owed to others any more: it can wait natively */
            void *to = landing(r);
            if (!to && r->done) {
                opi_net_unhold(r);
                continue;
            }
            r->native = MPI_REQUEST_NULL;
            became_native(r, opi_net_irecv(to, r->count, r->type->handle, r->net_rank, r->any_tag ? MPI_ANY_TAG : r->tag, r->comm->handle, &r->native));
            continue;
        }
        MPI_Message m;
        if (!take_below(r, behind, &m))
            continue;
        void *to = landing(r);
        r->native = MPI_REQUEST_NULL;
        if (!to && r->done) { /* the message is received into nothing, which truncates it, rather than lost in the queue */
            became_native(r, MPI_SUCCESS);
            PMPI_Imrecv(NULL, 0, MPI_BYTE, &m, &r->native);
            PMPI_Request_free(&r->native);
            continue;
        }
        became_native(r, opi_net_imrecv(to, (MPI_Count)r->count, r->type->handle, &m, &r->native));
    }
    inside = false;
}

void opi_net_poll(void) {
    opi_net_try();
    opi_late_comms_poll();
}

/* Does a held receive or a persistent request need the handle? */
static bool in_use(const struct opi_comm *c) {
    if (c->persistent)
        return true;
    for (const struct opi_req *h = held_head; h; h = h->hnext)
        if (h->comm == c)
            return true;
    return false;
}

/* Frees communicators whose time has come. */
void opi_late_comms_poll(void) {
    if (OPI_LIKELY(!late_comms))
        return;
    for (struct late_comm **p = &late_comms; *p;) {
        struct late_comm *l = *p;
        if (in_use(l->known)) {
            p = &l->next;
            continue;
        }
        *p = l->next;
        opi_below_begin();
        PMPI_Comm_free(&l->comm);
        opi_below_end();
        free(l);
        opi_comm_forget();
        p = &late_comms; /* the delete functions of the program's attributes may have called us */
    }
}

/* MPI_Comm_free while we still need the handle: freed when that is over.  True when it was put off. */
bool opi_comm_free_later(MPI_Comm c) {
    if (c == MPI_COMM_WORLD || c == MPI_COMM_SELF)
        return false;
    struct opi_comm *known = opi_comm_of(c);
    struct late_comm *l = known && in_use(known) ? malloc(sizeof *l) : NULL;
    if (!l)
        return false;
    *l = (struct late_comm){c, known, late_comms};
    late_comms = l;
    return true;
}

/* ---- requests freed while active ------------------------------------------------------------------------------------------------------------------- */

/* The user let go of an active request.  Receives in our queues alone free themselves when they complete; the others, those that the MPI below may serve as
 * well included, are watched here. */
void opi_net_retire_req(struct opi_req *r) {
    if (r->kind == OPI_R_RECV && !r->held)
        return;
    struct retired *t = malloc(sizeof *t);
    if (!t)
        return; /* the request leaks, the message does not */
    t->req = r;
    t->next = retired;
    retired = t;
    r->retired = true;
}

void opi_net_retired_poll(bool all) {
    if (OPI_LIKELY(!retired))
        return;
    struct opi_wait w = {.on = -1};
    do {
        for (struct retired **p = &retired; *p;) {
            struct retired *t = *p;
            struct opi_req *send = t->req->kind == OPI_R_PAIR ? t->req->second : t->req;
            if (send->kind == OPI_R_DESC && send->standard && !send->done)
                (void)opi_relieve(send);
            if (!opi_req_poll(t->req)) {
                p = &t->next;
                continue;
            }
            *p = t->next;
            opi_req_free(t->req);
            free(t);
        }
        if (all && retired) {
            bool sends = false;
            for (struct retired *t = retired; t; t = t->next)
                sends = sends || t->req->kind == OPI_R_NETSEND || t->req->kind == OPI_R_QUEUED || (t->req->kind == OPI_R_PAIR && !t->req->second->done);
            if (!sends)
                return;
            opi_progress();
            opi_relax(&w);
        }
    } while (all && retired);
}
