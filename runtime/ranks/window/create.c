/* create.c - making windows: what members tell each other, and where their seats and their memory lie. */
#include "ranks/transport/net.h"
#include "ranks/window/win.h"
#include "shared/alignment.h"
#include "shared/onesided/watch.h"

#include <stdlib.h>

#define LINE ((size_t)64)
#define PAGE ((size_t)4096)
#define PLACED (2 * PAGE) /* from so many bytes on it matters where a window's memory starts within a page */

enum trouble { NONE, NO_MEMORY, NO_REACH, NO_COPIES };

/* What a member tells of itself.  Addresses mean something in its process alone. */
struct card {
    uintptr_t base, seat, log;
    MPI_Aint size, unit;
    struct opir_ground *ground;
    struct opir_ground_card piece;
    int world;
    enum trouble trouble;
    bool checks; /* what is done to its memory: it has a log then */
    size_t align; /* of what it allocates, as its info asks; at least a line */
    bool apart; /* no part of the memory of MPI_Win_allocate_shared need follow another: as member 0 says */
};

/* A window that is being made. */
struct making {
    const char *call;
    MPI_Comm comm;
    struct opir_comm *c;
    int flavor, n;
    struct card mine, *all;
};

static int gather(struct making *m) {
    struct opir_args args = {.kind = OPIR_ALLGATHER, .sbuf = &m->mine, .scount = sizeof m->mine, .stype = MPI_BYTE, .rbuf = m->all, .rcount = sizeof m->mine,
                             .rtype = MPI_BYTE, .has_s = true, .has_r = true};
    return opir_coll(m->call, m->comm, &args, NULL, false);
}

static enum trouble worst(const struct making *m) {
    enum trouble most = NONE;
    for (int i = 0; i < m->n; i++)
        most = m->all[i].trouble > most ? m->all[i].trouble : most;
    return most;
}

static bool noncontiguous(MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    return info != MPI_INFO_NULL && PMPI_Info_get(info, "alloc_shared_noncontig", MPI_MAX_INFO_VAL, value, &there) == MPI_SUCCESS && there &&
           strcmp(value, "true") == 0;
}

static bool in_one_block(const struct making *m) {
    return m->flavor == MPI_WIN_FLAVOR_SHARED && !m->all[0].apart;
}

/* Does a member have memory of its own that the window brings along? */
static bool brings(const struct making *m) {
    return m->flavor == MPI_WIN_FLAVOR_ALLOCATE || (m->flavor == MPI_WIN_FLAVOR_SHARED && m->all[0].apart);
}

static struct opir_win *win_new(const struct making *m) {
    struct opir_win *x = opir_alloc(sizeof *x);
    opir_obj_init(&x->obj, OPIR_WIN);
    x->flavor = m->flavor;
    x->model = MPI_WIN_UNIFIED;
    x->size = m->mine.size;
    x->unit = (int)m->mine.unit;
    x->errh = MPI_ERRORS_ARE_FATAL;
    x->group = opir_group_keep(m->c->local);
    x->info = MPI_INFO_NULL;
    x->w = opir_alloc(sizeof *x->w);
    x->w->at = opir_alloc((size_t)m->n * sizeof *x->w->at);
    x->w->rank = m->c->rank;
    x->w->size = x->w->nnear = m->n;
    x->w->watched = opir.check || opir.profile;
    x->w->dynamic = m->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    x->w->side = x;
    for (int i = 0; i < m->n; i++)
        x->w->at[i] = (struct opiw_target){.size = (size_t)m->all[i].size, .unit = m->all[i].unit, .id = m->all[i].world};
    return x;
}

/* ---- in one process --------------------------------------------------------------------------------------------------------------------------- */

/* The memory that a member allocates for the window: of one block, in which the parts follow each other, member 0 all. */
static void *block_for(const struct making *m) {
    size_t bytes = (size_t)m->mine.size;
    void *p = NULL;
    if (in_one_block(m)) {
        bytes = 0;
        for (int i = 0; m->c->rank == 0 && i < m->n; i++)
            bytes += (size_t)m->all[i].size;
    }
    return posix_memalign(&p, m->mine.align, bytes ? bytes : 1) ? NULL : p;
}

