/* window.c - windows of process ranks by their handles, and what libopi answers about one by itself. */
#include "process/objects/window.h"
#include "process/engine/section.h"
#include "process/mpi/p2p.h"
#include "process/objects/handle.h"

#include <string.h>

#define CHAINS 64
#define LARGEST 64 /* bytes of a predefined type, gaps and all: of MPI_LONG_DOUBLE_INT and MPI_C_LONG_DOUBLE_COMPLEX 32 */

static struct opi_win *chain[CHAINS]; /* inside the section */
static struct opi_win *last;
static struct {
    MPI_Op op;
    MPI_Datatype type;
    bool asked, fits;
} fit[CHAINS]; /* inside the section; predefined handles stay what they are */

static struct opi_win **place_of(MPI_Win win) {
    return &chain[opi_handle_hash(&win, sizeof win) % CHAINS];
}

/* In front: while a window is freed the MPI may give its handle to a new one, which is the one that is meant from then on. */
void opi_win_keep(struct opi_win *x) {
    struct opi_win **at = place_of(x->handle);
    x->next = *at;
    *at = x;
    last = NULL;
}

void opi_win_forget(struct opi_win *x) {
    struct opi_win **at = place_of(x->handle);
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    last = NULL;
}

struct opiw_win *opiw_of(MPI_Win win) {
    if (OPI_UNLIKELY(!last || last->handle != win)) {
        struct opi_win *x = *place_of(win);
        while (x && x->handle != win)
            x = x->next;
        if (!x)
            return NULL;
        last = x;
    }
    return last->w;
}

struct opiw_win *opiw_begin_of(MPI_Win win) {
    opi_enter();
    return OPI_LIKELY(last && last->handle == win) ? last->w : opiw_of(win);
}

/* MPI_Reduce_local has no communicator: its errors go to MPI_COMM_WORLD's or MPI_COMM_SELF's handler, and not to the window's.  So a sum over one rank, whose
 * errors are returned, is tried first, once for each operation and type. */
bool opiw_op_fits(MPI_Op op, MPI_Datatype type) {
    size_t at = (opi_handle_hash(&op, sizeof op) + opi_handle_hash(&type, sizeof type)) % CHAINS;
    if (OPI_UNLIKELY(!fit[at].asked || fit[at].op != op || fit[at].type != type)) {
        _Alignas(16) char from[LARGEST] = {0}, to[LARGEST];
        fit[at].fits = PMPI_Allreduce(from, to, 1, type, op, opi.self) == MPI_SUCCESS;
        fit[at].op = op;
        fit[at].type = type;
        fit[at].asked = true;
    }
    return fit[at].fits;
}

/* The window beneath is one of MPI_Win_create where ours is one of MPI_Win_allocate. */
int opi_win_get_attr(MPI_Win win, int keyval, void *value, int *flag) {
    opi_enter();
    struct opiw_win *w = keyval == MPI_WIN_CREATE_FLAVOR || keyval == MPI_WIN_MODEL ? opiw_of(win) : NULL;
    opi_leave();
    if (!w || !value || !flag)
        return OPI_NATIVE;
    struct opi_win *x = w->side;
    int *what = keyval == MPI_WIN_MODEL ? &x->model : &x->flavor;
    memcpy(value, &what, sizeof what);
    *flag = 1;
    return MPI_SUCCESS;
}

/* Of MPI_Win_allocate, whose memory all members reach, and whose window beneath is one of MPI_Win_create: that one knows no addresses.  MPI_PROC_NULL is the
 * first member that has memory.  An MPI of version 3 refuses such windows: it is asked, and refuses. */
int opi_win_shared_query(MPI_Win win, int rank, MPI_Aint *size, void *unit, size_t unit_bytes, void *baseptr) {
#if MPI_VERSION >= 4
    opi_enter();
    struct opiw_win *w = opiw_of(win);
    opi_leave();
    const struct opi_win *x = w ? w->side : NULL;
    if (!x || x->flavor != MPI_WIN_FLAVOR_ALLOCATE || (rank != MPI_PROC_NULL && (rank < 0 || rank >= w->size)) || !size || !unit || !baseptr)
        return OPI_NATIVE;
    int of = rank == MPI_PROC_NULL ? 0 : rank;
    while (rank == MPI_PROC_NULL && of < w->size - 1 && !w->at[of].size)
        of++;
    const struct opiw_target *t = &w->at[of];
    const void *base = t->size ? t->base : NULL;
    int narrow = (int)t->unit;
    MPI_Aint wide = t->unit;
    memcpy(unit, unit_bytes == sizeof narrow ? (void *)&narrow : (void *)&wide, unit_bytes);
    memcpy(baseptr, &base, sizeof base);
    *size = (MPI_Aint)t->size;
    return MPI_SUCCESS;
#else
    (void)win, (void)rank, (void)size, (void)unit, (void)unit_bytes, (void)baseptr;
    return OPI_NATIVE;
#endif
}
