/* makers.c - the calls that make communicators: one rank's part of it (make.c has the rest). */
#include "ranks/transport/net.h"

#include <stdlib.h>

/* MPI_Comm_create_group, of which not all members of the communicator know.  Guarded by the communicator's lock. */
struct opir_meeting {
    struct opir_meeting *next;
    int tag;
    struct opir_group *group;
    int come;
    struct opir_req **req; /* by rank in the group; NULL for those in other processes */
};

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

/* A message between two members that the program does not see. */
static void start_message(struct opir_req *q, const char *call, struct opir_rank *me, struct opir_comm *c, int peer, int tag, void *data, size_t bytes, bool in) {
    opir_req_setup(q, me, in ? OPIR_R_RECV : OPIR_R_SEND);
    q->on_stack = true;
    q->call = call;
    q->comm = c;
    q->type = opir_type_of(me, MPI_BYTE);
    q->ctx = c->ctx | OPIR_INTERNAL;
    q->peer = peer;
    q->tag = tag;
    q->buf = data;
    q->count = q->bytes = bytes;
    if (in)
        opir_recv_begin(q);
    else
        opir_send_begin(q);
}

static void end_message(const char *call, struct opir_req *q) {
    opir_wait_req(call, q);
    opir_req_release(q);
}

static void message(const char *call, struct opir_rank *me, struct opir_comm *c, int peer, int tag, void *data, size_t bytes, bool in) {
    struct opir_req q;
    start_message(&q, call, me, c, peer, tag, data, bytes, in);
    end_message(call, &q);
}

/* To a member and from it. */
static void exchange(const char *call, struct opir_rank *me, struct opir_comm *c, int peer, int tag, void *out, size_t nout, void *in, size_t nin) {
    struct opir_req r, s;
    start_message(&r, call, me, c, peer, tag, in, nin, true);
    start_message(&s, call, me, c, peer, tag, out, nout, false);
    end_message(call, &r);
    end_message(call, &s);
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
    OPIR_OUT(out);
    struct opir_comm *made = prepared(me, c);
    made->info = opir_comm_hints(own_info ? info : c->info);
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
    OPIR_OUT(out);
    if (color < 0 && color != MPI_UNDEFINED)
        return opir_raise(c, MPI_ERR_ARG, call, "color %d is negative", color);
    struct opir_args args = {.kind = OPIR_MAKE_SPLIT, .color = color, .key = key, .made = color == MPI_UNDEFINED ? NULL : prepared(me, c)};
    return opir_make_run(call, me, c, &args, out);
}

/* The ranks of a node, in however many processes. */
EXPORT int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out) {
    COMM("MPI_Comm_split_type");
    OPIR_OUT(out);
    bool some = opir_type_splits(call, comm, type, info);
    struct opir_args args = {.kind = OPIR_MAKE_SPLIT, .color = opir.node[opir.process], .key = key, .made = some ? prepared(me, c) : NULL};
    return opir_make_run(call, me, c, &args, out);
}

static struct opir_group *group_arg(MPI_Group h) {
    return h == MPI_GROUP_EMPTY ? NULL : opir_group_of(h);
}

