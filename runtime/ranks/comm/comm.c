/* comm.c - communicators: what they are, and the calls that look at one. */
#include "ranks/transport/net.h"

#include <stdlib.h>

static int members_here(const struct opir_group *g) {
    int n = 0;
    if (!opir.several)
        return g->size;
    for (int i = 0; i < g->size; i++)
        n += opir_rank_of(opir_group_world(g, i)) != NULL;
    return n;
}

/* ctx 0: one of this process's. */
struct opir_shared *opir_shared_new(struct opir_group *a, struct opir_group *b, bool inter, uint64_t ctx) {
    struct opir_shared *s = opir_alloc(sizeof *s);
    s->ctx = ctx ? ctx : atomic_fetch_add_explicit(&opir.next_ctx, 1, memory_order_relaxed); /* only its being different counts */
    s->inter = inter;
    s->group[0] = opir_group_keep(a);
    s->group[1] = opir_group_keep(b);
    s->here = members_here(a) + (inter ? members_here(b) : 0);
    atomic_init(&s->refs, s->here);
    if (s->here < a->size + (inter ? b->size : 0))
        s->spread = opir_spread_of(s);
    if (opir.threads)
        pthread_mutex_init(&s->lock, NULL);
    return s;
}

void opir_shared_drop(struct opir_shared *s) {
    if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    opir_group_drop(s->group[0]);
    opir_group_drop(s->group[1]);
    if (s->topo)
        opir_topo_drop(s->topo);
    opir_colls_free(s);
    free(s->spread);
    if (opir.threads)
        pthread_mutex_destroy(&s->lock);
    free(s);
}

/* A communicator of this rank, not bound yet. */
struct opir_comm *opir_comm_new(struct opir_rank *me) {
    (void)me;
    struct opir_comm *c = opir_alloc(sizeof *c);
    opir_obj_init(&c->obj, OPIR_COMM);
    c->refs = 1;
    c->errh = MPI_ERRORS_ARE_FATAL;
    c->info = MPI_INFO_NULL;
    return c;
}

void opir_comm_bind(struct opir_comm *c, struct opir_shared *s, int side, int rank) {
    c->shared = s;
    c->side = side;
    c->rank = rank;
    c->ctx = s->ctx;
    c->local = s->group[side];
    c->remote = s->group[s->inter ? 1 - side : side];
}

void opir_comm_drop(struct opir_comm *c) {
    if (--c->refs)
        return;
    opir_errh_drop(c->errh);
    if (c->info != MPI_INFO_NULL)
        PMPI_Info_free(&c->info);
    free(c->name);
    if (c->shared)
        opir_shared_drop(c->shared);
    opir_obj_gone(&c->obj);
    free(c);
}

struct opir_comm *opir_comm_slow(struct opir_rank *me, MPI_Comm h) {
    if (h == MPI_COMM_SELF) {
        if (!me->self_comm) {
            struct opir_group *g = opir_group_new(1, false);
            g->world[0] = me->world;
            me->self_comm = opir_comm_new(me);
            opir_comm_bind(me->self_comm, opir_shared_new(g, g, false, 0), 0, 0);
            opir_group_drop(g);
        }
        return me->self_comm;
    }
    struct opir_comm *c = h == MPI_COMM_NULL ? NULL : opir_get(&h, sizeof h, OPIR_COMM);
    return c && !c->freed ? c : NULL;
}

/* ---- the calls ------------------------------------------------------------------------------------------------------------------------------ */

#define COMM(name)                                                              \
    static const char call[] = name;                                            \
    struct opir_rank *me = opir_me(call);                                       \
    struct opir_comm *c = opir_comm_of(me, comm);                               \
    if (!c)                                                                     \
    return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator")

