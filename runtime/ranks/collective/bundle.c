/* bundle.c - what a process sends to another of a collective: what that one's members need of its members.
 *
 * A head, then items: the place of a member, the index of whom it is for, and packed data.  The reader makes arguments of each member that sent something,
 * whose buffers are the packed data, as bytes; so what does the operation need not know. */
#include "ranks/transport/net.h"

#include <stdlib.h>

#include "ranks/collective/piece.h"

struct head {
    int32_t kind, root_side, root, items;
    uint64_t base;
    char call[40];
};
struct item {
    int32_t place, index;
    uint64_t bytes;
};
/* Of a member that takes part in making communicators; `bytes` of numbers follow. */
struct member {
    int32_t color, key, made, unused;
};

static struct opir_type bytes_type = {.size = 1, .extent = 1, .true_extent = 1, .contiguous = true, .named = true};

static void place_of(const struct opir_view *v, int place, int *side, int *rank) {
    *side = v->inter && place >= v->n[0];
    *rank = place - (*side ? v->n[0] : 0);
}

static bool rooted(int kind) {
    return kind == OPIR_BCAST || kind == OPIR_GATHER || kind == OPIR_SCATTER || kind == OPIR_REDUCE;
}

/* The root, as far as the members of this process know. */
void opir_bundle_root(struct opir_view *v, const struct opir_spread *p) {
    for (int i = p->at[p->here]; rooted(v->kind) && i < p->at[p->here + 1] && v->root < 0; i++) {
        int side, rank;
        place_of(v, p->places[i], &side, &rank);
        const struct opir_args *a = v->a[side][rank];
        v->root_side = v->inter && a->root >= 0 ? 1 - side : side;
        v->root = v->inter && a->root == MPI_ROOT ? rank : a->root >= 0 ? a->root : -1;
    }
}

