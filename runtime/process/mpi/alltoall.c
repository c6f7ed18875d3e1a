/* alltoall.c - MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw as messages of the engine, where all ranks of the communicator share the node's heap.
 *
 * Every rank has to take the same way, so nothing decides but what all of them know alike: the communicator, and the settings of the job.  The messages have
 * a context of their own (opi_ctx_exchange), which no receive of the program names, and the number of the exchange as their tag: what one side sends and the
 * other, in error, does not expect, is not met by a later exchange.
 *
 * In step s, rank r meets rank (s - r) mod n, which meets r in the same step.  A rank has at most FLIGHT steps under way, and about FLIGHT_BYTES unless one
 * step has more; it ends them in order.  That cannot lock up: of those that are least far, each has begun the step it waits for, and its partner there,
 * which is not less far, has begun it too. */
#include "process/base/alive.h"
#include "process/engine/match.h"
#include "process/engine/path.h"
#include "process/engine/section.h"
#include "process/mpi/p2p.h"
#include "process/objects/request.h"

#include <stdlib.h>

#define FLIGHT 16
#define FLIGHT_BYTES ((size_t)8 << 20)

/* What one rank sends, or receives: for every rank a part of a buffer. */
struct side {
    const char *buf;
    const void *counts, *places; /* arrays of int, or of MPI_Count and MPI_Aint; NULL: `count` elements for each rank, one after the other */
    const MPI_Datatype *types;   /* of each rank, whose places are bytes; NULL: all have `type` */
    struct opi_type *type;       /* NULL: an invalid one */
    MPI_Count count;
    bool large; /* which arrays they are */
};

struct part {
    const char *at;
    struct opi_type *type;
    MPI_Count count;
    size_t bytes;
};

/* What goes to and comes from one partner. */
struct leg {
    struct opi_req send, recv;
    size_t bytes;
};

struct exchange {
    const char *call;
    MPI_Comm handle;
    struct opi_comm *c;
    struct opi_comm way; /* c, with the context of exchanges */
    struct side out, in;
    bool in_place;
    int tag;
    int error; /* the first */
};

static struct part part_of(const struct side *s, int rank) {
    struct part p;
    ptrdiff_t place;
    if (!s->counts) {
        p.count = s->count;
        place = (ptrdiff_t)rank * (ptrdiff_t)p.count;
    } else if (s->large) {
        p.count = ((const MPI_Count *)s->counts)[rank];
        place = (ptrdiff_t)((const MPI_Aint *)s->places)[rank];
    } else {
        p.count = ((const int *)s->counts)[rank];
        place = ((const int *)s->places)[rank];
    }
    p.type = s->types ? opi_type_of(s->types[rank]) : s->type;
    p.bytes = p.type && p.count > 0 ? (size_t)p.count * p.type->size : 0;
    if (!s->types && p.type)
        place *= p.type->extent;
    /* As a number: an absolute address is a place after NULL. */
    p.at = (const char *)((uintptr_t)s->buf + (uintptr_t)place);
    if (OPI_UNLIKELY(*opi_device_newest != NULL) && p.bytes)
        p.type = opi_device_type(p.type, p.at);
    return p;
}

/* An error class that has been raised, inside enter/leave, when something is wrong with a side. */
static int check_side(const struct exchange *x, const struct side *s) {
    for (int r = 0; r < x->c->size; r++) {
        struct part p = part_of(s, r);
        if (OPI_UNLIKELY(p.count < 0))
            return opi_bad(x->handle, MPI_ERR_COUNT, x->call, "negative count", (long long)p.count);
        if (OPI_UNLIKELY(!p.type && (p.count || !s->types)))
            return opi_bad(x->handle, MPI_ERR_TYPE, x->call, "null or invalid datatype", 0);
        if (!p.bytes)
            continue;
        if (OPI_UNLIKELY(!s->buf && !p.at && p.type->named))
            return opi_bad(x->handle, MPI_ERR_BUFFER, x->call, "null buffer, count", (long long)p.count);
        opi_check_use(x->call, p.at + p.type->true_lb, p.bytes);
        if (!s->counts && OPI_LIKELY(!opi.check))
            break; /* the others are like it */
    }
    return MPI_SUCCESS;
}

static void failed(struct exchange *x, int error) {
    if (x->error == MPI_SUCCESS)
        x->error = error;
}

/* The part that stays here. */
static void keep_own(struct exchange *x) {
    struct part out = part_of(&x->out, x->c->rank), in = part_of(&x->in, x->c->rank);
    void *to = (void *)(uintptr_t)in.at, *aside = NULL;
    if (out.bytes > in.bytes) {
        failed(x, MPI_ERR_TRUNCATE);
        return;
    }
    if (!out.bytes)
        return;
    if (in.type->contiguous) {
        if (out.type->contiguous)
            memmove(to, out.at, out.bytes); /* the same place on both sides, too */
        else
            opi_pack(out.type, out.at, (size_t)out.count, to);
        return;
    }
    if (!out.type->contiguous) {
        aside = malloc(out.bytes);
        if (!aside) {
            failed(x, MPI_ERR_NO_MEM);
            return;
        }
        opi_pack(out.type, out.at, (size_t)out.count, aside);
    }
    opi_unpack(in.type, to, (size_t)in.count, aside ? aside : out.at, out.bytes);
    free(aside);
}

