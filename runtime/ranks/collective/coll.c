/* coll.c - collectives.
 *
 * A collective is a meeting: each member leaves what it brings (struct opir_args: where its data are, how many, of which type) at the object of the
 * communicator's k-th collective, and waits.  Who comes last has everything in reach, does the whole operation, and completes everybody's request.  Nothing
 * is sent, nothing is copied twice, and nonblocking collectives need no progress of their own.  Where members are in several processes, around.c goes on
 * from when all of this one have come. */
#include "ranks/transport/net.h"

#include <stdlib.h>

static struct opir_coll *coll_new(struct opir_shared *s, int total) {
    struct opir_coll *o = s->spare;
    if (o) {
        s->spare = o->next;
    } else {
        o = opir_alloc(sizeof *o);
        o->req = opir_alloc((size_t)total * sizeof *o->req);
        o->args = opir_alloc((size_t)total * sizeof *o->args);
        o->total = total;
        o->shared = s;
    }
    o->come = 0;
    return o;
}

void opir_colls_free(struct opir_shared *s) {
    while (s->spare) {
        struct opir_coll *o = s->spare;
        s->spare = o->next;
        free(o->req);
        free(o->args);
        free(o);
    }
}

/* Everybody's request is complete; `mine` is the caller's, NULL where it has none. */
void opir_coll_over(struct opir_coll *o, struct opir_req *mine) {
    struct opir_shared *s = o->shared;
    const struct opir_spread *p = s->spread;
    const int *places = p ? p->places + p->at[p->here] : NULL;
    if (!mine) /* else a member that waits keeps it */
        atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    for (int i = 0; i < s->here; i++) {
        struct opir_req *q = o->req[places ? places[i] : i];
        q->r_error = q->a->error;
        if (q != mine)
            opir_done(q);
    }
    if (p)
        memset(o->args, 0, (size_t)o->total * sizeof *o->args); /* members elsewhere bring nothing by themselves */
    opir_lock(&s->lock);
    o->next = s->spare;
    s->spare = o;
    opir_unlock(&s->lock);
    if (mine)
        opir_done(mine);
    else
        opir_shared_drop(s);
}

/* All that is to be done. */
void opir_coll_do(struct opir_view *v) {
    if (v->kind >= OPIR_MAKE_DUP)
        opir_make(v);
    else if (v->kind >= OPIR_REDUCE && v->kind <= OPIR_EXSCAN)
        opir_reduce(v);
    else if (v->kind != OPIR_BARRIER)
        opir_move(v);
}

static void run(struct opir_coll *o, struct opir_req *mine) {
    struct opir_shared *s = o->shared;
    struct opir_view v = {.kind = mine->a->kind, .inter = s->inter, .shared = s};
    v.n[0] = s->group[0]->size;
    v.a[0] = o->args;
    v.n[1] = s->inter ? s->group[1]->size : v.n[0];
    v.a[1] = s->inter ? o->args + v.n[0] : o->args;
    for (int i = 0; i < o->total; i++)
        if (OPIR_UNLIKELY(o->args[i]->kind != v.kind))
            opir_die("collectives do not match: rank %d of the communicator is in %s, rank %d in %s", mine->comm->rank, mine->call, o->req[i]->comm->rank,
                     o->req[i]->call);
    opir_coll_do(&v);
    opir_coll_over(o, mine);
}

/* This rank comes to its next collective on the communicator. */
void opir_coll_begin(struct opir_req *q) {
    struct opir_comm *c = q->comm;
    struct opir_shared *s = c->shared;
    q->a->error = MPI_SUCCESS;
    int total = s->group[0]->size + (s->inter ? s->group[1]->size : 0);
    int place = c->rank + (s->inter && c->side ? s->group[0]->size : 0);
    uint64_t seq = OPIR_UNLIKELY(q->persistent) ? (uint64_t)1 << 63 | (uint64_t)q->order << 32 | q->starts++ : c->seq++;
    opir_lock(&s->lock);
    struct opir_coll **at = &s->open, *o;
    while ((o = *at) && o->seq != seq)
        at = &o->next;
    if (!o) {
        o = *at = coll_new(s, total);
        o->next = NULL;
        o->seq = seq;
    }
    o->req[place] = q;
    o->args[place] = q->a;
    bool last = ++o->come == s->here;
    if (last)
        *at = o->next;
    opir_unlock(&s->lock);
    if (!last)
        return;
    if (OPIR_UNLIKELY(s->spread != NULL))
        opir_around_begin(o, q);
    else
        run(o, q);
}

/* ---- arguments -------------------------------------------------------------------------------------------------------------------------- */

