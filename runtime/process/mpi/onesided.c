/* onesided.c - process ranks' side of shared/onesided: making windows, whose they are, and reaching other processes' memory.
 *
 * Beneath each window lies one of the MPI's, over the same memory: its handle is the program's, and names, attributes, infos, groups and error handlers are
 * kept there.  A window is ours where all its members are on this node and all can reach the memory of each; all members know that alike.  So is one of
 * MPI_Win_create that spans nodes, among the members of each node that can (shared/onesided/span.c): what they agree on is none of other nodes' business, since
 * all make the window beneath by the same call.  Every other window is wholly the MPI's. */
#include "process/base/alive.h"
#include "process/base/overridden.h"
#include "process/below/outside.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/heap/heap.h"
#include "process/mpi/p2p.h"
#include "process/objects/request.h"
#include "process/objects/window.h"
#include "shared/alignment.h"
#include "shared/onesided/watch.h"

#include <stdlib.h>

#define PAGE 4096
#define LINE 64
#define PLACED ((size_t)8 << 10) /* from so many bytes on it matters where a window's memory starts within a page */
#define TAG 7301 /* of the messages by which the MPI makes a communicator for an exchange */

/* What members tell each other. */
struct card {
    uint64_t base, size, seat, log, desk;
    int64_t unit;
    int32_t local;
    int32_t direct, ok;
};

int opiw_unknown(const char *call, MPI_Win win) {
    (void)call, (void)win;
    return OPIW_NATIVE;
}

void opiw_begin(void) {
    opi_enter();
}

void opiw_end(void) {
    opi_leave();
}

bool opiw_wait(const char *call, struct opiw_win *w, int on, bool (*ready)(void *), void *of) {
    (void)call;
    struct opi_wait s = {.on = on < 0 ? -1 : w->at[on].id, .below = w->spans};
    while (!ready(of)) {
        opi_progress();
        if (OPI_UNLIKELY(w->spans)) /* who is waited for may be waiting for the MPI to do something to our memory, step by step: all that accumulates is such */
            opi_native_poll();
        if (OPI_UNLIKELY(opi.broken) && opi_died(s.on))
            return ready(of);
        opi_relax(&s);
    }
    return true;
}

void opiw_wake(struct opiw_win *w, int member) {
    if (w->at[member].id != opi.me)
        opi_wake(w->at[member].id);
}

void opiw_vain(void) {
    opi_progress();
    (void)opi_in_vain();
}

void opiw_turn(void) {
    opi_progress();
}

int opiw_lost_class(void) {
    return opi_lost_class();
}

int opiw_raise(struct opiw_win *w, int class, const char *call, const char *why) {
    const struct opi_win *x = w->side;
    MPI_Errhandler h;
    bool fatal = PMPI_Win_get_errhandler(x->handle, &h) != MPI_SUCCESS || h == MPI_ERRORS_ARE_FATAL;
    if (!fatal && h != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&h);
    if (fatal)
        opi_say("%s: %s: %s", call, opi_class_name(class), why);
    PMPI_Win_call_errhandler(x->handle, class);
    return class;
}

bool opiw_shape_of(MPI_Datatype type, const void *buf, struct opiw_shape *s) {
    struct opi_type *t = opi_type_of(type);
    if (OPI_UNLIKELY(!t))
        return false;
    if (OPI_UNLIKELY(*opi_device_newest != NULL) && buf)
        t = opi_device_type(t, buf);
    s->size = t->size;
    s->extent = t->extent;
    s->true_lb = t->true_lb;
    s->true_extent = t->true_extent;
    s->contiguous = t->contiguous;
    s->named = t->named;
    s->opaque = t->opaque;
    s->layout = t->layout;
    s->type = t;
    return true;
}