/* Starts to receive; r is nothing's request yet. */
static void begin_recv(struct exchange *x, struct opi_req *r, const struct part *p, int rank) {
    r->kind = OPI_R_RECV;
    r->done = r->take = r->any_source = r->any_tag = r->posted = r->held = r->freed = r->retired = r->cancelled = r->standard = r->lent = r->raised = false;
    r->on_stack = true;
    r->r_error = MPI_SUCCESS;
    r->src = x->c->local_of_rank[rank];
    r->tag = x->tag;
    r->ctx = x->way.ctx;
    r->comm = &x->way;
    r->type = p->type;
    r->count = (size_t)p->count;
    r->buf = (void *)(uintptr_t)p->at;
    r->bytes_max = r->room = p->bytes;
    r->block = NULL;
    r->pipe = NULL;
    r->polls = 0;
    r->net_rank = rank;
    opi_recv_start(r);
}

/* Starts to send; r->done where that is all.  False: no memory, nothing was sent.
 *
 * Blocks change hands with their messages.  Two ranks that send each other a little more and a little less than the limit of a size class would never use the
 * blocks they got, and take new ones, whose every page has to be faulted in: so both take those of the larger message. */
static bool begin_send(struct exchange *x, struct opi_req *r, const struct part *p, size_t back, int rank) {
    struct opi_args a = {x->call, &x->way, p->type, p->bytes};
    int dst = x->c->local_of_rank[rank];
    if (opi_send_fast(p->at, &a, dst, x->tag)) {
        r->done = true;
        r->r_error = MPI_SUCCESS;
        return true;
    }
    x->way.least = back / 2 < p->bytes ? back : 0;
    *r = (struct opi_req){.on_stack = true};
    /* A buffered send has copied its data when it returns: then their place may receive. */
    return opi_send_start(p->at, (size_t)p->count, p->type, &x->way, dst, x->tag, x->in_place ? OPI_BUFFERED : OPI_STANDARD, r);
}

/* Takes a receive back that nothing has met yet; one that is under way is waited for. */
static void retract(struct opi_req *r) {
    if (!r->done && r->posted)
        opi_unpost(r);
    else if (!r->done)
        opi_req_wait(r);
}

/* Begins a step.  False: no memory; nothing was begun. */
static bool begin(struct exchange *x, struct leg *l, int step) {
    int n = x->c->size, rank = step - x->c->rank;
    if (rank < 0)
        rank += n;
    l->recv.done = l->send.done = true;
    l->recv.r_error = l->send.r_error = MPI_SUCCESS;
    l->bytes = 0;
    if (rank == x->c->rank)
        return true;
    struct part out = part_of(&x->out, rank), in = part_of(&x->in, rank);
    if (in.bytes && !x->in_place)
        begin_recv(x, &l->recv, &in, rank);
    if (out.bytes && !begin_send(x, &l->send, &out, in.bytes, rank)) {
        retract(&l->recv);
        return false;
    }
    if (in.bytes && x->in_place)
        begin_recv(x, &l->recv, &in, rank);
    l->bytes = out.bytes + in.bytes;
    return true;
}

static void end(struct exchange *x, struct leg *l) {
    if (!l->recv.done)
        opi_req_wait(&l->recv);
    if (!l->send.done)
        opi_req_wait(&l->send);
    if (OPI_UNLIKELY(l->recv.r_error != MPI_SUCCESS))
        failed(x, l->recv.r_error);
    if (OPI_UNLIKELY(l->send.r_error != MPI_SUCCESS))
        failed(x, l->send.r_error);
}

/* False: the communicator was revoked meanwhile. */
static bool all_steps(struct exchange *x) {
    struct leg legs[FLIGHT];
    int n = x->c->size, begun = 0, ended = 0, last = n;
    size_t flying = 0;
    bool own = x->in_place; /* it stays where it is */
    while (ended < last) {
        bool room = true;
        while (begun < last && begun - ended < FLIGHT && (flying < FLIGHT_BYTES || begun == ended) && room) {
            room = begin(x, &legs[begun % FLIGHT], begun);
            if (room)
                flying += legs[begun++ % FLIGHT].bytes;
        }
        if (OPI_UNLIKELY(begun == ended)) { /* nothing is under way whose end would make room */
            failed(x, MPI_ERR_NO_MEM);
            return true;
        }
        if (!own)
            keep_own(x);
        own = true;
        struct leg *l = &legs[ended % FLIGHT];
        end(x, l);
        flying -= l->bytes;
        ended++;
        if (OPI_UNLIKELY(!x->c->active)) /* revoked: what is under way ends, and nothing follows */
            last = begun;
    }
    return last == n && (x->error == MPI_SUCCESS || x->c->active);
}