static int within(struct making *m, struct opir_win **made) {
    bool allocates = brings(m) || (in_one_block(m) && m->c->rank == 0);
    void *block = allocates ? block_for(m) : NULL;
    struct opiw_seat *seat = opir_alloc(opiw_seat_bytes(m->n));
    void *log = m->mine.checks ? opir_alloc(opiw_log_bytes()) : NULL;
    m->mine.trouble = allocates && !block ? NO_MEMORY : NONE;
    m->mine.seat = (uintptr_t)seat;
    m->mine.log = (uintptr_t)log;
    m->mine.base = block ? (uintptr_t)block : m->mine.base;
    int rc = gather(m);
    if (rc != MPI_SUCCESS || worst(m) != NONE) {
        free(block);
        free(seat);
        free(log);
        return rc != MPI_SUCCESS ? rc : opir_raise(m->c, MPI_ERR_NO_MEM, m->call, "no memory for the window");
    }
    struct opir_win *x = *made = win_new(m);
    x->block = block;
    uintptr_t next = m->all[0].base;
    for (int i = 0; i < m->n; i++) {
        struct opiw_target *t = &x->w->at[i];
        t->base = (char *)(in_one_block(m) ? next : m->all[i].base);
        t->seat = (struct opiw_seat *)m->all[i].seat;
        t->log = (void *)m->all[i].log;
        t->direct = true;
        next += t->size;
    }
    return MPI_SUCCESS;
}

/* ---- in several processes of a node ----------------------------------------------------------------------------------------------------------------- */

/* Where things lie in the pieces of the ground, one of each process with members; all members find the same. */
struct layout {
    size_t *bytes; /* of each piece */
    struct spot {
        int piece, block; /* of the seat and the log; of the memory that the window brings along */
        size_t seat, log, memory;
    } *of; /* each member */
};

/* A place after all others.  A copy whose target lies 16 to 48 bytes after its source, whole pages left out, is slow: malloc's large blocks start 16 bytes into
 * a page, so ours start in the middle of one.  False where there are not so many addresses. */
static bool place(size_t *end, size_t bytes, size_t align, size_t *at) {
    if (bytes > PTRDIFF_MAX - 4 * PAGE || *end > PTRDIFF_MAX - 4 * PAGE - bytes)
        return false;
    if (align > LINE)
        *at = (*end + OPIR_GROUND_HEAD + align - 1) / align * align - OPIR_GROUND_HEAD;
    else
        *at = bytes < PLACED ? *end : (*end + PAGE - 1) / PAGE * PAGE + PAGE / 2;
    *end = *at + (bytes + LINE - 1) / LINE * LINE;
    return true;
}

/* What is mapped begins at a page, and no member knows where its pages will be. */
static size_t page_at_most(const struct card *c) {
    return c->align < PAGE ? c->align : PAGE;
}

static void layout_drop(struct layout *l) {
    free(l->bytes);
    free(l->of);
}

static bool lay_out(const struct making *m, const struct opir_spread *p, struct layout *l) {
    bool fits = true;
    l->bytes = opir_alloc((size_t)p->procs * sizeof *l->bytes);
    l->of = opir_alloc((size_t)m->n * sizeof *l->of);
    for (int k = 0; k < p->procs; k++)
        for (int j = p->at[k]; j < p->at[k + 1]; j++) {
            struct spot *s = &l->of[p->places[j]];
            s->piece = s->block = k;
            fits = place(&l->bytes[k], opiw_seat_bytes(m->n), LINE, &s->seat) && fits;
            if (m->all[p->places[j]].checks)
                fits = place(&l->bytes[k], opiw_log_bytes(), LINE, &s->log) && fits;
        }
    for (int i = 0; brings(m) && i < m->n; i++)
        fits = place(&l->bytes[l->of[i].piece], (size_t)m->all[i].size, page_at_most(&m->all[i]), &l->of[i].memory) && fits;
    if (!in_one_block(m))
        return fits;
    size_t sum = 0;
    for (int i = 0; i < m->n; i++) {
        l->of[i].block = l->of[0].piece;
        l->of[i].memory = sum;
        fits = !__builtin_add_overflow(sum, (size_t)m->all[i].size, &sum) && fits;
    }
    size_t at = 0;
    fits = place(&l->bytes[l->of[0].piece], sum, page_at_most(&m->all[0]), &at) && fits;
    for (int i = 0; i < m->n; i++)
        l->of[i].memory += at;
    return fits;
}

static bool on_one_node(const struct opir_spread *p) {
    for (int k = 1; k < p->procs; k++)
        if (opir.node[p->proc[k]] != opir.node[p->proc[0]])
            return false;
    return true;
}

