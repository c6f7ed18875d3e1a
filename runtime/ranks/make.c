/* make.c - making communicators.
 *
 * Each member prepares its own communicator (attributes copied, error handler taken over) and comes to a collective; who comes last makes what the new
 * members share and binds the prepared ones to it.  A communicator that was bound to nothing is given up: its rank gets MPI_COMM_NULL. */
#include "ranks.h"

#include <stdlib.h>

/* A creation that not all members of the communicator take part in: by a group, or by two groups.  Guarded by the communicator's lock. */
struct opir_meeting {
    struct opir_meeting *next;
    int tag;
    struct opir_group *group; /* of MPI_Comm_create_group */
    int come;
    struct opir_req **req;
    int leader[2]; /* of MPI_Intercomm_create: world ranks, those of the side that came first */
    struct opir_coll *first;
    struct opir_args **args;
};

/* What a leader brings to MPI_Intercomm_create. */
struct bridge {
    struct opir_comm *peer;
    int remote, tag;
};

static void bind_all(struct opir_shared *s, struct opir_args **a, int side) {
    struct opir_group *g = s->group[side];
    for (int i = 0; i < g->size; i++)
        opir_comm_bind(a[i]->made, s, side, i);
}

/* A new shared part for two groups, whose references it takes over. */
static struct opir_shared *shared_of(struct opir_group *a, struct opir_group *b, bool inter) {
    struct opir_shared *s = opir_shared_new(a, b, inter, a->size + (inter ? b->size : 0));
    opir_group_drop(a);
    opir_group_drop(b);
    return s;
}

static void dup(struct opir_view *v) {
    struct opir_group **g = v->shared->group;
    struct opir_shared *s = shared_of(opir_group_keep(g[0]), opir_group_keep(g[1]), v->inter);
    s->topo = v->shared->topo ? opir_topo_keep(v->shared->topo) : NULL;
    bind_all(s, v->a[0], 0);
    if (v->inter)
        bind_all(s, v->a[1], 1);
}

struct choice {
    int color, key, rank, side;
    struct opir_args *a;
};

static int by_choice(const void *x, const void *y) {
    const struct choice *a = x, *b = y;
    if (a->color != b->color)
        return a->color < b->color ? -1 : 1;
    if (a->side != b->side)
        return a->side - b->side;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->rank - b->rank;
}

static struct opir_group *group_of(const struct opir_view *v, const struct choice *c, int n) {
    struct opir_group *g = opir_group_new(n, false);
    for (int i = 0; i < n; i++)
        g->world[i] = opir_group_world(v->shared->group[c[i].side], c[i].rank);
    return g;
}

static void split(struct opir_view *v) {
    int total = v->n[0] + (v->inter ? v->n[1] : 0), n = 0;
    struct choice *c = opir_alloc((size_t)total * sizeof *c);
    for (int side = 0; side <= v->inter; side++)
        for (int i = 0; i < v->n[side]; i++) {
            struct opir_args *a = v->a[side][i];
            if (a->made)
                c[n++] = (struct choice){a->color, a->key, i, side, a};
        }
    qsort(c, (size_t)n, sizeof *c, by_choice);
    for (int at = 0, end, middle; at < n; at = end) {
        for (middle = at; middle < n && c[middle].color == c[at].color && c[middle].side == 0; middle++)
            ;
        for (end = middle; end < n && c[end].color == c[at].color; end++)
            ;
        if (v->inter && (middle == at || middle == end))
            continue; /* one side is empty: no communicator */
        struct opir_group *g = group_of(v, c + at, middle - at), *h = v->inter ? group_of(v, c + middle, end - middle) : opir_group_keep(g);
        struct opir_shared *s = shared_of(g, h, v->inter);
        s->topo = c[at].a->what ? opir_topo_keep(c[at].a->what) : NULL;
        for (int i = at; i < end; i++)
            opir_comm_bind(c[i].a->made, s, c[i].side, i - (c[i].side ? middle : at));
    }
    free(c);
}