EXPORT int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *out) {
    COMM("MPI_Comm_create");
    OPIR_OUT(out);
    struct opir_group *g = group_arg(group);
    if (!g && group != MPI_GROUP_EMPTY)
        return opir_raise(c, MPI_ERR_GROUP, call, "invalid group");
    for (int i = 0; g && i < g->size; i++)
        if (opir_group_rank(c->local, opir_group_world(g, i)) < 0)
            return opir_raise(c, MPI_ERR_GROUP, call, "a member of the group is none of the communicator");
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

/* The first members of each process of a group: the very first chooses a context and tells the others. */
static uint64_t agreed_ctx(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_group *g, int rank, int tag) {
    uint64_t ctx = 0;
    if (rank) {
        message(call, me, c, opir_group_rank(c->local, opir_group_world(g, 0)), tag, &ctx, sizeof ctx, true);
        return ctx;
    }
    ctx = atomic_fetch_add_explicit(&opir.next_ctx, 1, memory_order_relaxed);
    char *told = opir_alloc((size_t)opir.processes);
    told[opir.process] = 1;
    for (int i = 1; i < g->size; i++) {
        int world = opir_group_world(g, i), process = opir_process_of(world);
        if (!told[process])
            message(call, me, c, opir_group_rank(c->local, world), tag, &ctx, sizeof ctx, false);
        told[process] = 1;
    }
    free(told);
    return ctx;
}

EXPORT int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out) {
    COMM("MPI_Comm_create_group");
    OPIR_OUT(out);
    struct opir_group *g = group_arg(group);
    if (!g && group != MPI_GROUP_EMPTY)
        return opir_raise(c, MPI_ERR_GROUP, call, "invalid group");
    int rank = g ? opir_group_rank(g, me->world) : -1;
    if (rank < 0)
        return hand_out(NULL, out);
    int here = 0, leads = -1; /* members in this process, and the first of them */
    for (int i = 0; i < g->size; i++)
        if (opir_rank_of(opir_group_world(g, i))) {
            here++;
            if (leads < 0)
                leads = i;
        }
    struct opir_args args = {.made = prepared(me, c)};
    if (here < g->size && rank == leads)
        args.rcount = (MPI_Count)agreed_ctx(call, me, c, g, rank, tag);
    struct opir_req q;
    begin(call, &q, me, c, &args);
    q.on_stack = true;
    struct opir_shared *s = c->shared;
    opir_lock(&s->lock);
    struct opir_meeting **at = &s->meetings, *m;
    while ((m = *at) && !(m->tag == tag && same_group(m->group, g)))
        at = &m->next;
    if (!m) {
        m = *at = opir_alloc(sizeof *m);
        m->tag = tag;
        m->group = g;
        m->req = opir_alloc((size_t)g->size * sizeof *m->req);
    }
    m->req[rank] = &q;
    bool last = ++m->come == here;
    if (last)
        *at = m->next;
    opir_unlock(&s->lock);
    if (last) {
        struct opir_shared *made = opir_shared_new(g, g, false, (uint64_t)m->req[leads]->args.rcount);
        for (int i = 0; i < g->size; i++)
            if (m->req[i]) {
                opir_comm_bind(m->req[i]->args.made, made, 0, i);
                opir_done(m->req[i]);
            }
        free(m->req);
        free(m);
    }
    opir_wait_req(call, &q);
    return hand_out(q.args.made, out);
}

/* Two leaders tell each other their groups.  The context and the order of the sides are those of the leader that is first in MPI_COMM_WORLD. */
static void agree(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_comm *peer, int remote, int tag, struct opir_bridge *b) {
    struct {
        uint64_t ctx;
        int size, leader;
    } mine = {atomic_fetch_add_explicit(&opir.next_ctx, 1, memory_order_relaxed), c->local->size, me->world}, theirs = {0, 0, 0};
    exchange(call, me, peer, remote, tag, &mine, sizeof mine, &theirs, sizeof theirs);
    size_t ints = sizeof(int), n = (size_t)mine.size;
    int *own = opir_alloc(n * ints);
    for (size_t i = 0; i < n; i++)
        own[i] = opir_group_world(c->local, (int)i);
    b->n = theirs.size + 3;
    b->numbers = opir_alloc((size_t)b->n * ints);
    exchange(call, me, peer, remote, tag, own, n * ints, b->numbers + 3, (size_t)theirs.size * ints);
    free(own);
    bool first = mine.leader < theirs.leader;
    uint64_t ctx = first ? mine.ctx : theirs.ctx;
    b->numbers[0] = (int)(uint32_t)ctx;
    b->numbers[1] = (int)(uint32_t)(ctx >> 32);
    b->numbers[2] = !first;
}

EXPORT int MPI_Intercomm_create(MPI_Comm comm, int local_leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm *out) {
    COMM("MPI_Intercomm_create");
    OPIR_OUT(out);
    if (local_leader < 0 || local_leader >= c->local->size || c->shared->inter)
        return opir_raise(c, c->shared->inter ? MPI_ERR_COMM : MPI_ERR_RANK, call, "local leader %d", local_leader);
    struct opir_bridge b = {0};
    bool leads = local_leader == c->rank;
    if (leads) {
        struct opir_comm *p = opir_comm_of(me, peer);
        if (!p)
            return opir_raise(c, MPI_ERR_COMM, call, "invalid peer communicator");
        if (remote_leader < 0 || remote_leader >= p->remote->size)
            return opir_raise(c, MPI_ERR_RANK, call, "remote leader %d in a communicator of %d", remote_leader, p->remote->size);
        agree(call, me, c, p, remote_leader, tag, &b);
    }
    struct opir_args args = {.kind = OPIR_MAKE_INTER, .what = leads ? &b : NULL, .made = prepared(me, c)};
    int rc = opir_make_run(call, me, c, &args, out);
    free(b.numbers);
    return rc;
}

EXPORT int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm *out) {
    COMM("MPI_Intercomm_merge");
    OPIR_OUT(out);
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
    struct opir_args args = {.kind = OPIR_MAKE_SPLIT, .color = color, .key = key, .what = what, .made = color == MPI_UNDEFINED ? NULL : prepared(me, c)};
    return opir_make_run(call, me, c, &args, out);
}