/* Does this rank send, or receive, in this collective?  What is not significant is not looked at. */
static bool sends(const struct opir_comm *c, const struct opir_args *a) {
    if (!a->has_s || a->sbuf == MPI_IN_PLACE)
        return false;
    if (a->kind == OPIR_SCATTER)
        return c->shared->inter ? a->root == MPI_ROOT : a->root == c->rank;
    if (a->kind == OPIR_GATHER && c->shared->inter)
        return a->root >= 0;
    return true;
}

static bool receives(const struct opir_comm *c, const struct opir_args *a) {
    if (!a->has_r || a->rbuf == MPI_IN_PLACE)
        return false;
    if (a->kind == OPIR_GATHER)
        return c->shared->inter ? a->root == MPI_ROOT : a->root == c->rank;
    if (c->shared->inter && (a->kind == OPIR_SCATTER || a->kind == OPIR_BCAST || a->kind == OPIR_REDUCE))
        return a->root >= 0 || (a->root == MPI_ROOT && a->kind != OPIR_SCATTER);
    return true;
}

static int peers(const struct opir_comm *c, const struct opir_args *a, bool in) {
    bool neighbours = a->kind == OPIR_NEIGHBOR_ALLGATHER || a->kind == OPIR_NEIGHBOR_ALLTOALL;
    if (neighbours)
        return opir_topo_degree(c->shared->topo, c->rank, in);
    return a->kind == OPIR_REDUCE_SCATTER ? c->local->size : c->remote->size;
}

static int side_types(const char *call, struct opir_rank *me, struct opir_comm *c, const struct opir_args *a, bool in, MPI_Datatype type, const MPI_Datatype *types,
                      MPI_Count count, const void *counts, struct opir_type **one, struct opir_type ***all, int *nall) {
    int n = peers(c, a, in);
    if (a->v && counts) {
        for (int i = 0; i < n; i++)
            if (opir_at(counts, a->csize, i) < 0)
                return opir_raise(c, MPI_ERR_COUNT, call, "count %lld for rank %d is negative", (long long)opir_at(counts, a->csize, i), i);
    } else if (count < 0) {
        return opir_raise(c, MPI_ERR_COUNT, call, "count %lld is negative", (long long)count);
    }
    if (!types) {
        struct opir_type *t = a->kind == OPIR_BCAST ? opir_type_for(me, type, count) : opir_type_of(me, type);
        if (!t)
            return opir_raise(c, MPI_ERR_TYPE, call, "invalid datatype");
        *one = opir_type_hold(t);
        return MPI_SUCCESS;
    }
    *all = opir_alloc((size_t)n * sizeof **all);
    for (; *nall < n; ++*nall) {
        struct opir_type *t = opir_type_of(me, types[*nall]);
        if (!t && opir_at(counts, a->csize, *nall) == 0)
            t = opir_type_of(me, MPI_BYTE);
        if (!t)
            return opir_raise(c, MPI_ERR_TYPE, call, "invalid datatype for rank %d", *nall);
        (*all)[*nall] = opir_type_hold(t);
    }
    return MPI_SUCCESS;
}

#ifdef MPICH_NUMVERSION
/* Whether what this rank sends to itself lies where it receives it, which MPICH refuses and MPI forbids.  What is not significant is not looked at. */
static bool aliased(const struct opir_comm *c, const struct opir_args *a) {
    if (c->shared->inter || a->in_place || !a->sbuf || !a->rbuf)
        return false;
    const char *from = a->sbuf, *to = a->rbuf;
    bool some = a->has_s ? a->scount > 0 : a->rcount > 0;
    switch (a->kind) {
    case OPIR_REDUCE:
        return from == to && a->rcount > 0 && a->root == c->rank;
    case OPIR_ALLREDUCE:
    case OPIR_SCAN:
    case OPIR_EXSCAN:
        return from == to && a->rcount > 0;
    case OPIR_REDUCE_SCATTER:
    case OPIR_ALLTOALL:
        some = a->kind == OPIR_ALLTOALL ? a->scount > 0 : a->rcount > 0;
        const void *counts = a->kind == OPIR_ALLTOALL ? a->scounts : a->rcounts;
        for (int i = 0; a->v && from == to && i < c->local->size && !some; i++)
            some = opir_at(counts, a->csize, i) > 0;
        return from == to && some;
    case OPIR_GATHER:
    case OPIR_ALLGATHER:
        if (a->kind == OPIR_GATHER && a->root != c->rank)
            return false;
        return some && from == to + (a->v ? opir_at(a->rdispls, a->dsize, c->rank) : c->rank * (ptrdiff_t)a->rcount) * a->rt->extent;
    case OPIR_SCATTER:
        if (a->root != c->rank || a->rcount <= 0)
            return false;
        return to == from + (a->v ? opir_at(a->sdispls, a->dsize, c->rank) : c->rank * (ptrdiff_t)a->scount) * a->st->extent;
    default:
        return false;
    }
}
#else
static bool aliased(const struct opir_comm *c, const struct opir_args *a) {
    (void)c, (void)a;
    return false;
}
#endif

