/* around.c - collectives whose members are in several processes.
 *
 * When all members of a process have come, it sends one bundle to each other process that has members: what those need of its members.  When it has got
 * theirs, it does the operation for its own members, as in a communicator of one process: members elsewhere are stood for by what they sent.  Bundles are
 * found by context and number; they may come before this process knows the communicator.
 *
 * When all is there, whoever finds it so does the operation, be it a rank that is no member.  Only an operation of the program's own is left to a member
 * (a *chore*): it may read what is private to a rank. */
#include "ranks/transport/net.h"

#include <errno.h>
#include <stdlib.h>

#define CHAINS 256

struct bundle {
    struct opir_xfer x; /* the first */
    struct bundle *next;
    int process;
    uint64_t ctx, seq;
    char *data;
};

/* A collective that waits for bundles, or bundles that wait for members.  Guarded by `lock`; taken out of its chain it belongs to whoever took it. */
struct opir_around {
    struct opir_around *next;
    uint64_t ctx, seq;
    struct opir_coll *coll; /* NULL: not all members here have come */
    struct bundle *bundles;
    int count;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opir_around *chain[CHAINS];
static struct opir_around *ready; /* complete by a bundle, to be done when the driver is through; the driver's */
/* Complete, and one of the members here is to do it: the one that is the first to wait or test.  Guarded by `lock`, as is who raises and lowers the members'
 * numbers of `chores`.  Their requests are open until it is done, so none of them has gone. */
static struct opir_around *chores;

/* ---- where the members are -------------------------------------------------------------------------------------------------------------------- */

int opir_process_of(int world) {
    int low = 0, high = opir.processes;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (opir.firsts[middle] <= world)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int world_at(const struct opir_shared *s, int place) {
    int n = s->group[0]->size;
    return place < n ? opir_group_world(s->group[0], place) : opir_group_world(s->group[1], place - n);
}

struct opir_spread *opir_spread_of(const struct opir_shared *s) {
    int total = s->group[0]->size + (s->inter ? s->group[1]->size : 0), procs = 0;
    int *count = opir_alloc((size_t)opir.processes * sizeof *count);
    for (int i = 0; i < total; i++)
        count[opir_process_of(world_at(s, i))]++;
    for (int k = 0; k < opir.processes; k++)
        procs += count[k] > 0;
    struct opir_spread *p = opir_alloc(sizeof *p + ((size_t)procs * 2 + 1 + (size_t)total) * sizeof(int));
    p->proc = (int *)(p + 1);
    p->at = p->proc + procs;
    p->places = p->at + procs + 1;
    p->here = -1;
    for (int k = 0; k < opir.processes; k++)
        if (count[k]) {
            if (k == opir.process)
                p->here = p->procs;
            p->proc[p->procs++] = k;
            p->at[p->procs] = p->at[p->procs - 1] + count[k];
            count[k] = p->at[p->procs - 1];
        }
    for (int i = 0; i < total; i++)
        p->places[count[opir_process_of(world_at(s, i))]++] = i;
    free(count);
    return p;
}

/* The context id of a communicator whose first member is this one: its process has kept one for each of its members. */
uint64_t opir_view_ctx(const struct opir_view *v, int side, int rank) {
    if (!v->across)
        return 0;
    const struct opir_spread *p = v->shared->spread;
    int place = rank + (side ? v->n[0] : 0), process = opir_process_of(world_at(v->shared, place)), k = 0;
    while (p->proc[k] != process)
        k++;
    int low = p->at[k], high = p->at[k + 1];
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (p->places[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return v->bases[k] + (uint64_t)(low - p->at[k]);
}

/* ---- doing it ---------------------------------------------------------------------------------------------------------------------------------- */

static struct opir_view view_of(struct opir_coll *o, int kind) {
    struct opir_shared *s = o->shared;
    struct opir_view v = {.kind = kind, .inter = s->inter, .shared = s, .across = true, .root = -1};
    v.n[0] = s->group[0]->size;
    v.a[0] = o->args;
    v.n[1] = s->inter ? s->group[1]->size : v.n[0];
    v.a[1] = s->inter ? o->args + v.n[0] : o->args;
    opir_bundle_root(&v, s->spread);
    return v;
}

static void finish(struct opir_around *c, struct opir_req *mine) {
    struct opir_coll *o = c->coll;
    const struct opir_spread *p = o->shared->spread;
    struct opir_view v = view_of(o, o->args[p->places[p->at[p->here]]]->kind);
    uint64_t *bases = opir_alloc((size_t)p->procs * sizeof *bases);
    bases[p->here] = o->base;
    v.bases = bases;
    for (struct bundle *b = c->bundles; b; b = b->next) {
        int k = 0;
        while (p->proc[k] != b->process)
            k++;
        opir_bundle_read(&v, k, b->data, bases);
    }
    opir_coll_do(&v);
    opir_bundle_drop(&v);
    opir_arena_free(v.arena);
    free(bases);
    for (struct bundle *b = c->bundles, *next; b; b = next) {
        next = b->next;
        free(b->data);
        free(b);
    }
    free(c);
    opir_coll_over(o, mine);
}

struct opir_around *opir_around_ready(void) {
    struct opir_around *c = ready;
    ready = NULL;
    return c;
}

/* The request of the i-th member here. */
static struct opir_req *member(const struct opir_coll *o, int i) {
    const struct opir_spread *p = o->shared->spread;
    return o->req[p->places[p->at[p->here] + i]];
}

static bool calls_program(const struct opir_coll *o) {
    for (int i = 0; i < o->shared->here; i++) {
        const struct opir_args *a = member(o, i)->a;
        if (a->kind >= OPIR_REDUCE && a->kind <= OPIR_EXSCAN && !opir_op_predefined(a->op))
            return true;
    }
    return false;
}

/* Any member may be computing, so all are woken. */
static void leave_to_members(struct opir_around *c) {
    struct opir_around **last = &chores;
    opir_lock(&lock);
    while (*last)
        last = &(*last)->next;
    c->next = NULL;
    *last = c;
    for (int i = 0; i < c->coll->shared->here; i++)
        atomic_fetch_add_explicit(&member(c->coll, i)->owner->chores, 1, memory_order_relaxed);
    for (int i = 0; i < c->coll->shared->here; i++) /* still under the lock: then the requests are there */
        opir_wake(member(c->coll, i)->owner);
    opir_unlock(&lock);
}

void opir_around_run(struct opir_around *c) {
    for (struct opir_around *next; c; c = next) {
        next = c->next;
        if (calls_program(c->coll))
            leave_to_members(c);
        else
            finish(c, NULL);
    }
}

static bool has_member(const struct opir_coll *o, const struct opir_rank *me) {
    int i = 0, n = o->shared->here;
    while (i < n && member(o, i)->owner != me)
        i++;
    return i < n;
}

void opir_chore(struct opir_rank *me) {
    struct opir_around **at = &chores;
    opir_lock(&lock);
    while (*at && !has_member((*at)->coll, me))
        at = &(*at)->next;
    struct opir_around *c = *at;
    if (c) {
        *at = c->next;
        for (int i = 0; i < c->coll->shared->here; i++)
            atomic_fetch_sub_explicit(&member(c->coll, i)->owner->chores, 1, memory_order_relaxed);
    }
    opir_unlock(&lock);
    if (!c) /* another member was the first */
        return;
    int own_errno = errno; /* the program's */
    finish(c, NULL);
    errno = own_errno;
}

/* ---- who is there ------------------------------------------------------------------------------------------------------------------------------- */

/* The link to a collective, made where there is none; under the lock. */
static struct opir_around **find(uint64_t ctx, uint64_t seq) {
    struct opir_around **at = &chain[(ctx * 31 + seq) % CHAINS];
    while (*at && !((*at)->ctx == ctx && (*at)->seq == seq))
        at = &(*at)->next;
    if (!*at) {
        *at = opir_alloc(sizeof **at);
        (*at)->ctx = ctx;
        (*at)->seq = seq;
    }
    return at;
}

/* Takes it out when all is there; under the lock. */
static struct opir_around *complete(struct opir_around **at) {
    struct opir_around *c = *at;
    if (!c->coll || c->count < c->coll->shared->spread->procs - 1)
        return NULL;
    *at = c->next;
    return c;
}

/* A bundle is here; called by the driver. */
static void attach(struct opir_xfer *x) {
    struct bundle *b = (struct bundle *)x;
    opir_lock(&lock);
    struct opir_around **at = find(b->ctx, b->seq);
    b->next = (*at)->bundles;
    (*at)->bundles = b;
    (*at)->count++;
    struct opir_around *c = complete(at);
    opir_unlock(&lock);
    if (c) {
        c->next = ready;
        ready = c;
    }
}

void opir_around_packet(int process, const struct opir_head *h, const void *data) {
    struct bundle *b = opir_alloc(sizeof *b);
    b->process = process;
    b->ctx = h->ctx;
    b->seq = h->id;
    b->data = malloc(h->bytes ? h->bytes : 1);
    if (!b->data)
        opir_die("out of memory for a collective: %zu bytes", (size_t)h->bytes);
    if (!h->tag) {
        memcpy(b->data, data, h->bytes);
        attach(&b->x);
        return;
    }
    b->x = (struct opir_xfer){.buf = b->data, .bytes = h->bytes, .peer = process, .tag = h->tag, .receives = true, .over = attach};
    opir_net_start(&b->x);
}

/* ---- sending ------------------------------------------------------------------------------------------------------------------------------------ */

void *opir_buf_add(struct opir_buf *b, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    if (b->room - b->used < bytes) {
        b->room = (b->used + bytes) * 2 < 256 ? 256 : (b->used + bytes) * 2;
        b->data = realloc(b->data, b->room);
        if (!b->data)
            opir_die("out of memory for a collective: %zu bytes", b->room);
    }
    void *there = b->data + b->used;
    b->used += bytes;
    return there;
}

struct outgoing {
    struct opir_xfer x; /* the first */
};

static void gone(struct opir_xfer *x) {
    free(x->buf);
    free(x);
}

static void send_bundle(int process, uint64_t ctx, uint64_t seq, struct opir_buf *b) {
    bool inside = b->used <= opir_net.eager;
    struct opir_packet *p = opir_packet_new(OPIR_P_BUNDLE, inside ? b->used : 0);
    p->head.ctx = ctx;
    p->head.id = seq;
    p->head.bytes = b->used;
    if (inside) {
        memcpy(p->data, b->data, b->used);
        free(b->data);
    } else {
        struct outgoing *out = opir_alloc(sizeof *out);
        p->head.tag = opir_net_tag(true);
        out->x = (struct opir_xfer){.buf = b->data, .bytes = b->used, .peer = process, .tag = p->head.tag, .over = gone};
        p->with = &out->x;
    }
    opir_net_send(process, p);
}

/* All members of this process have come; `mine` is the last one's. */
void opir_around_begin(struct opir_coll *o, struct opir_req *mine) {
    struct opir_shared *s = o->shared;
    const struct opir_spread *p = s->spread;
    const int *places = p->places + p->at[p->here];
    for (int i = 0; i < s->here; i++)
        if (OPIR_UNLIKELY(o->args[places[i]]->kind != mine->a->kind))
            opir_die("collectives do not match: rank %d of the communicator is in %s, rank %d in %s", mine->comm->rank, mine->call,
                     o->req[places[i]]->comm->rank, o->req[places[i]]->call);
    o->base = atomic_fetch_add_explicit(&opir.next_ctx, mine->a->kind >= OPIR_MAKE_DUP ? (uint64_t)s->here : 0, memory_order_relaxed);
    struct opir_view v = view_of(o, mine->a->kind);
    uint64_t seq = o->seq;
    for (int k = 0; k < p->procs; k++) {
        if (k == p->here)
            continue;
        struct opir_buf b = {0};
        opir_bundle_write(&v, o, mine->call, k, &b);
        send_bundle(p->proc[k], s->ctx, seq, &b);
    }
    opir_lock(&lock);
    struct opir_around **at = find(s->ctx, seq);
    (*at)->coll = o;
    struct opir_around *c = complete(at);
    opir_unlock(&lock);
    if (c)
        finish(c, mine);
}

/* ---- memory for what stands for members elsewhere ---------------------------------------------------------------------------------------------- */

void *opir_arena_new(struct opir_arena **a, size_t bytes) {
    struct opir_arena *b = opir_alloc(sizeof *b + bytes);
    b->next = *a;
    *a = b;
    return b->data;
}

void opir_arena_free(struct opir_arena *a) {
    for (struct opir_arena *next; a; a = next) {
        next = a->next;
        free(a);
    }
}
