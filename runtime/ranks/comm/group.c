/* group.c - groups: ordered sets of world ranks. */
#include "ranks/base/ranks.h"

#include <stdlib.h>

static struct opir_group empty = {.obj = {0, OPIR_FREE}, .refs = 1, .size = 0};

struct opir_group *opir_group_new(int size, bool identity) {
    struct opir_group *g = opir_alloc(sizeof *g);
    opir_obj_init(&g->obj, OPIR_GROUP);
    atomic_init(&g->refs, 1);
    g->size = size;
    if (!identity)
        g->world = opir_alloc((size_t)size * sizeof(int));
    return g;
}

void opir_group_drop(struct opir_group *g) {
    if (g != &empty && atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) == 1) {
        opir_obj_gone(&g->obj);
        free(g->world);
        free(atomic_load_explicit(&g->index, memory_order_relaxed));
        free(g);
    }
}

struct place {
    int world, rank;
};

static int by_world(const void *a, const void *b) {
    int x = ((const struct place *)a)->world, y = ((const struct place *)b)->world;
    return (x > y) - (x < y);
}

/* The pairs (world rank, rank) sorted; made once, whoever is first publishes it (release). */
static const struct place *index_of(struct opir_group *g) {
    int *there = atomic_load_explicit(&g->index, memory_order_acquire);
    if (there)
        return (const struct place *)there;
    struct place *made = opir_alloc((size_t)g->size * sizeof *made);
    for (int i = 0; i < g->size; i++)
        made[i] = (struct place){g->world[i], i};
    qsort(made, (size_t)g->size, sizeof *made, by_world);
    if (!atomic_compare_exchange_strong_explicit(&g->index, &there, (int *)made, memory_order_acq_rel, memory_order_acquire)) {
        free(made);
        return (const struct place *)there;
    }
    return made;
}

/* The rank of a member, -1 for others. */
int opir_group_rank(struct opir_group *g, int world) {
    if (!g->world)
        return world < g->size ? world : -1;
    if (g->size <= 8) {
        for (int i = 0; i < g->size; i++)
            if (g->world[i] == world)
                return i;
        return -1;
    }
    struct place key = {world, 0};
    const struct place *found = bsearch(&key, index_of(g), (size_t)g->size, sizeof key, by_world);
    return found ? found->rank : -1;
}

/* ---- the calls -------------------------------------------------------------------------------------------------------------------------- */

static struct opir_group *of(MPI_Group h) {
    return h == MPI_GROUP_EMPTY ? &empty : opir_group_of(h);
}

#define GROUP(variable, handle)                                                                    \
    struct opir_group *variable = of(handle);                                                      \
    if (!variable)                                                                                 \
    return opir_raise(NULL, MPI_ERR_GROUP, call, "invalid group")

#define CALL(name)                    \
    static const char call[] = name;  \
    opir_me(call)

static int give_out(struct opir_group *g, MPI_Group *out) {
    if (g->size == 0) {
        opir_group_drop(g);
        *out = MPI_GROUP_EMPTY;
    } else {
        OPIR_PUT(out, g);
    }
    return MPI_SUCCESS;
}

EXPORT int MPI_Group_size(MPI_Group group, int *size) {
    CALL("MPI_Group_size");
    GROUP(g, group);
    OPIR_OUT(size);
    *size = g->size;
    return MPI_SUCCESS;
}

EXPORT int MPI_Group_rank(MPI_Group group, int *rank) {
    CALL("MPI_Group_rank");
    GROUP(g, group);
    OPIR_OUT(rank);
    int r = opir_group_rank(g, opir_self->world);
    *rank = r < 0 ? MPI_UNDEFINED : r;
    return MPI_SUCCESS;
}

EXPORT int MPI_Group_free(MPI_Group *group) {
    CALL("MPI_Group_free");
    GROUP(g, *group);
    opir_group_drop(g);
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

EXPORT int MPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
    CALL("MPI_Group_translate_ranks");
    GROUP(a, group1);
    GROUP(b, group2);
    if (n > 0)
        OPIR_OUT(ranks1 && ranks2);
    for (int i = 0; i < n; i++) {
        if (ranks1[i] == MPI_PROC_NULL) {
            ranks2[i] = MPI_PROC_NULL;
            continue;
        }
        if (ranks1[i] < 0 || ranks1[i] >= a->size)
            return opir_raise(NULL, MPI_ERR_RANK, call, "rank %d in a group of %d", ranks1[i], a->size);
        int r = opir_group_rank(b, opir_group_world(a, ranks1[i]));
        ranks2[i] = r < 0 ? MPI_UNDEFINED : r;
    }
    return MPI_SUCCESS;
}

