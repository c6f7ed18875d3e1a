/* onesided.c - thread and fiber ranks' side of shared/onesided: all memory of a process is in every rank's reach, so the origin only reads and writes.
 *
 * The ranks of a window have to be in one process. */
#include "ranks/window/win.h"

#include <stdlib.h>

struct opiw_win *opiw_of(MPI_Win win) {
    struct opir_win *x = opir_win_of(win);
    return x ? x->w : NULL;
}

int opiw_unknown(const char *call, MPI_Win win) {
    (void)win;
    opir_me(call);
    return opir_raise(NULL, MPI_ERR_WIN, call, "invalid window");
}

int opiw_unknown_op(const char *call, MPI_Win win, enum opiw_kind kind, MPI_Count count, MPI_Datatype type) {
    (void)kind, (void)count, (void)type;
    return opiw_unknown(call, win);
}

/* No window of ours is watched: OPI_PROFILE and OPI_CHECK are libopi's. */
void opiw_watch(struct opiw_op *o, enum opiw_kind kind, MPI_Op op, bool requested) {
    (void)o, (void)kind, (void)op, (void)requested;
}

void opiw_watch_end(const char *call, struct opiw_win *w, int target, enum opiw_ending how) {
    (void)call, (void)w, (void)target, (void)how;
}

void opiw_begin(void) {
}

void opiw_end(void) {
}

bool opiw_wait(const char *call, struct opiw_win *w, int on, bool (*ready)(void *), void *of) {
    (void)w, (void)on;
    if (ready(of))
        return true;
    struct opir_rank *me = opir_me(call);
    struct opir_wait s = {0};
    me->call = call;
    while (!ready(of))
        opir_relax(&s);
    opir_relaxed(&s);
    me->call = NULL;
    return true;
}

void opiw_wake(struct opiw_win *w, int member) {
    struct opir_rank *r = opir_rank_of(w->at[member].id);
    if (r != opir_self)
        opir_wake(r);
}

void opiw_vain(void) {
    opir_yield();
}

void opiw_turn(void) {
    if (opir.fibers)
        opir_yield();
}

/* No rank of a process dies alone. */
int opiw_lost_class(void) {
    return MPI_ERR_OTHER;
}

int opiw_raise(struct opiw_win *w, int class, const char *call, const char *why) {
    struct opir_win *x = w->side;
    MPI_Win handle;
    OPIR_PUT(&handle, x);
    return opir_win_raise(x->errh, handle, class, call, why);
}