/* The first member of each process makes its piece, and maps the others' when all are there. */
static enum trouble map_ground(struct making *m, const struct opir_spread *p, const struct layout *l, struct opir_ground *g) {
    bool copies = m->flavor == MPI_WIN_FLAVOR_CREATE || m->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    if (copies && !opiw_kernel_wanted())
        return NO_COPIES;
    for (int k = 0; k < p->procs; k++) {
        const struct card *their = &m->all[p->places[p->at[k]]];
        if (k != p->here && !opir_ground_join(g, k, opir.pid[p->proc[k]], l->bytes[k], &their->piece, copies))
            return NO_REACH;
    }
    return NONE;
}

static int refused(struct making *m, struct opir_ground *g, int rc) {
    if (g)
        opir_ground_drop(g);
    if (rc != MPI_SUCCESS)
        return rc;
    if (worst(m) == NO_COPIES)
        opir_die("%s: windows of memory of other processes need copies by the kernel, which OPI_KERNEL_COPY=0 forbids", m->call);
    if (worst(m) == NO_REACH)
        opir_die("%s: the system lets no process reach the memory of another: windows of ranks in several processes are not available", m->call);
    return opir_raise(m->c, MPI_ERR_NO_MEM, m->call, "no memory for the window");
}

static int across(struct making *m, struct opir_win **made) {
    const struct opir_spread *p = m->c->shared->spread;
    if (!on_one_node(p)) {
        if (m->flavor == MPI_WIN_FLAVOR_SHARED)
            return opir_raise(m->c, MPI_ERR_RMA_SHARED, m->call, "the ranks are on several nodes");
        opir_die("%s: windows of ranks that are on several nodes are not available", m->call);
    }
    struct layout l;
    bool fits = lay_out(m, p, &l), leads = p->places[p->at[p->here]] == m->c->rank;
    struct opir_ground *g = NULL;
    if (leads && fits)
        g = opir_ground_new(p->procs, p->here, l.bytes[p->here], opir_spread_size(p, p->here), &m->mine.piece);
    m->mine.trouble = leads && !g ? NO_MEMORY : NONE;
    int rc = gather(m);
    if (rc == MPI_SUCCESS && leads && g && worst(m) == NONE)
        m->mine.trouble = map_ground(m, p, &l, g);
    m->mine.ground = g;
    if (rc == MPI_SUCCESS)
        rc = gather(m); /* after which all pieces are mapped, and the one of each process's first member may close its file */
    if (g)
        opir_ground_ready(g);
    if (rc == MPI_SUCCESS)
        g = m->all[p->places[p->at[p->here]]].ground;
    if (rc != MPI_SUCCESS || worst(m) != NONE) {
        layout_drop(&l);
        return refused(m, g, rc);
    }
    struct opir_win *x = *made = win_new(m);
    x->ground = g;
    x->w->order = &opir_net;
    for (int i = 0; i < m->n; i++) {
        struct opiw_target *t = &x->w->at[i];
        const struct spot *s = &l.of[i];
        bool ours = m->flavor == MPI_WIN_FLAVOR_ALLOCATE || m->flavor == MPI_WIN_FLAVOR_SHARED;
        t->base = ours ? opir_ground_at(g, s->block, s->memory) : (char *)m->all[i].base;
        t->seat = (struct opiw_seat *)opir_ground_at(g, s->piece, s->seat);
        t->log = m->all[i].checks ? opir_ground_at(g, s->piece, s->log) : NULL;
        t->direct = ours || s->piece == p->here || t->size == 0;
    }
    layout_drop(&l);
    return MPI_SUCCESS;
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
    struct making m = {.call = call, .comm = comm, .c = c, .flavor = flavor, .n = opir_comm_size(c)};
    m.mine = (struct card){.base = (uintptr_t)base, .size = size, .unit = unit, .world = me->world, .checks = opir.check, .apart = noncontiguous(info)};
    m.mine.align = opi_alignment(info) > LINE ? opi_alignment(info) : LINE;
    m.all = opir_alloc((size_t)m.n * sizeof *m.all);
    struct opir_win *x = NULL;
    int rc = gather(&m);
    if (rc == MPI_SUCCESS)
        rc = c->shared->spread ? across(&m, &x) : within(&m, &x);
    free(m.all);
    if (rc != MPI_SUCCESS)
        return rc;
    x->base = x->w->at[c->rank].base;
    if (info != MPI_INFO_NULL)
        PMPI_Info_dup(info, &x->info);
    if (baseptr)
        memcpy(baseptr, &x->base, sizeof x->base);
    OPIR_PUT(win, x);
    return MPI_SUCCESS;
}