EXPORT int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result) {
    CALL("MPI_Group_compare");
    GROUP(a, group1);
    GROUP(b, group2);
    OPIR_OUT(result);
    *result = a->size == b->size ? MPI_IDENT : MPI_UNEQUAL;
    for (int i = 0; a != b && i < a->size && *result != MPI_UNEQUAL; i++) {
        if (opir_group_world(a, i) == opir_group_world(b, i))
            continue;
        *result = opir_group_rank(b, opir_group_world(a, i)) < 0 ? MPI_UNEQUAL : MPI_SIMILAR;
    }
    return MPI_SUCCESS;
}

/* Members of `first`, then those of `second` that are not in it; `both` says which of the first, 1: all, 0: those in second, -1: those not in it. */
static struct opir_group *combined(struct opir_group *first, struct opir_group *second, int both, bool more) {
    struct opir_group *g = opir_group_new(first->size + (more ? second->size : 0), false);
    int n = 0;
    for (int i = 0; i < first->size; i++) {
        int w = opir_group_world(first, i);
        if (both == 1 || (opir_group_rank(second, w) >= 0) == (both == 0))
            g->world[n++] = w;
    }
    for (int i = 0; more && i < second->size; i++) {
        int w = opir_group_world(second, i);
        if (opir_group_rank(first, w) < 0)
            g->world[n++] = w;
    }
    g->size = n;
    return g;
}

EXPORT int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *out) {
    CALL("MPI_Group_union");
    GROUP(a, group1);
    GROUP(b, group2);
    OPIR_OUT(out);
    return give_out(combined(a, b, 1, true), out);
}

EXPORT int MPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *out) {
    CALL("MPI_Group_intersection");
    GROUP(a, group1);
    GROUP(b, group2);
    OPIR_OUT(out);
    return give_out(combined(a, b, 0, false), out);
}

EXPORT int MPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *out) {
    CALL("MPI_Group_difference");
    GROUP(a, group1);
    GROUP(b, group2);
    OPIR_OUT(out);
    return give_out(combined(a, b, -1, false), out);
}

static int picked(const char *call, struct opir_group *g, int n, const int *ranks, bool keep, MPI_Group *out) {
    char *named = opir_alloc((size_t)g->size);
    int rc = MPI_SUCCESS;
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
        if (ranks[i] < 0 || ranks[i] >= g->size || named[ranks[i]])
            rc = opir_raise(NULL, MPI_ERR_RANK, call, "rank %d in a group of %d%s", ranks[i], g->size,
                            ranks[i] >= 0 && ranks[i] < g->size ? " is named twice" : "");
        else
            named[ranks[i]] = 1;
    }
    if (rc == MPI_SUCCESS) {
        struct opir_group *made = opir_group_new(keep ? n : g->size - n, false);
        int at = 0;
        for (int i = 0; keep && i < n; i++)
            made->world[at++] = opir_group_world(g, ranks[i]);
        for (int i = 0; !keep && i < g->size; i++)
            if (!named[i])
                made->world[at++] = opir_group_world(g, i);
        give_out(made, out);
    }
    free(named);
    return rc;
}

EXPORT int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *out) {
    CALL("MPI_Group_incl");
    GROUP(g, group);
    OPIR_OUT(out);
    return picked(call, g, n, ranks, true, out);
}

EXPORT int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *out) {
    CALL("MPI_Group_excl");
    GROUP(g, group);
    OPIR_OUT(out);
    return picked(call, g, n, ranks, false, out);
}

static int ranges(const char *call, struct opir_group *g, int n, int range[][3], bool keep, MPI_Group *out) {
    int *ranks = opir_alloc(((size_t)g->size + 1) * sizeof(int)), used = 0, rc = MPI_SUCCESS;
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
        long long first = range[i][0], last = range[i][1], step = range[i][2];
        if (step == 0 || first < 0 || last < 0 || first >= g->size || last >= g->size)
            rc = opir_raise(NULL, MPI_ERR_ARG, call, "range %lld to %lld by %lld in a group of %d", first, last, step, g->size);
        for (long long r = first; rc == MPI_SUCCESS && (step > 0 ? r <= last : r >= last); r += step) {
            if (used == g->size)
                rc = opir_raise(NULL, MPI_ERR_RANK, call, "a rank is named twice");
            else
                ranks[used++] = (int)r;
        }
    }
    if (rc == MPI_SUCCESS)
        rc = picked(call, g, used, ranks, keep, out);
    free(ranks);
    return rc;
}

EXPORT int MPI_Group_range_incl(MPI_Group group, int n, int range[][3], MPI_Group *out) {
    CALL("MPI_Group_range_incl");
    GROUP(g, group);
    OPIR_OUT(out);
    return ranges(call, g, n, range, true, out);
}

EXPORT int MPI_Group_range_excl(MPI_Group group, int n, int range[][3], MPI_Group *out) {
    CALL("MPI_Group_range_excl");
    GROUP(g, group);
    OPIR_OUT(out);
    return ranges(call, g, n, range, false, out);
}
