/* revoke.c - revoked communicators (the fault tolerance that some MPIs offer).
 *
 * MPIX_Comm_revoke on one rank makes every call on that communicator fail on all its ranks, sooner or later.  From then on its messages are the MPI's,
 * which refuses them: the communicator is not active any more.  A rank hears of it when it revokes, or, while it waits, from the MPI below.  What still waits
 * for a message of ours, or to be received, ends with the MPI's error. */
#include "process/base/error.h"
#include "process/base/export.h"
#include "process/below/net.h"
#include "process/engine/deliver.h"
#include "process/engine/match.h"
#include "process/engine/section.h"
#include "process/objects/comm.h"
#include "process/objects/revoke.h"

#include <stdlib.h>

#if defined(MPI_ERR_REVOKED)
#define REVOKED MPI_ERR_REVOKED
#elif defined(MPIX_ERR_REVOKED)
#define REVOKED MPIX_ERR_REVOKED
#else
#define REVOKED MPI_ERR_COMM
#endif

/* Not every MPI has them, nor every build of one. */
extern int PMPIX_Comm_revoke(MPI_Comm comm) __attribute__((weak));
extern int PMPIX_Comm_is_revoked(MPI_Comm comm, int *flag) __attribute__((weak));

/* Active communicators: those whose revocation concerns us. */
static struct opi_comm *all;

/* Contexts of the revoked ones; sends know no more of their communicator. */
static uint64_t *revoked;
static size_t nrevoked;

void opi_comm_follow(struct opi_comm *c) {
    c->next_all = all;
    if (all)
        all->link_all = &c->next_all;
    c->link_all = &all;
    all = c;
}

void opi_comm_unfollow(struct opi_comm *c) {
    if (!c->link_all)
        return;
    *c->link_all = c->next_all;
    if (c->next_all)
        c->next_all->link_all = c->link_all;
    c->link_all = NULL;
}

static void mark(struct opi_comm *c) {
    uint64_t *more = realloc(revoked, (nrevoked + 2) * sizeof *more);
    if (!more)
        opi_die("out of memory for a revoked communicator");
    revoked = more;
    revoked[nrevoked++] = c->ctx;
    revoked[nrevoked++] = opi_ctx_exchange(c->ctx);
    opi_comm_unfollow(c);
    c->active = c->mixed = c->lonely = false;
    opi.broken = true;
}

/* Asks the MPI below; from waits that last. */
OPI_COLD void opi_revoke_poll(void) {
    int flag;
    if (!PMPIX_Comm_is_revoked)
        return;
    for (struct opi_comm *c = all, *next; c; c = next) {
        next = c->next_all;
        if (PMPIX_Comm_is_revoked(c->handle, &flag) == MPI_SUCCESS && flag)
            mark(c);
    }
}

/* Was it revoked, as far as is known here? */
bool opi_comm_refused(MPI_Comm comm) {
    size_t i = 0;
    opi_enter();
    struct opi_comm *c = opi_comm_of(comm);
    while (c && i < nrevoked && revoked[i] != c->ctx)
        i++;
    opi_leave();
    return c && i < nrevoked;
}

/* A request that is not complete, when some communicator is revoked: true when it is one of that communicator's, and over now. */
OPI_COLD bool opi_req_revoked(struct opi_req *r) {
    size_t i = 0;
    if (r->kind != OPI_R_DESC && !((r->kind == OPI_R_RECV && r->posted) || (r->kind == OPI_R_NETHELD && r->held)))
        return false;
    while (i < nrevoked && revoked[i] != r->ctx)
        i++;
    if (i == nrevoked)
        return false;
    if (r->kind == OPI_R_DESC) {
        if (!opi_desc_withdraw(r))
            return false; /* it is being received */
    } else {
        if (r->posted)
            opi_unpost(r);
        if (r->held)
            opi_net_unhold(r);
        r->r_source = MPI_ANY_SOURCE;
        r->r_tag = MPI_ANY_TAG;
        r->r_bytes = 0;
    }
    r->r_error = REVOKED;
    r->done = true;
    return true;
}

#if defined(OPEN_MPI) || defined(MPICH_VERSION)
int MPIX_Comm_revoke(MPI_Comm comm); /* Open MPI has it in a header of its own */
EXPORT int MPIX_Comm_revoke(MPI_Comm comm) {
    if (!PMPIX_Comm_revoke)
        return opi_raise(comm, MPI_ERR_UNSUPPORTED_OPERATION, "MPIX_Comm_revoke", "the MPI has no such call");
    int rc = PMPIX_Comm_revoke(comm);
    if (rc == MPI_SUCCESS && opi.ready) {
        opi_enter();
        struct opi_comm *c = opi_comm_of(comm);
        if (c && c->active)
            mark(c);
        opi_leave();
    }
    return rc;
}
#endif