EXPORT int MPI_Comm_size(MPI_Comm comm, int *size) {
    COMM("MPI_Comm_size");
    OPIR_OUT(size);
    *size = c->local->size;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_rank(MPI_Comm comm, int *rank) {
    COMM("MPI_Comm_rank");
    OPIR_OUT(rank);
    *rank = c->rank;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_remote_size(MPI_Comm comm, int *size) {
    COMM("MPI_Comm_remote_size");
    OPIR_OUT(size);
    if (!c->shared->inter)
        return opir_raise(c, MPI_ERR_COMM, call, "no intercommunicator");
    *size = c->remote->size;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_test_inter(MPI_Comm comm, int *flag) {
    COMM("MPI_Comm_test_inter");
    OPIR_OUT(flag);
    *flag = c->shared->inter;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_group(MPI_Comm comm, MPI_Group *group) {
    COMM("MPI_Comm_group");
    OPIR_OUT(group);
    struct opir_group *g = opir_group_keep(c->local);
    OPIR_PUT(group, g);
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group) {
    COMM("MPI_Comm_remote_group");
    OPIR_OUT(group);
    if (!c->shared->inter)
        return opir_raise(c, MPI_ERR_COMM, call, "no intercommunicator");
    struct opir_group *g = opir_group_keep(c->remote);
    OPIR_PUT(group, g);
    return MPI_SUCCESS;
}

/* MPI_IDENT, _SIMILAR or _UNEQUAL. */
static int compared(struct opir_group *a, struct opir_group *b) {
    MPI_Group x, y;
    int result;
    OPIR_PUT(&x, a);
    OPIR_PUT(&y, b);
    MPI_Group_compare(x, y, &result);
    return result;
}

EXPORT int MPI_Comm_compare(MPI_Comm comm, MPI_Comm other, int *result) {
    COMM("MPI_Comm_compare");
    OPIR_OUT(result);
    struct opir_comm *d = opir_comm_of(me, other);
    if (!d)
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid second communicator");
    int local = compared(c->local, d->local), remote = compared(c->remote, d->remote);
    if (c == d)
        *result = MPI_IDENT;
    else if (c->shared->inter != d->shared->inter || local == MPI_UNEQUAL || remote == MPI_UNEQUAL)
        *result = MPI_UNEQUAL;
    else
        *result = local == MPI_IDENT && remote == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_set_name(MPI_Comm comm, const char *name) {
    COMM("MPI_Comm_set_name");
    char *copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);
    if (!copy)
        opir_die("out of memory for a name");
    free(c->name);
    c->name = copy;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_get_name(MPI_Comm comm, char *name, int *length) {
    static const char call[] = "MPI_Comm_get_name";
    struct opir_rank *me = opir_me(call);
    bool none = comm == MPI_COMM_NULL; /* which has a name, too (MPI 4.1, 7.8) */
    struct opir_comm *c = none ? NULL : opir_comm_of(me, comm);
    if (!c && !none)
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator");
    OPIR_OUT(name);
    OPIR_OUT(length);
    const char *text = none ? "MPI_COMM_NULL" : c->name ? c->name : c == me->world_comm ? "MPI_COMM_WORLD" : c == me->self_comm ? "MPI_COMM_SELF" : "";
    *length = (int)strlen(text);
    memcpy(name, text, (size_t)*length + 1);
    return MPI_SUCCESS;
}

/* Of an info the hints that MPI defines for communicators, which change nothing here; others are ignored, as MPI says.  MPI_INFO_NULL where there are none. */
MPI_Info opir_comm_hints(MPI_Info info) {
    static const char *const known[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length", "mpi_assert_allow_overtaking"};
    MPI_Info hints = MPI_INFO_NULL;
    char value[MPI_MAX_INFO_VAL + 1];
    for (size_t i = 0; info != MPI_INFO_NULL && i < sizeof known / sizeof *known; i++) {
        int there = 0;
        if (PMPI_Info_get(info, known[i], MPI_MAX_INFO_VAL, value, &there) != MPI_SUCCESS || !there)
            continue;
        if (hints == MPI_INFO_NULL)
            PMPI_Info_create(&hints);
        PMPI_Info_set(hints, known[i], value);
    }
    return hints;
}

EXPORT int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
    COMM("MPI_Comm_set_info");
    if (c->info != MPI_INFO_NULL)
        PMPI_Info_free(&c->info);
    c->info = opir_comm_hints(info);
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info) {
    COMM("MPI_Comm_get_info");
    OPIR_OUT(info);
    return c->info == MPI_INFO_NULL ? PMPI_Info_create(info) : PMPI_Info_dup(c->info, info);
}

static int end_of(const char *call, MPI_Comm *comm) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c = opir_comm_of(me, *comm);
    if (!c || c == me->world_comm || c == me->self_comm)
        return opir_raise(NULL, MPI_ERR_COMM, call, "%s", c ? "a predefined communicator" : "invalid communicator");
    int rc = opir_attrs_delete(c, *comm);
    if (rc != MPI_SUCCESS)
        return opir_raise(c, rc, call, "an attribute's delete function failed");
    int left = opir_msgs_left(me, c->ctx);
    c->freed = true;
    opir_comm_drop(c);
    *comm = MPI_COMM_NULL;
    return left ? opir_raise(NULL, MPI_ERR_OTHER, call, "%d messages that came on the communicator were not received", left) : MPI_SUCCESS;
}

EXPORT int MPI_Comm_free(MPI_Comm *comm) {
    return end_of("MPI_Comm_free", comm);
}

/* Does anything of the caller's pend there? */
static bool pends(const struct opir_comm *c) {
    return c->refs - c->idle > 1;
}

EXPORT int MPI_Comm_disconnect(MPI_Comm *comm) {
    static const char call[] = "MPI_Comm_disconnect";
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c = opir_comm_of(me, *comm);
    if (c) { /* what pends on it is completed first */
        struct opir_wait w = {0};
        me->call = call;
        while (pends(c) && (opir_sweep(me), pends(c)))
            opir_relax(&w);
        opir_relaxed(&w);
        me->call = NULL;
    }
    return end_of(call, comm);
}

EXPORT int MPI_Comm_get_parent(MPI_Comm *parent) {
    opir_me("MPI_Comm_get_parent");
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