bool opiw_shape_of(MPI_Datatype type, const void *buf, struct opiw_shape *s) {
    (void)buf;
    struct opir_type *t = opir_type_of(opir_self, type);
    if (OPIR_UNLIKELY(!t))
        return false;
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

/* Elements from the one that byte `at` is in. */
static void move(const struct opiw_shape *s, char *buf, size_t count, size_t at, size_t n, char *packed, bool unpack) {
    struct opi_stream stream = {.at = packed, .skip = at % s->size, .left = n, .unpack = unpack};
    for (size_t i = at / s->size; i < count && stream.left; i++)
        opi_layout_move(s->layout.of, buf + s->layout.offset + (ptrdiff_t)i * s->extent, &stream);
}

void opiw_pack(const struct opiw_shape *s, const void *buf, size_t count, size_t at, size_t n, void *to) {
    if (s->contiguous)
        memcpy(to, (const char *)buf + at, n);
    else if (OPIR_UNLIKELY(s->opaque))
        opir_pack(s->type, buf, n / s->size < count ? n / s->size : count, to);
    else
        move(s, (char *)(uintptr_t)buf, count, at, n, to, false);
}

void opiw_unpack(const struct opiw_shape *s, void *buf, size_t count, size_t at, size_t n, const void *from) {
    if (s->contiguous)
        memcpy((char *)buf + at, from, n);
    else if (OPIR_UNLIKELY(s->opaque))
        opir_unpack(s->type, buf, count, from, n);
    else
        move(s, buf, count, at, n, (char *)(uintptr_t)from, true);
}

bool opiw_reaches(const struct opiw_win *w, const struct opiw_target *t, const void *p, size_t n) {
    (void)w, (void)t, (void)p, (void)n;
    return true;
}

/* Everything is in reach, so nobody asks. */
bool opiw_kernel(const struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write) {
    (void)t, (void)mine, (void)theirs, (void)pieces, (void)n, (void)write;
    return false;
}

int *opiw_members(struct opiw_win *w, MPI_Group group, int *n) {
    struct opir_win *x = w->side;
    struct opir_group *g = group == MPI_GROUP_EMPTY ? NULL : opir_group_of(group);
    if (!g && group != MPI_GROUP_EMPTY)
        return NULL;
    *n = g ? g->size : 0;
    int *to = opir_alloc(((size_t)*n + 1) * sizeof *to);
    for (int i = 0; i < *n; i++) {
        to[i] = opir_group_rank(x->group, opir_group_world(g, i));
        if (to[i] < 0) {
            free(to);
            return NULL;
        }
    }
    return to;
}

void opiw_complete(const char *call, MPI_Request *request) {
    struct opir_req *q = opir_req_sent(opir_me(call));
    OPIR_PUT(request, q);
}

/* ---- making windows ------------------------------------------------------------------------------------------------------------------------------- */

struct card {
    uintptr_t base, seat;
    MPI_Aint size, unit;
    int world, ok;
};

static int gather(const char *call, MPI_Comm comm, struct card *mine, struct card *all) {
    struct opir_args args = {.kind = OPIR_ALLGATHER, .sbuf = mine, .scount = sizeof *mine, .stype = MPI_BYTE, .rbuf = all, .rcount = sizeof *mine,
                             .rtype = MPI_BYTE, .has_s = true, .has_r = true};
    return opir_coll(call, comm, &args, NULL, false);
}

static bool noncontiguous(MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    return info != MPI_INFO_NULL && PMPI_Info_get(info, "alloc_shared_noncontig", MPI_MAX_INFO_VAL, value, &there) == MPI_SUCCESS && there &&
           strcmp(value, "true") == 0;
}

/* The memory that a window brings along: of MPI_Win_allocate_shared one block of member 0's, in which the parts follow each other, as a rule. */
static void *block_for(int flavor, bool apart, int rank, const struct card *all, int n) {
    size_t bytes = (size_t)all[rank].size;
    void *p = NULL;
    if (flavor == MPI_WIN_FLAVOR_SHARED && !apart) {
        bytes = 0;
        for (int i = 0; rank == 0 && i < n; i++)
            bytes += (size_t)all[i].size;
        if (rank)
            return NULL;
    } else if (flavor != MPI_WIN_FLAVOR_ALLOCATE && flavor != MPI_WIN_FLAVOR_SHARED) {
        return NULL;
    }
    return posix_memalign(&p, 64, bytes ? bytes : 1) ? NULL : p;
}

static struct opir_win *win_new(int flavor, const struct card *mine, struct opir_comm *c) {
    struct opir_win *x = opir_alloc(sizeof *x);
    opir_obj_init(&x->obj, OPIR_WIN);
    x->flavor = flavor;
    x->model = MPI_WIN_UNIFIED;
    x->size = mine->size;
    x->unit = (int)mine->unit;
    x->errh = MPI_ERRORS_ARE_FATAL;
    x->group = opir_group_keep(c->local);
    x->info = MPI_INFO_NULL;
    x->w = opir_alloc(sizeof *x->w);
    x->w->at = opir_alloc((size_t)opir_comm_size(c) * sizeof *x->w->at);
    x->w->rank = c->rank;
    x->w->size = x->w->nnear = opir_comm_size(c);
    x->w->dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC;
    x->w->side = x;
    return x;
}

int opir_win_make(const char *call, int flavor, void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c = opir_comm_of(me, comm);
    if (!c || c->shared->inter)
        return opir_raise(c, MPI_ERR_COMM, call, "%s", c ? "an intercommunicator" : "invalid communicator");
    if (!win || (!baseptr && (flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED)))
        return opir_raise(c, MPI_ERR_ARG, call, "null pointer");
    if (size < 0)
        return opir_raise(c, MPI_ERR_SIZE, call, "negative size");
    if (unit <= 0 || unit > INT32_MAX)
        return opir_raise(c, MPI_ERR_DISP, call, "invalid displacement unit");
    if (c->shared->spread)
        opir_die("%s: windows of ranks that are in several processes are not available", call);
    int n = opir_comm_size(c);
    struct card mine = {.base = (uintptr_t)base, .size = size, .unit = unit, .world = me->world}, *all = opir_alloc((size_t)n * sizeof *all);
    int rc = gather(call, comm, &mine, all);
    bool apart = noncontiguous(info), brings = flavor == MPI_WIN_FLAVOR_ALLOCATE || (flavor == MPI_WIN_FLAVOR_SHARED && (apart || c->rank == 0));
    void *block = rc == MPI_SUCCESS ? block_for(flavor, apart, c->rank, all, n) : NULL;
    struct opiw_seat *seat = opir_alloc(opiw_seat_bytes(n));
    mine.ok = !brings || block;
    mine.seat = (uintptr_t)seat;
    mine.base = block ? (uintptr_t)block : mine.base;
    if (rc == MPI_SUCCESS)
        rc = gather(call, comm, &mine, all);
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok = ok && all[i].ok;
    if (rc != MPI_SUCCESS || !ok) {
        free(all);
        free(block);
        free(seat);
        return rc != MPI_SUCCESS ? rc : opir_raise(c, MPI_ERR_NO_MEM, call, "no memory for the window");
    }
    struct opir_win *x = win_new(flavor, &mine, c);
    uintptr_t next = all[0].base;
    for (int i = 0; i < n; i++) {
        bool in_block = flavor == MPI_WIN_FLAVOR_SHARED && !apart;
        x->w->at[i] = (struct opiw_target){.base = (char *)(in_block ? next : all[i].base), .size = (size_t)all[i].size, .unit = all[i].unit,
                                           .seat = (struct opiw_seat *)all[i].seat, .id = all[i].world, .direct = true};
        next += (uintptr_t)all[i].size;
    }
    free(all);
    x->block = block;
    x->base = x->w->at[c->rank].base;
    if (info != MPI_INFO_NULL)
        PMPI_Info_dup(info, &x->info);
    if (baseptr)
        memcpy(baseptr, &x->base, sizeof x->base);
    OPIR_PUT(win, x);
    return MPI_SUCCESS;
}