static const char *reason(int error) {
    return error == MPI_ERR_TRUNCATE ? "a message is longer than its part of the buffer" : opi_reason(error);
}

/* MPICH finds out whether both buffers are the same one, where both sides are described alike. */
static bool aliased(const struct exchange *x) {
#if defined(MPICH_VERSION)
    return x->out.buf == x->in.buf && x->out.counts == x->in.counts && x->out.count == x->in.count && x->out.type == x->in.type &&
           x->out.types == x->in.types && part_of(&x->out, 0).bytes;
#else
    (void)x;
    return false;
#endif
}

/* Are exchanges on this communicator ours?  Then x is ready for its sides.  Inside enter/leave. */
static bool ours(struct exchange *x, const char *call, MPI_Comm comm) {
    struct opi_comm *c = opi.mpi_running && opi.exchanges ? opi_comm_of(comm) : NULL;
    if (!c || !c->active || c->mixed || c->lonely)
        return false;
    x->call = call;
    x->handle = comm;
    x->c = c;
    x->error = MPI_SUCCESS;
    x->tag = (int)(c->exchanges++ & 0x3fffffff); /* before anything can be found wrong here alone */
    return true;
}

/* Makes the exchange, and leaves. */
static int run(struct exchange *x) {
    int rc = x->in_place ? MPI_SUCCESS : check_side(x, &x->out);
    if (rc == MPI_SUCCESS)
        rc = check_side(x, &x->in);
    if (x->in_place)
        x->out = x->in;
    else if (rc == MPI_SUCCESS && OPI_UNLIKELY(aliased(x)))
        rc = opi_bad(x->handle, MPI_ERR_BUFFER, x->call, "the same buffer for both sides, ranks", x->c->size);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    x->way = *x->c;
    x->way.ctx = opi_ctx_exchange(x->c->ctx);
    bool revoked = !all_steps(x);
    opi_leave();
    if (OPI_UNLIKELY(revoked)) /* the MPI below says so, and at once */
        return OPI_NATIVE;
    return OPI_LIKELY(x->error == MPI_SUCCESS) ? MPI_SUCCESS : opi_raise(x->handle, x->error, x->call, "%s", reason(x->error));
}

int opi_alltoall(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, void *rbuf, MPI_Count rcount, MPI_Datatype rtype, MPI_Comm comm) {
    struct exchange x;
    opi_enter();
    if (!ours(&x, call, comm) || OPI_UNLIKELY(rbuf == MPI_IN_PLACE)) { /* which every MPI refuses */
        opi_leave();
        return OPI_NATIVE;
    }
    x.in_place = sbuf == MPI_IN_PLACE;
    if (!x.in_place)
        x.out = (struct side){.buf = sbuf, .count = scount, .type = opi_type_of(stype)};
    x.in = (struct side){.buf = rbuf, .count = rcount, .type = opi_type_of(rtype)};
    return run(&x);
}

int opi_alltoallv(const char *call, const void *sbuf, const void *scounts, const void *splaces, MPI_Datatype stype, void *rbuf, const void *rcounts,
                  const void *rplaces, MPI_Datatype rtype, MPI_Comm comm, bool large) {
    struct exchange x;
    bool in_place = sbuf == MPI_IN_PLACE;
    opi_enter();
    if (!ours(&x, call, comm) || OPI_UNLIKELY(rbuf == MPI_IN_PLACE || !rcounts || !rplaces || (!in_place && (!scounts || !splaces)))) {
        opi_leave();
        return OPI_NATIVE;
    }
    x.in_place = in_place;
    if (!in_place)
        x.out = (struct side){.buf = sbuf, .counts = scounts, .places = splaces, .type = opi_type_of(stype), .large = large};
    x.in = (struct side){.buf = rbuf, .counts = rcounts, .places = rplaces, .type = opi_type_of(rtype), .large = large};
    return run(&x);
}

int opi_alltoallw(const char *call, const void *sbuf, const void *scounts, const void *splaces, const MPI_Datatype stypes[], void *rbuf, const void *rcounts,
                  const void *rplaces, const MPI_Datatype rtypes[], MPI_Comm comm, bool large) {
    struct exchange x;
    bool in_place = sbuf == MPI_IN_PLACE;
    opi_enter();
    if (!ours(&x, call, comm) ||
        OPI_UNLIKELY(rbuf == MPI_IN_PLACE || !rcounts || !rplaces || !rtypes || (!in_place && (!scounts || !splaces || !stypes)))) {
        opi_leave();
        return OPI_NATIVE;
    }
    x.in_place = in_place;
    if (!in_place)
        x.out = (struct side){.buf = sbuf, .counts = scounts, .places = splaces, .types = stypes, .large = large};
    x.in = (struct side){.buf = rbuf, .counts = rcounts, .places = rplaces, .types = rtypes, .large = large};
    return run(&x);
}