/* MPI_Comm_create: members name the group they belong to; there may be several that do not overlap. */
static void by_group(struct opir_view *v) {
    for (int i = 0; i < v->n[0]; i++) {
        struct opir_args *a = v->a[0][i];
        if (!a->made || a->made->shared)
            continue;
        struct opir_group *g = a->what, *h = g;
        int other = 0;
        if (v->inter) {
            while (other < v->n[1] && !v->a[1][other]->made)
                other++;
            if (other == v->n[1])
                continue;
            h = v->a[1][other]->what;
        }
        struct opir_shared *s = opir_shared_new(g, h, v->inter, g->size + (v->inter ? h->size : 0));
        for (int side = 0; side <= v->inter; side++)
            for (int k = 0; k < s->group[side]->size; k++) {
                int rank = opir_group_rank(v->shared->group[side], opir_group_world(s->group[side], k));
                if (rank < 0 || !v->a[side][rank]->made)
                    opir_die("MPI_Comm_create: a member of the group did not name it");
                opir_comm_bind(v->a[side][rank]->made, s, side, k);
            }
    }
}

static void with_topology(struct opir_view *v) {
    int members = 0;
    for (int i = 0; i < v->n[0]; i++)
        members += v->a[0][i]->made != NULL;
    if (!members)
        return;
    struct opir_group *g = opir_group_new(members, false);
    for (int i = 0; i < members; i++)
        g->world[i] = opir_group_world(v->shared->group[0], i);
    struct opir_shared *s = shared_of(g, opir_group_keep(g), false);
    s->topo = opir_topo_made((const struct opir_args *const *)v->a[0], v->n[0]);
    bind_all(s, v->a[0], 0);
}

static void merge(struct opir_view *v) {
    int first = v->a[0][0]->key && !v->a[1][0]->key, n = v->n[0] + v->n[1], at = 0;
    struct opir_group *g = opir_group_new(n, false);
    for (int k = 0; k < 2; k++) {
        int side = k ^ first;
        for (int i = 0; i < v->n[side]; i++)
            g->world[at++] = opir_group_world(v->shared->group[side], i);
    }
    struct opir_shared *s = shared_of(g, opir_group_keep(g), false);
    at = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < v->n[k ^ first]; i++)
            opir_comm_bind(v->a[k ^ first][i]->made, s, 0, at++);
}

/* All of one side have come.  Who is the second of the two sides binds both; the first waits, all of it. */
static bool bridged(struct opir_view *v, struct opir_coll *of) {
    struct bridge *b = NULL;
    int leader = -1;
    for (int i = 0; i < v->n[0]; i++)
        if (v->a[0][i]->what) {
            b = v->a[0][i]->what;
            leader = opir_group_world(v->shared->group[0], i);
        }
    struct opir_shared *bridge = b->peer->shared;
    int far = opir_group_world(b->peer->remote, b->remote);
    opir_lock(&bridge->lock);
    struct opir_meeting **at = &bridge->meetings, *m;
    while ((m = *at) && !(m->first && m->tag == b->tag && m->leader[0] == far && m->leader[1] == leader))
        at = &m->next;
    if (!m) {
        m = *at = opir_alloc(sizeof *m);
        m->tag = b->tag;
        m->leader[0] = leader;
        m->leader[1] = far;
        m->first = of;
        m->args = v->a[0];
        m->group = v->shared->group[0];
        opir_unlock(&bridge->lock);
        return false;
    }
    *at = m->next;
    opir_unlock(&bridge->lock);
    struct opir_shared *s = opir_shared_new(m->group, v->shared->group[0], true, m->group->size + v->n[0]);
    bind_all(s, m->args, 0);
    bind_all(s, v->a[0], 1);
    opir_coll_over(m->first, NULL);
    free(m);
    return true;
}

/* True when the collective is over. */
bool opir_make(struct opir_view *v, struct opir_coll *of) {
    switch (v->kind) {
    case OPIR_MAKE_DUP:
        dup(v);
        break;
    case OPIR_MAKE_SPLIT:
        split(v);
        break;
    case OPIR_MAKE_GROUP:
        by_group(v);
        break;
    case OPIR_MAKE_TOPO:
        with_topology(v);
        break;
    case OPIR_MAKE_MERGE:
        merge(v);
        break;
    default:
        return bridged(v, of);
    }
    return true;
}

/* ---- one rank's part --------------------------------------------------------------------------------------------------------------------------- */

static struct opir_comm *prepared(struct opir_rank *me, struct opir_comm *c) {
    struct opir_comm *made = opir_comm_new(me);
    opir_errh_keep(c->errh);
    made->errh = c->errh;
    return made;
}

