/* span.c - windows that span nodes: libopi carries puts and gets between members of a node, the window of the MPI beneath everything else.
 *
 * Each synchronising call is made twice, among the members of the node through the seats (sync.c), and beneath for all.  So the MPI has an epoch of its own
 * open wherever the program has one, and anything may be left to it:
 *
 *   - All that accumulates, also to members of this node: MPI wants each element changed as a whole whoever the origin is, and one on another node can only
 *     come through the MPI.
 *   - Locks.  One on another node has to be kept out, too, so the lock is the MPI's.  But MPI_Win_lock may return before the target has granted it: what is
 *     known is that a get which a flush has completed was made under the lock.  Until there was one, loads and stores would be made without. */
#include "shared/onesided/onesided.h"

#include <string.h>

#define AT_ONCE ((size_t)16 << 10) /* bytes of a first operation that are worth asking for the lock */

bool opiw_leaves(struct opiw_win *w, int target, bool accumulates) {
    if (target < 0 || target >= w->size)
        return false; /* to be refused, or MPI_PROC_NULL */
    struct opiw_target *t = &w->at[target];
    if ((t->seat && !accumulates) || opiw_no_epoch(w, t))
        return false;
    t->carried = w->carried = true;
    return true;
}

/* The first small operation under a lock goes to the MPI, as it would without libopi: many programs make but one. */
int opiw_under_lock(struct opiw_op *o, MPI_Win win) {
    struct opiw_target *t = o->t;
    int target = (int)(t - o->w->at), rc;
    char byte;
    if (!t->held || t->granted == OPIW_GRANTED)
        return MPI_SUCCESS;
    if (t->granted == OPIW_ASKED && o->n < AT_ONCE) {
        t->granted = OPIW_TRIED;
        t->carried = o->w->carried = true;
        return OPIW_NATIVE;
    }
    opiw_end();
    rc = PMPI_Get(&byte, 1, MPI_BYTE, target, 0, 1, MPI_BYTE, win); /* it has one: the operation is inside of it, and moves bytes */
    if (rc == MPI_SUCCESS)
        rc = PMPI_Win_flush(target, win);
    opiw_begin();
    if (rc == MPI_SUCCESS)
        t->granted = OPIW_GRANTED;
    return rc;
}

void opiw_locked(struct opiw_win *w, int target, bool checked) {
    struct opiw_target *t = &w->at[target];
    t->granted = checked && target != w->rank ? OPIW_ASKED : OPIW_GRANTED; /* a rank's lock of its own memory is there when the call returns */
}

static void flushed(struct opiw_target *t) {
    t->carried = false;
    if (t->granted == OPIW_TRIED)
        t->granted = OPIW_GRANTED;
}

int opiw_flush_below(struct opiw_win *w, int target, bool local, MPI_Win win) {
    if (target >= 0 ? !w->at[target].carried : !w->carried)
        return MPI_SUCCESS;
    opiw_end();
    int rc;
    if (target >= 0)
        rc = local ? PMPI_Win_flush_local(target, win) : PMPI_Win_flush(target, win);
    else
        rc = local ? PMPI_Win_flush_local_all(win) : PMPI_Win_flush_all(win);
    opiw_begin();
    if (rc != MPI_SUCCESS || local)
        return rc;
    for (int i = target >= 0 ? target : 0; i < (target >= 0 ? target + 1 : w->size); i++)
        flushed(&w->at[i]);
    w->carried = w->carried && target >= 0;
    return MPI_SUCCESS;
}