static bool has_place(const struct opir_spread *p, int k, int place) {
    for (int i = p->at[k]; i < p->at[k + 1]; i++)
        if (p->places[i] == place)
            return true;
    return false;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------------------------------- */

static void *item(struct opir_buf *b, int place, int index, size_t bytes) {
    struct item *i = opir_buf_add(b, sizeof *i);
    *i = (struct item){place, index, bytes};
    ((struct head *)b->data)->items++;
    return opir_buf_add(b, bytes);
}

static void pack(struct opir_buf *b, int place, int index, struct piece p) {
    opir_pack(p.t, p.at, p.n, item(b, place, index, p.n * p.t->size));
}

static void write_neighbours(const struct opir_view *v, const struct opir_spread *p, int k, struct opir_buf *b) {
    const struct opir_topo *t = v->shared->topo;
    bool *told = opir_alloc((size_t)v->n[0]);
    for (int i = p->at[k]; i < p->at[k + 1]; i++) {
        int me = p->places[i], nin = opir_topo_degree(t, me, true);
        int *in = opir_alloc((size_t)nin * sizeof(int));
        opir_topo_neighbours(t, me, true, in);
        for (int n = 0; n < nin; n++) {
            const struct opir_args *a = in[n] == MPI_PROC_NULL ? NULL : v->a[0][in[n]];
            if (!a) /* no rank, or one elsewhere */
                continue;
            if (v->kind == OPIR_NEIGHBOR_ALLGATHER) {
                if (!told[in[n]])
                    pack(b, in[n], 0, all_sent(a));
                told[in[n]] = true;
                continue;
            }
            int nout = opir_topo_degree(t, in[n], false);
            int *out = opir_alloc((size_t)nout * sizeof(int));
            opir_topo_neighbours(t, in[n], false, out);
            int as = opir_sent_as(t, in, n, me, out, nout);
            free(out);
            if (as >= 0)
                pack(b, in[n], as, to_peer(a, as));
        }
        free(in);
    }
    free(told);
}

/* What members bring besides numbers: groups, edges, a leader's knowledge; written once for each side where all have the same. */
static void write_numbers(const struct opir_view *v, const struct opir_args *a, int side, bool *told, int place, struct opir_buf *b) {
    struct member m = {a->color, a->key, a->made != NULL, 0};
    int n = 0, more = 0, first = 0;
    const int *numbers = NULL;
    bool adjacent = false, weighted = false;
    if (v->kind == OPIR_MAKE_GROUP && v->inter && a->made && !told[side]) {
        n = ((struct opir_group *)a->what)->size;
        told[side] = true;
    } else if (v->kind == OPIR_MAKE_TOPO && opir_topo_is_dist(a->what)) {
        numbers = opir_topo_triples(a->what, &n, &first, &adjacent, &weighted);
        n *= 3;
        more = 3;
    } else if (v->kind == OPIR_MAKE_INTER && a->what) {
        numbers = ((struct opir_bridge *)a->what)->numbers;
        n = ((struct opir_bridge *)a->what)->n;
    }
    char *at = item(b, place, n + more, sizeof m + (size_t)(n + more) * sizeof(int));
    memcpy(at, &m, sizeof m);
    int *to = (int *)(at + sizeof m);
    if (more) {
        *to++ = first;
        *to++ = adjacent;
        *to++ = weighted;
    }
    for (int i = 0; i < n; i++)
        to[i] = numbers ? numbers[i] : opir_group_world(a->what, i);
}

/* `there`: process k has members on that side; `root_there`: the root; `first`: the first member of this process on each side. */
static void write_member(const struct opir_view *v, const struct opir_spread *p, int k, int place, const bool *there, bool root_there, const int *first,
                         struct opir_buf *b) {
    int side, rank;
    place_of(v, place, &side, &rank);
    int far = v->inter ? 1 - side : side;
    const struct opir_args *a = v->a[side][rank];
    bool is_root = v->root == rank && v->root_side == side, to_root = root_there && v->root_side == far;
    switch (v->kind) {
    case OPIR_BCAST:
        if (is_root && there[far])
            pack(b, place, 0, all_received(a));
        break;
    case OPIR_GATHER:
        if (to_root)
            pack(b, place, 0, all_sent(a));
        break;
    case OPIR_ALLGATHER:
        if (there[far])
            pack(b, place, 0, a->in_place ? from_peer(a, rank) : all_sent(a));
        break;
    case OPIR_SCATTER:
    case OPIR_ALLTOALL:
        for (int i = p->at[k]; (is_root || v->kind == OPIR_ALLTOALL) && i < p->at[k + 1]; i++) {
            int to_side, to;
            place_of(v, p->places[i], &to_side, &to);
            if (to_side == far)
                pack(b, place, to, v->kind == OPIR_ALLTOALL && a->in_place ? from_peer(a, to) : to_peer(a, to));
        }
        break;
    default: {
        if (v->kind == OPIR_REDUCE ? !to_root : !there[far])
            break;
        size_t bytes;
        void *packed = opir_reduce_packed(v, side, rank, first[side] == rank, &bytes);
        if (packed)
            memcpy(item(b, place, 0, bytes), packed, bytes);
        free(packed);
    }
    }
}

/* What this process has for the members in process k of the communicator's. */
void opir_bundle_write(const struct opir_view *v, const struct opir_coll *o, const char *call, int k, struct opir_buf *b) {
    const struct opir_spread *p = v->shared->spread;
    struct head *h = opir_buf_add(b, sizeof *h);
    memset(h, 0, sizeof *h);
    h->kind = v->kind;
    h->root_side = v->root_side;
    h->root = v->root;
    h->base = o->base;
    strncpy(h->call, call, sizeof h->call - 1);
    if (v->kind == OPIR_BARRIER || v->kind == OPIR_MAKE_DUP)
        return;
    if (v->kind == OPIR_NEIGHBOR_ALLGATHER || v->kind == OPIR_NEIGHBOR_ALLTOALL) {
        write_neighbours(v, p, k, b);
        return;
    }
    bool there[2] = {false, false}, told[2] = {false, false};
    bool root_there = v->root >= 0 && has_place(p, k, v->root + (v->inter && v->root_side ? v->n[0] : 0));
    int first[2] = {-1, -1};
    for (int i = p->at[k]; i < p->at[k + 1]; i++)
        there[v->inter && p->places[i] >= v->n[0]] = true;
    for (int i = p->at[p->here]; i < p->at[p->here + 1]; i++) {
        int side, rank;
        place_of(v, p->places[i], &side, &rank);
        if (v->kind >= OPIR_MAKE_DUP)
            write_numbers(v, v->a[side][rank], side, told, p->places[i], b);
        else {
            if (first[side] < 0)
                first[side] = rank;
            write_member(v, p, k, p->places[i], there, root_there, first, b);
        }
    }
}

/* ---- reading ---------------------------------------------------------------------------------------------------------------------------------- */

static struct opir_args *remote(struct opir_view *v, int side, int rank) {
    struct opir_args *a = v->a[side][rank];
    if (!a) {
        a = v->a[side][rank] = opir_arena_new(&v->arena, sizeof *a);
        a->kind = v->kind;
        a->remote = true;
    }
    return a;
}

/* A piece for one peer: the counts and displacements of an argument whose other pieces are elsewhere. */
static void for_peer(struct opir_view *v, struct opir_args *a, int n, int index, const char *data, size_t bytes) {
    if (!a->scounts) {
        a->v = true;
        a->csize = a->dsize = sizeof(int64_t);
        a->st = &bytes_type;
        a->sbuf = data;
        a->scounts = opir_arena_new(&v->arena, (size_t)n * sizeof(int64_t));
        a->sdispls = opir_arena_new(&v->arena, (size_t)n * sizeof(int64_t));
    }
    ((int64_t *)(uintptr_t)a->scounts)[index] = (int64_t)bytes;
    ((int64_t *)(uintptr_t)a->sdispls)[index] = data - (const char *)a->sbuf;
}

/* A member of this process on a side that knows the type and the operation. */
static const struct opir_args *one_that_reduces(const struct opir_view *v, int of) {
    const struct opir_spread *p = v->shared->spread;
    for (int i = p->at[p->here]; i < p->at[p->here + 1]; i++) {
        int side, rank;
        place_of(v, p->places[i], &side, &rank);
        if (side == of && v->a[side][rank]->rt)
            return v->a[side][rank];
    }
    opir_die("a reduction without a type");
}

static void read_numbers(struct opir_view *v, struct opir_args *a, int n, const char *data) {
    struct member m;
    memcpy(&m, data, sizeof m);
    const int *numbers = (const int *)(data + sizeof m);
    a->color = m.color;
    a->key = m.key;
    a->made = m.made ? opir_arena_new(&v->arena, sizeof *a->made) : NULL; /* is bound, and nobody looks at it */
    if (!n)
        return;
    if (v->kind == OPIR_MAKE_GROUP) {
        struct opir_group *g = opir_group_new(n, false);
        memcpy(g->world, numbers, (size_t)n * sizeof(int));
        a->what = g;
    } else if (v->kind == OPIR_MAKE_TOPO) {
        a->what = opir_topo_brought(numbers + 3, (n - 3) / 3, numbers[0], numbers[1], numbers[2]);
    } else {
        struct opir_bridge *bridge = opir_arena_new(&v->arena, sizeof *bridge);
        bridge->numbers = opir_arena_new(&v->arena, (size_t)n * sizeof(int));
        memcpy(bridge->numbers, numbers, (size_t)n * sizeof(int));
        bridge->n = n;
        a->what = bridge;
    }
}

static void read_item(struct opir_view *v, const struct item *i, const char *data) {
    int side, rank;
    place_of(v, i->place, &side, &rank);
    struct opir_args *a = remote(v, side, rank);
    if (v->kind >= OPIR_MAKE_DUP) {
        read_numbers(v, a, i->index, data);
    } else if (v->kind == OPIR_BCAST) {
        a->rbuf = (void *)(uintptr_t)data;
        a->rcount = (MPI_Count)i->bytes;
        a->rt = &bytes_type;
    } else if (v->kind == OPIR_GATHER || v->kind == OPIR_ALLGATHER || v->kind == OPIR_NEIGHBOR_ALLGATHER) {
        a->sbuf = data;
        a->scount = (MPI_Count)i->bytes;
        a->st = &bytes_type;
    } else if (v->kind == OPIR_SCATTER || v->kind == OPIR_ALLTOALL) {
        for_peer(v, a, v->n[v->inter ? 1 - side : side], i->index, data, i->bytes);
    } else if (v->kind == OPIR_NEIGHBOR_ALLTOALL) {
        for_peer(v, a, opir_topo_degree(v->shared->topo, rank, false), i->index, data, i->bytes);
    } else {
        int to = v->inter ? 1 - side : side;
        const struct opir_args *like = one_that_reduces(v, to);
        opir_reduce_unpacked(a, like, opir_reduce_count(like, v->n[to]), data, i->bytes, &v->arena);
    }
}

/* What process k of the communicator's has sent. */
void opir_bundle_read(struct opir_view *v, int k, const char *data, uint64_t *bases) {
    struct head h;
    memcpy(&h, data, sizeof h);
    if (h.kind != v->kind)
        opir_die("collectives do not match: ranks of process %d are in another one, ranks of process %d in %s", opir.process, v->shared->spread->proc[k], h.call);
    if (rooted(v->kind) && !v->inter && h.root != v->root)
        opir_die("members of a communicator called a collective with different roots, %d and %d", v->root, h.root);
    if (rooted(v->kind) && h.root >= 0) {
        v->root_side = h.root_side;
        v->root = h.root;
    }
    bases[k] = h.base;
    data += (sizeof h + 15) & ~(size_t)15;
    for (int n = 0; n < h.items; n++) {
        struct item i;
        memcpy(&i, data, sizeof i);
        data += (sizeof i + 15) & ~(size_t)15;
        read_item(v, &i, data);
        data += (i.bytes + 15) & ~(size_t)15;
    }
}

/* What was made of it besides memory. */
void opir_bundle_drop(struct opir_view *v) {
    if (v->kind != OPIR_MAKE_GROUP && v->kind != OPIR_MAKE_TOPO)
        return;
    for (int side = 0; side <= v->inter; side++)
        for (int i = 0; i < v->n[side]; i++) {
            const struct opir_args *a = v->a[side][i];
            if (!a || !a->remote || !a->what)
                continue;
            if (v->kind == OPIR_MAKE_GROUP)
                opir_group_drop(a->what);
            else
                opir_topo_drop(a->what);
        }
}