static void begin(const char *call, struct opir_req *q, struct opir_rank *me, struct opir_comm *c, const struct opir_args *args) {
    opir_req_setup(q, me, OPIR_R_COLL);
    q->args = *args;
    q->a = &q->args;
    q->comm = c;
    q->call = call;
}

static int hand_out(struct opir_comm *made, MPI_Comm *out) {
    if (made && made->shared) {
        OPIR_PUT(out, made);
    } else {
        if (made)
            opir_comm_drop(made);
        *out = MPI_COMM_NULL;
    }
    return MPI_SUCCESS;
}

/* args->made: prepared already, or NULL where this rank gets no communicator. */
int opir_make_run(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_args *args, MPI_Comm *out) {
    struct opir_req q;
    begin(call, &q, me, c, args);
    q.on_stack = true;
    opir_coll_begin(&q);
    opir_wait_req(call, &q);
    struct opir_comm *made = q.args.made;
    opir_req_release(&q);
    return hand_out(made, out);
}

#define COMM(name)                                                              \
    static const char call[] = name;                                            \
    struct opir_rank *me = opir_me(call);                                       \
    struct opir_comm *c = opir_comm_of(me, comm);                               \
    if (!c)                                                                     \
    return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator")

static int duplicate(const char *call, MPI_Comm comm, MPI_Info info, bool own_info, MPI_Comm *out, MPI_Request *request) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c = opir_comm_of(me, comm);
    if (!c)
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator");
    struct opir_comm *made = prepared(me, c);
    if (!own_info)
        info = c->info;
    if (info != MPI_INFO_NULL)
        PMPI_Info_dup(info, &made->info);
    int rc = opir_attrs_copy(call, comm, c, made);
    struct opir_args args = {.kind = OPIR_MAKE_DUP, .made = made};
    if (!request) {
        int made_rc = opir_make_run(call, me, c, &args, out);
        if (rc != MPI_SUCCESS) {
            MPI_Comm_free(out);
            return rc;
        }
        return made_rc;
    }
    struct opir_req *q = opir_req_new(me, OPIR_R_COLL);
    begin(call, q, me, c, &args);
    c->refs++;
    OPIR_PUT(out, made); /* of use when the request is complete */
    opir_coll_begin(q);
    OPIR_PUT(request, q);
    return rc;
}

EXPORT int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out) {
    return duplicate("MPI_Comm_dup", comm, MPI_INFO_NULL, false, out, NULL);
}

EXPORT int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *out) {
    return duplicate("MPI_Comm_dup_with_info", comm, info, true, out, NULL);
}

EXPORT int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *out, MPI_Request *request) {
    return duplicate("MPI_Comm_idup", comm, MPI_INFO_NULL, false, out, request);
}

#ifdef OPIR_HAS_MPI_Comm_idup_with_info
EXPORT int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *out, MPI_Request *request) {
    return duplicate("MPI_Comm_idup_with_info", comm, info, true, out, request);
}
#endif

EXPORT int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out) {
    COMM("MPI_Comm_split");
    if (color < 0 && color != MPI_UNDEFINED)
        return opir_raise(c, MPI_ERR_ARG, call, "color %d is negative", color);
    struct opir_args args = {.kind = OPIR_MAKE_SPLIT, .color = color, .key = key, .made = color == MPI_UNDEFINED ? NULL : prepared(me, c)};
    return opir_make_run(call, me, c, &args, out);
}

/* All ranks are of one node and one process.  Kinds of parts of a node that the MPI may know divide nothing here. */
EXPORT int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out) {
    COMM("MPI_Comm_split_type");
    (void)info;
    struct opir_args args = {.kind = OPIR_MAKE_SPLIT, .key = key, .made = type == MPI_COMM_TYPE_SHARED ? prepared(me, c) : NULL};
    return opir_make_run(call, me, c, &args, out);
}

static struct opir_group *group_arg(MPI_Group h) {
    return h == MPI_GROUP_EMPTY ? NULL : opir_group_of(h);
}