static int check(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_args *a) {
    bool rooted = a->kind == OPIR_BCAST || a->kind == OPIR_GATHER || a->kind == OPIR_SCATTER || a->kind == OPIR_REDUCE;
    bool inter = c->shared->inter;
    if (rooted && !(inter && (a->root == MPI_ROOT || a->root == MPI_PROC_NULL)) && (a->root < 0 || a->root >= c->remote->size))
        return opir_raise(c, MPI_ERR_ROOT, call, "root %d in a communicator of %d", a->root, c->remote->size);
    if (inter && (a->kind == OPIR_SCAN || a->kind == OPIR_EXSCAN))
        return opir_raise(c, MPI_ERR_COMM, call, "an intercommunicator");
    if ((a->kind == OPIR_NEIGHBOR_ALLGATHER || a->kind == OPIR_NEIGHBOR_ALLTOALL) && !c->shared->topo)
        return opir_raise(c, MPI_ERR_TOPOLOGY, call, "a communicator without a topology");
    if (a->kind >= OPIR_REDUCE && a->kind <= OPIR_EXSCAN && a->op == MPI_OP_NULL)
        return opir_raise(c, MPI_ERR_OP, call, "null operation");
    a->in_place = (a->has_s && a->sbuf == MPI_IN_PLACE) || (a->has_r && a->rbuf == MPI_IN_PLACE);
    if (a->kind >= OPIR_REDUCE && a->kind <= OPIR_EXSCAN) { /* one type for both sides; only receivers have the buffer for it */
        if (inter && a->root == MPI_PROC_NULL && a->kind == OPIR_REDUCE)
            return MPI_SUCCESS;
        int rc = side_types(call, me, c, a, true, a->rtype, NULL, a->rcount, a->rcounts, &a->rt, NULL, NULL);
        if (rc == MPI_SUCCESS && OPIR_UNLIKELY(a->op != me->op || a->rt != me->op_type) && (rc = opir_op_check(me, a->op, a->rt)) != MPI_SUCCESS)
            return opir_raise(c, rc, call, "the operation does not know this datatype");
        if (rc == MPI_SUCCESS && OPIR_UNLIKELY(aliased(c, a)))
            return opir_raise(c, MPI_ERR_BUFFER, call, "one buffer both to send and to receive");
        return rc;
    }
    int rc = MPI_SUCCESS;
    if (sends(c, a))
        rc = side_types(call, me, c, a, false, a->stype, a->w ? a->stypes : NULL, a->scount, a->scounts, &a->st, &a->sts, &a->nsts);
    if (rc == MPI_SUCCESS && receives(c, a))
        rc = side_types(call, me, c, a, true, a->rtype, a->w ? a->rtypes : NULL, a->rcount, a->rcounts, &a->rt, &a->rts, &a->nrts);
    if (rc == MPI_SUCCESS && OPIR_UNLIKELY(aliased(c, a)))
        return opir_raise(c, MPI_ERR_BUFFER, call, "one buffer both to send and to receive");
    return rc;
}

/* One collective, blocking where `request` is NULL. */
int opir_coll(const char *call, MPI_Comm comm, struct opir_args *args, MPI_Request *request, bool persistent) {
    struct opir_rank *me = opir_me(call);
    struct opir_comm *c = opir_comm_of(me, comm);
    if (!c)
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator");
    if (OPIR_LIKELY(!request && args->kind == OPIR_BARRIER)) { /* nothing to check, nothing to hold */
        struct opir_req q;
        opir_req_setup(&q, me, OPIR_R_COLL);
        q.on_stack = true;
        q.a = args;
        q.comm = c;
        q.call = call;
        opir_coll_begin(&q);
        opir_wait_req(call, &q);
        return MPI_SUCCESS;
    }
    struct opir_req own, *q = &own;
    if (request) {
        q = opir_req_new(me, OPIR_R_COLL);
        q->args = *args;
        q->a = &q->args;
        c->refs++;
    } else {
        opir_req_setup(q, me, OPIR_R_COLL);
        q->on_stack = true;
        q->a = args;
    }
    q->comm = c;
    q->call = call;
    q->persistent = persistent;
    int rc = check(call, me, c, q->a);
    if (rc != MPI_SUCCESS) {
        opir_req_release(q);
        return rc;
    }
    if (persistent) {
        opir_req_rest(q);
        q->order = c->persistent++;
        q->starts = 0;
    } else
        opir_coll_begin(q);
    if (request) {
        OPIR_PUT(request, q);
        return MPI_SUCCESS;
    }
    opir_wait_req(call, q);
    opir_req_release(q); /* its types; it is on the stack */
    int error = q->r_error;
    return OPIR_LIKELY(error == MPI_SUCCESS) ? error : opir_raise(c, error, call, "what the members bring does not match");
}