/* Of types that are not looked up in vain: a derived type is looked for by the MPI each time, and is no plain one. */
size_t opiw_plain_size(MPI_Datatype type) {
    const struct opi_type_cache *c = &opi_type_cache[opi_handle_hash(&type, sizeof type) % OPI_TYPE_CACHE];
    const struct opi_type *t = OPI_LIKELY(c->handle == type) ? c->type : NULL;
    return OPI_LIKELY(t && t->named && t->contiguous && !*opi_device_newest) ? t->size : 0;
}

void opiw_pack(const struct opiw_shape *s, const void *buf, size_t count, size_t at, size_t n, void *to) {
    if (OPI_UNLIKELY(s->opaque))
        opi_pack(s->type, buf, n / s->size < count ? n / s->size : count, to);
    else
        opi_pack_some(s->type, buf, count, at, n, to);
}

void opiw_unpack(const struct opiw_shape *s, void *buf, size_t count, size_t at, size_t n, const void *from) {
    if (OPI_UNLIKELY(s->opaque))
        opi_unpack(s->type, buf, count, from, n);
    else
        opi_unpack_some(s->type, buf, count, at, from, n);
}

bool opiw_reaches(const struct opiw_win *w, const struct opiw_target *t, const void *p, size_t n) {
    (void)w;
    return t->id == opi.me || opi_reachable(p, n);
}

int opiw_pid(const struct opiw_target *t) {
    return opi.peer[t->id]->pid;
}

bool opiw_gone(const struct opiw_target *t) {
    opi_look_alive();
    return opi.broken && opi_died(t->id);
}

int *opiw_members(struct opiw_win *w, MPI_Group group, int *n) {
    const struct opi_win *x = w->side;
    if (group == MPI_GROUP_NULL || PMPI_Group_size(group, n) != MPI_SUCCESS)
        return NULL;
    int *from = malloc(((size_t)*n + 1) * sizeof *from), *to = malloc(((size_t)*n + 1) * sizeof *to);
    bool ok = from && to;
    for (int i = 0; ok && i < *n; i++)
        from[i] = i;
    ok = ok && (*n == 0 || PMPI_Group_translate_ranks(group, *n, from, x->group, to) == MPI_SUCCESS);
    for (int i = 0; ok && i < *n; i++)
        ok = to[i] != MPI_UNDEFINED;
    free(from);
    if (ok)
        return to;
    free(to);
    return NULL;
}

void opiw_complete(const char *call, MPI_Request *request) {
    opi_need_names(call);
    *request = opi_req_handle(&opi_sent);
}

/* ---- making windows ------------------------------------------------------------------------------------------------------------------------------- */

/* How a window is asked for. */
struct wish {
    int flavor;
    void *base;
    MPI_Aint size, unit;
    MPI_Info info;
    MPI_Comm comm;
    bool large; /* the call with a large unit */
};

/* The ranks of a communicator that are on this node. */
struct near {
    int rank, size; /* this one's, and of the communicator */
    int n, *ranks, *locals;
    bool spans;
};

static void forget(struct near *m) {
    free(m->ranks);
    free(m->locals);
}

/* False where libopi does not follow the communicator, or where its ranks' windows of that flavor are the MPI's.  All of a node find the same. */
static bool near_of(const struct wish *h, struct near *m) {
    *m = (struct near){0};
    opi_enter();
    struct opi_comm *c = opi.ready && opi.node_ok && h->comm != MPI_COMM_NULL ? opi_comm_of(h->comm) : NULL;
    bool ours = c && c->active && !c->remote_group && (!c->mixed || (h->flavor == MPI_WIN_FLAVOR_CREATE && !c->lonely));
    if (ours) {
        m->ranks = malloc((size_t)c->size * sizeof *m->ranks);
        m->locals = malloc((size_t)c->size * sizeof *m->locals);
        ours = m->ranks && m->locals;
        m->rank = c->rank;
        m->size = c->size;
        m->spans = c->mixed;
        for (int i = 0; ours && i < c->size; i++)
            if (c->local_of_rank[i] >= 0) {
                m->ranks[m->n] = i;
                m->locals[m->n++] = c->local_of_rank[i];
            }
    }
    opi_leave();
    if (!ours)
        forget(m);
    return ours;
}