EXPORT int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *out) {
    COMM("MPI_Comm_create");
    struct opir_group *g = group_arg(group);
    if (!g && group != MPI_GROUP_EMPTY)
        return opir_raise(c, MPI_ERR_GROUP, call, "invalid group");
    bool member = g && opir_group_rank(g, me->world) >= 0;
    struct opir_args args = {.kind = OPIR_MAKE_GROUP, .what = g, .made = member ? prepared(me, c) : NULL};
    return opir_make_run(call, me, c, &args, out);
}

static bool same_group(struct opir_group *a, struct opir_group *b) {
    if (a->size != b->size)
        return false;
    for (int i = 0; a != b && i < a->size; i++)
        if (opir_group_world(a, i) != opir_group_world(b, i))
            return false;
    return true;
}

EXPORT int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out) {
    COMM("MPI_Comm_create_group");
    struct opir_group *g = group_arg(group);
    if (!g && group != MPI_GROUP_EMPTY)
        return opir_raise(c, MPI_ERR_GROUP, call, "invalid group");
    int rank = g ? opir_group_rank(g, me->world) : -1;
    if (rank < 0)
        return hand_out(NULL, out);
    struct opir_args args = {.made = prepared(me, c)};
    struct opir_req q;
    begin(call, &q, me, c, &args);
    q.on_stack = true;
    struct opir_shared *s = c->shared;
    opir_lock(&s->lock);
    struct opir_meeting **at = &s->meetings, *m;
    while ((m = *at) && !(!m->first && m->tag == tag && same_group(m->group, g)))
        at = &m->next;
    if (!m) {
        m = *at = opir_alloc(sizeof *m);
        m->tag = tag;
        m->group = g;
        m->req = opir_alloc((size_t)g->size * sizeof *m->req);
    }
    m->req[rank] = &q;
    bool last = ++m->come == g->size;
    if (last)
        *at = m->next;
    opir_unlock(&s->lock);
    if (last) {
        struct opir_shared *made = opir_shared_new(g, g, false, g->size);
        for (int i = 0; i < g->size; i++) {
            opir_comm_bind(m->req[i]->args.made, made, 0, i);
            opir_done(m->req[i]);
        }
        free(m->req);
        free(m);
    }
    opir_wait_req(call, &q);
    return hand_out(q.args.made, out);
}

EXPORT int MPI_Intercomm_create(MPI_Comm comm, int local_leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm *out) {
    COMM("MPI_Intercomm_create");
    if (local_leader < 0 || local_leader >= c->local->size || c->shared->inter)
        return opir_raise(c, c->shared->inter ? MPI_ERR_COMM : MPI_ERR_RANK, call, "local leader %d", local_leader);
    struct bridge b = {.remote = remote_leader, .tag = tag};
    bool leads = local_leader == c->rank;
    if (leads) {
        b.peer = opir_comm_of(me, peer);
        if (!b.peer)
            return opir_raise(c, MPI_ERR_COMM, call, "invalid peer communicator");
        if (remote_leader < 0 || remote_leader >= b.peer->remote->size)
            return opir_raise(c, MPI_ERR_RANK, call, "remote leader %d in a communicator of %d", remote_leader, b.peer->remote->size);
    }
    struct opir_args args = {.kind = OPIR_MAKE_INTER, .what = leads ? &b : NULL, .made = prepared(me, c)};
    return opir_make_run(call, me, c, &args, out);
}

EXPORT int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *out) {
    COMM("MPI_Intercomm_merge");
    if (!c->shared->inter)
        return opir_raise(c, MPI_ERR_COMM, call, "no intercommunicator");
    struct opir_args args = {.kind = OPIR_MAKE_MERGE, .key = high, .made = prepared(me, c)};
    return opir_make_run(call, me, c, &args, out);
}

/* For topo.c: a communicator of the first n ranks with a topology. */
int opir_make_topo(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_topo *what, int n, MPI_Comm *out) {
    struct opir_args args = {.kind = OPIR_MAKE_TOPO, .what = what, .made = c->rank < n ? prepared(me, c) : NULL};
    return opir_make_run(call, me, c, &args, out);
}

int opir_make_sub(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_topo *what, int color, int key, MPI_Comm *out) {
    struct opir_args args = {.kind = OPIR_MAKE_SPLIT, .color = color, .key = key, .what = what, .made = prepared(me, c)};
    return opir_make_run(call, me, c, &args, out);
}
