/* make.c - making communicators, once for all their members in this process.
 *
 * Each member prepares its own communicator (attributes copied, error handler taken over) and comes to a collective; who comes last makes what the new
 * members share and binds the prepared ones to it.  A communicator that was bound to nothing is given up: its rank gets MPI_COMM_NULL. */
#include "ranks/transport/net.h"

#include <stdlib.h>

static void bind_all(struct opir_shared *s, struct opir_args **a, int side) {
    struct opir_group *g = s->group[side];
    for (int i = 0; i < g->size; i++)
        if (a[i]) /* of a duplicate, members elsewhere send nothing */
            opir_comm_bind(a[i]->made, s, side, i);
}

/* A new shared part for two groups; held until opir_shared_drop, whether or not members are in this process. */
static struct opir_shared *shared_of(struct opir_group *a, struct opir_group *b, bool inter, uint64_t ctx) {
    struct opir_shared *s = opir_shared_new(a, b, inter, ctx);
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed); /* nobody else knows it yet */
    return s;
}

static void dup(struct opir_view *v) {
    struct opir_group **g = v->shared->group;
    struct opir_shared *s = shared_of(g[0], g[1], v->inter, opir_view_ctx(v, 0, 0));
    s->topo = v->shared->topo ? opir_topo_keep(v->shared->topo) : NULL;
    bind_all(s, v->a[0], 0);
    if (v->inter)
        bind_all(s, v->a[1], 1);
    opir_shared_drop(s);
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
        int ours = at;
        while (ours < end && !opir_local(c[ours].a))
            ours++;
        if (ours == end)
            continue; /* of other processes only */
        struct opir_group *g = group_of(v, c + at, middle - at), *h = v->inter ? group_of(v, c + middle, end - middle) : opir_group_keep(g);
        struct opir_shared *s = shared_of(g, h, v->inter, opir_view_ctx(v, c[at].side, c[at].rank));
        opir_group_drop(g);
        opir_group_drop(h);
        for (int i = at; i < end && !s->topo; i++) /* all have the same, those of this process here */
            s->topo = c[i].a->what ? opir_topo_keep(c[i].a->what) : NULL;
        for (int i = at; i < end; i++)
            opir_comm_bind(c[i].a->made, s, c[i].side, i - (c[i].side ? middle : at));
        opir_shared_drop(s);
    }
    free(c);
}

/* MPI_Comm_create: members name the group they belong to; there may be several that do not overlap. */
static void by_group(struct opir_view *v) {
    for (int i = 0; i < v->n[0]; i++) {
        struct opir_args *a = v->a[0][i];
        if (!a->made || a->made->shared || !a->what || (a->remote && !v->inter))
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
        int first = opir_group_rank(v->shared->group[0], opir_group_world(g, 0));
        struct opir_shared *s = shared_of(g, h, v->inter, opir_view_ctx(v, 0, first < 0 ? i : first));
        for (int side = 0; side <= v->inter; side++)
            for (int k = 0; k < s->group[side]->size; k++) {
                int rank = opir_group_rank(v->shared->group[side], opir_group_world(s->group[side], k));
                if (rank < 0 || !v->a[side][rank]->made)
                    opir_die("MPI_Comm_create: a member of the group did not name it");
                opir_comm_bind(v->a[side][rank]->made, s, side, k);
            }
        opir_shared_drop(s);
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
    struct opir_shared *s = shared_of(g, g, false, opir_view_ctx(v, 0, 0));
    opir_group_drop(g);
    s->topo = opir_topo_made((const struct opir_args *const *)v->a[0], v->n[0]);
    bind_all(s, v->a[0], 0);
    opir_shared_drop(s);
}

static void merge(struct opir_view *v) {
    int first = v->a[0][0]->key && !v->a[1][0]->key, n = v->n[0] + v->n[1], at = 0;
    struct opir_group *g = opir_group_new(n, false);
    for (int k = 0; k < 2; k++) {
        int side = k ^ first;
        for (int i = 0; i < v->n[side]; i++)
            g->world[at++] = opir_group_world(v->shared->group[side], i);
    }
    struct opir_shared *s = shared_of(g, g, false, opir_view_ctx(v, 0, 0));
    opir_group_drop(g);
    at = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < v->n[k ^ first]; i++)
            opir_comm_bind(v->a[k ^ first][i]->made, s, 0, at++);
    opir_shared_drop(s);
}

/* Intercommunicators that one side has made and the other has not come for, where this process has members of both. */
struct half {
    struct half *next;
    struct opir_shared *shared;
};
static struct half *halves;
static pthread_mutex_t halves_lock = PTHREAD_MUTEX_INITIALIZER;

static struct opir_shared *half_made(uint64_t ctx) {
    struct half **at = &halves;
    while (*at && (*at)->shared->ctx != ctx)
        at = &(*at)->next;
    struct half *h = *at;
    if (!h)
        return NULL;
    struct opir_shared *s = h->shared;
    *at = h->next;
    free(h);
    return s;
}

/* One side of an intercommunicator: its leader has brought what the leaders have agreed on (bridge). */
static void bridged(struct opir_view *v) {
    const struct opir_bridge *b = NULL;
    for (int i = 0; i < v->n[0] && !b; i++)
        b = v->a[0][i]->what;
    uint64_t ctx = (uint64_t)(uint32_t)b->numbers[0] | (uint64_t)(uint32_t)b->numbers[1] << 32;
    int side = b->numbers[2], others = b->n - 3;
    opir_lock(&halves_lock);
    struct opir_shared *s = half_made(ctx);
    if (!s) {
        struct opir_group *far = opir_group_new(others, false), *near = v->shared->group[0];
        memcpy(far->world, b->numbers + 3, (size_t)others * sizeof(int));
        s = opir_shared_new(side ? far : near, side ? near : far, true, ctx);
        opir_group_drop(far);
        bool both = false;
        for (int i = 0; i < others && !both; i++)
            both = opir_rank_of(b->numbers[3 + i]) != NULL;
        if (both) { /* its members hold it, those to come too */
            struct half *h = opir_alloc(sizeof *h);
            h->shared = s;
            h->next = halves;
            halves = h;
        }
    }
    opir_unlock(&halves_lock);
    bind_all(s, v->a[0], side);
}

void opir_make(struct opir_view *v) {
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
        bridged(v);
    }
}