/* A communicator of our own with these ranks: none of our collectives runs on the program's (init.c). */
static bool own(MPI_Comm comm, const struct near *m, MPI_Comm *out) {
    MPI_Group all, group;
    if (PMPI_Comm_group(comm, &all) != MPI_SUCCESS)
        return false;
    int rc = PMPI_Group_incl(all, m->n, m->ranks, &group);
    PMPI_Group_free(&all);
    if (rc != MPI_SUCCESS)
        return false;
    rc = PMPI_Comm_create_group(comm, group, TAG, out);
    PMPI_Group_free(&group);
    return rc == MPI_SUCCESS && PMPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN) == MPI_SUCCESS;
}

/* Is what the MPI writes into the memory of one member seen by all of its node, as what the member's own loads see?  Not in the separate model. */
static bool unified(MPI_Win win, MPI_Comm near) {
    int *model, found, one, all = 0;
    one = PMPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found) == MPI_SUCCESS && found && *model == MPI_WIN_UNIFIED;
    return PMPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MIN, near) == MPI_SUCCESS && all;
}

static int make_below(const struct wish *h, void *base, MPI_Win *win, void **shared) {
#if MPI_VERSION >= 4
    if (h->flavor == MPI_WIN_FLAVOR_SHARED)
        return PMPI_Win_allocate_shared_c(h->size, h->unit, h->info, h->comm, shared, win);
    if (h->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return PMPI_Win_create_c(base, h->size, h->unit, h->info, h->comm, win);
#else
    if (h->flavor == MPI_WIN_FLAVOR_SHARED)
        return PMPI_Win_allocate_shared(h->size, (int)h->unit, h->info, h->comm, shared, win);
    if (h->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return PMPI_Win_create(base, h->size, (int)h->unit, h->info, h->comm, win);
#endif
    return PMPI_Win_create_dynamic(h->info, h->comm, win);
}

/* Where the MPI has put a member's part of a window of MPI_Win_allocate_shared, as an address of ours.  It is as large as the member asked for: Open MPI
 * tells whole pages. */
static bool where(MPI_Win win, int rank, struct opiw_target *t) {
    MPI_Aint size;
    int unit;
    void *base = NULL;
    if (PMPI_Win_shared_query(win, rank, &size, &unit, &base) != MPI_SUCCESS)
        return false;
    t->base = base;
    t->direct = true;
    return true;
}

/* Memory that only the MPI below may touch? */
static bool on_device(const void *p) {
    if (OPI_LIKELY(*opi_device_newest == NULL) || !p)
        return false;
    opi_enter();
    struct opi_type *t = opi_type_of(MPI_BYTE);
    bool is = t && opi_device_type(t, p) != t;
    opi_leave();
    return is;
}

static void put_down(struct opi_win *x, struct opiw_win *w, struct opiw_seat *seat, void *block, void *log) {
    opi_enter();
    if (x && x->exposes)
        opi_cover();
    if (log)
        opi_pool_free(log);
    if (seat)
        opi_pool_free(seat);
    if (block)
        opi_pool_free(block);
    if (w)
        opiw_drop(w);
    opi_leave();
    free(x);
}

/* Memory of the shared heap for a window; `block` is what is to be given back.  A copy whose target lies 16 to 48 bytes after its source, whole pages left out,
 * takes up to 1.7 times as long as any other: the processor takes what it loads for what it has just stored.  malloc's large blocks start 16 bytes into a page,
 * and ours at any line.  Half a page apart neither a put nor a get is one of those. */
static void *window_memory(size_t size, size_t to, void **block) {
    if (to > (size >= PLACED ? PAGE / 2 : LINE)) { /* as the program asks */
        *block = opi_pool_alloc(size + to);
        return *block ? (char *)*block + (-(uintptr_t)*block & (to - 1)) : NULL;
    }
    *block = size >= PLACED ? opi_pool_alloc(size + PAGE) : NULL;
    if (*block)
        return (char *)*block + ((PAGE / 2 - (uintptr_t)*block) & (PAGE - 1));
    return *block = opi_pool_alloc(size ? size : 1);
}

/* The card of this rank: where its memory is, and whether all members can reach it; `near` of the n are on this node. */
static struct card card_of(const struct wish *h, int n, int near, int local, struct opiw_seat **seat, void **block, void **log) {
    struct card c = {.local = local, .unit = h->unit, .size = (uint64_t)h->size};
    bool fits = h->flavor == MPI_WIN_FLAVOR_DYNAMIC || (h->size >= 0 && h->unit > 0 && h->unit <= INT32_MAX);
    bool given = h->flavor != MPI_WIN_FLAVOR_CREATE || ((h->base || h->size == 0) && !on_device(h->size ? h->base : NULL));
    opi_enter();
    *seat = fits && given ? opi_pool_alloc(opiw_seat_bytes(n)) : NULL;
    *log = *seat && opi.check ? opi_pool_alloc(opiw_log_bytes()) : NULL; /* without one nothing is checked */
    *block = NULL;
    void *base = *seat && h->flavor == MPI_WIN_FLAVOR_ALLOCATE ? window_memory((size_t)h->size, opi_alignment(h->info), block) : h->base;
    opi_leave();
    if (!*seat || (h->flavor == MPI_WIN_FLAVOR_ALLOCATE && !*block))
        return c;
    memset(*seat, 0, opiw_seat_bytes(n));
    if (*log && (near == 1 || opi_reachable(*log, opiw_log_bytes()))) {
        memset(*log, 0, opiw_log_bytes());
        c.log = (uint64_t)(uintptr_t)*log;
    }
    c.seat = (uint64_t)(uintptr_t)*seat;
    c.base = (uint64_t)(uintptr_t)base;
    c.direct = h->size == 0 || (h->flavor != MPI_WIN_FLAVOR_DYNAMIC && opi_reachable(base, (size_t)h->size));
    c.ok = near == 1 || ((c.direct || opi.kernel_copy || h->flavor == MPI_WIN_FLAVOR_SHARED) && opi_reachable(*seat, opiw_seat_bytes(n)));
    if (c.ok && near > 1 && h->flavor == MPI_WIN_FLAVOR_CREATE && !c.direct) {
        opi_enter();
        c.desk = (uint64_t)(uintptr_t)opi_expose();
        opi_leave();
    }
    return c;
}

/* The members of this node, as the cards tell. */
static void seat_members(const struct wish *h, struct opiw_win *w, const struct near *m, const struct card *cards) {
    w->rank = m->rank;
    w->size = m->size;
    w->nnear = m->n;
    w->spans = m->spans;
    w->watched = opi.watch;
    w->dynamic = h->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    for (int i = 0; i < m->n; i++) {
        const struct card *c = &cards[i];
        w->at[m->ranks[i]] = (struct opiw_target){.base = (char *)(uintptr_t)c->base, .size = (size_t)c->size, .unit = (ptrdiff_t)c->unit,
                                                  .seat = (struct opiw_seat *)(uintptr_t)c->seat, .id = c->local, .log = (void *)(uintptr_t)c->log,
                                                  .desk = (struct opiw_desk *)(uintptr_t)c->desk,
                                                  .direct = c->direct || m->ranks[i] == m->rank};
    }
}

/* Makes the window, or finds that it is to be the MPI's. */
static int make(const struct wish *h, void *baseptr, MPI_Win *win) {
    struct near m;
    MPI_Comm near = MPI_COMM_NULL;
    if (!near_of(h, &m))
        return OPI_NATIVE;
    if (!own(h->comm, &m, &near)) {
        forget(&m);
        return OPI_NATIVE;
    }
    struct opiw_seat *seat;
    void *block, *log, *shared = NULL;
    int me = 0;
    while (m.ranks[me] != m.rank)
        me++;
    struct card mine = card_of(h, m.size, m.n, m.locals[me], &seat, &block, &log);
    struct card *cards = calloc((size_t)m.n, sizeof *cards);
    struct opiw_win *w = calloc(1, sizeof *w);
    struct opi_win *x = calloc(1, sizeof *x);
    if (!cards || !w || !x || !(w->at = calloc((size_t)m.size, sizeof *w->at)))
        opi_die("out of memory for a window");
    x->exposes = mine.desk != 0;
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards, sizeof mine, MPI_BYTE, near);
    int rc = MPI_SUCCESS;
    for (int i = 0; i < m.n; i++)
        if (!cards[i].ok)
            rc = OPI_NATIVE;
    if (rc == MPI_SUCCESS)
        rc = make_below(h, (void *)(uintptr_t)mine.base, win, &shared);
    bool ours = rc == MPI_SUCCESS && (!m.spans || unified(*win, near));
    PMPI_Comm_free(&near);
    if (!ours) {
        free(cards);
        forget(&m);
        put_down(x, w, seat, block, log);
        return rc;
    }
    *x = (struct opi_win){.handle = *win, .w = w, .block = block, .flavor = h->flavor, .model = MPI_WIN_UNIFIED, .exposes = mine.desk != 0};
    w->side = x;
    seat_members(h, w, &m, cards);
    for (int i = 0; h->flavor == MPI_WIN_FLAVOR_SHARED && i < m.n; i++)
        if (!where(*win, i, &w->at[i]))
            opi_die("the MPI does not tell where a shared window lies");
    if (m.spans) {
        w->near = m.ranks;
        m.ranks = NULL;
    }
    forget(&m);
    free(cards);
    PMPI_Win_get_group(*win, &x->group);
    opi_enter();
    opi_win_keep(x);
    opi_leave();
    void *gives = block ? w->at[w->rank].base : shared;
    if (baseptr)
        memcpy(baseptr, &gives, sizeof gives);
    return MPI_SUCCESS;
}

int opi_win_create(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    return make(&(struct wish){.flavor = MPI_WIN_FLAVOR_CREATE, .base = base, .size = size, .unit = unit, .info = info, .comm = comm}, NULL, win);
}

int opi_win_allocate(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win, int flavor) {
    return make(&(struct wish){.flavor = flavor, .size = size, .unit = unit, .info = info, .comm = comm}, baseptr, win);
}

int opi_win_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    return make(&(struct wish){.flavor = MPI_WIN_FLAVOR_DYNAMIC, .unit = 1, .info = info, .comm = comm}, NULL, win);
}

int opi_win_free(const char *call, MPI_Win *win) {
    if (!win)
        return OPI_NATIVE;
    opi_enter();
    struct opiw_win *w = opiw_of(*win);
    bool open = w && (w->exposed || (w->access != OPIW_NONE && w->access != OPIW_FENCED));
    bool gone = w && !open && opiw_depart(call, w);
    struct opi_win *x = w ? w->side : NULL;
    opi_leave();
    if (!w)
        return OPI_NATIVE;
    if (!gone)
        return open ? opiw_raise(w, MPI_ERR_RMA_SYNC, call, "an epoch is open")
                    : opiw_raise(w, opi_lost_class(), call, "a rank of the window has died");
    PMPI_Group_free(&x->group);
    int rc = PMPI_Win_free(win); /* which calls the program's functions that delete attributes: they ask for others of this window */
    opi_enter();
    opi_win_forget(x);
    opi_leave();
    put_down(x, w, w->at[w->rank].seat, x->block, w->at[w->rank].log);
    return rc;
}
