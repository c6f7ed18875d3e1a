/* describe.c - the layout of a datatype, read from the MPI's own description of how it was made (MPI_Type_get_envelope, MPI_Type_get_contents).
 *
 * What the description does not tell is left to the MPI below: a combiner that is not known here, a predefined type with gaps that is not known, and a result
 * whose size or bounds are not the type's.  That is no guess: the check comes last, whatever was read. */
#include "shared/datatypes/layout.h"

#include <limits.h>
#include <stdlib.h>

#define TYPES_MAX ((size_t)1 << 16) /* looked at for one: an MPI may give out a type that stands twice in another as two */
#define DEPTH_MAX 1000

static const struct opi_part nothing = {0, NULL};

/* What a type was made of.  `v` has the integers and then the addresses, or the large counts, which come in the same order but for subarray and darray. */
struct contents {
    int combiner;
    size_t nv, nints, nlarge, ntypes;
    ptrdiff_t *v;
    int *ints;
    MPI_Datatype *types;
};

static bool size_of(MPI_Datatype t, ptrdiff_t *size, ptrdiff_t *extent, ptrdiff_t *true_lb, ptrdiff_t *true_extent) {
    MPI_Count s, lb, e, tlb, te;
    if (PMPI_Type_size_x(t, &s) != MPI_SUCCESS || PMPI_Type_get_extent_x(t, &lb, &e) != MPI_SUCCESS || PMPI_Type_get_true_extent_x(t, &tlb, &te) != MPI_SUCCESS)
        return false;
    *size = (ptrdiff_t)s;
    *extent = (ptrdiff_t)e;
    *true_lb = (ptrdiff_t)tlb;
    *true_extent = (ptrdiff_t)te;
    return s >= 0;
}

/* Is it predefined, named or not?  Such types are not made of others, and must not be freed. */
static bool basic(int combiner) {
    switch (combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    case MPI_COMBINER_VALUE_INDEX:
#endif
        return true;
    default:
        return false;
    }
}

#if MPI_VERSION >= 4
typedef MPI_Count number;
#else
typedef int number;
#endif

/* How many of each there are.  The call without counts of its own refuses types that were made with large counts. */
static bool envelope(MPI_Datatype t, number *ints, number *addresses, number *large, number *types, int *combiner) {
#if MPI_VERSION >= 4
    return PMPI_Type_get_envelope_c(t, ints, addresses, large, types, combiner) == MPI_SUCCESS;
#else
    *large = 0;
    return PMPI_Type_get_envelope(t, ints, addresses, types, combiner) == MPI_SUCCESS;
#endif
}

static bool contents_of(MPI_Datatype t, struct contents *c) {
    number ni, na, nl, nt;
    *c = (struct contents){0};
    if (!envelope(t, &ni, &na, &nl, &nt, &c->combiner))
        return false;
    if (basic(c->combiner))
        return true;
    c->nints = (size_t)ni;
    c->nlarge = (size_t)nl;
    c->ntypes = (size_t)nt;
    c->nv = nl ? (size_t)nl : (size_t)ni + (size_t)na;
    c->v = malloc((c->nv + 1) * sizeof *c->v);
    c->ints = malloc(((size_t)ni + 1) * sizeof *c->ints);
    c->types = malloc(((size_t)nt + 1) * sizeof *c->types);
    MPI_Aint *addresses = malloc(((size_t)na + 1) * sizeof *addresses);
    MPI_Count *large = malloc(((size_t)nl + 1) * sizeof *large);
    bool ok = c->v && c->ints && c->types && addresses && large;
#if MPI_VERSION >= 4
    ok = ok && PMPI_Type_get_contents_c(t, ni, na, nl, nt, c->ints, addresses, large, c->types) == MPI_SUCCESS;
#else
    ok = ok && PMPI_Type_get_contents(t, ni, na, nt, c->ints, addresses, c->types) == MPI_SUCCESS;
#endif
    if (!ok)
        c->ntypes = 0; /* none to be freed */
    for (size_t i = 0; ok && i < c->nlarge; i++)
        c->v[i] = (ptrdiff_t)large[i];
    for (size_t i = 0; ok && !c->nlarge && i < c->nints; i++)
        c->v[i] = c->ints[i];
    for (size_t i = 0; ok && !c->nlarge && i < (size_t)na; i++)
        c->v[c->nints + i] = (ptrdiff_t)addresses[i];
    free(addresses);
    free(large);
    return ok;
}

static void contents_free(struct contents *c) {
    for (size_t i = 0; i < c->ntypes; i++) {
        number ni, na, nl, nt;
        int combiner;
        if (envelope(c->types[i], &ni, &na, &nl, &nt, &combiner) && !basic(combiner))
            PMPI_Type_free(&c->types[i]);
    }
    free(c->v);
    free(c->ints);
    free(c->types);
}

/* ---- predefined types ---------------------------------------------------------------------------------------------------------------------- */

/* Pairs of MPI_MINLOC whose second lies after a gap: where, and how long the first is. */
static bool pair(MPI_Datatype t, size_t *first, size_t *second, size_t *at) {
#define PAIR(name, type)                            \
    if (t == (name)) {                              \
        struct pair_of {                            \
            type a;                                 \
            int b;                                  \
        };                                          \
        *first = sizeof(type);                      \
        *second = sizeof(int);                      \
        *at = offsetof(struct pair_of, b);          \
        return true;                                \
    }
    PAIR(MPI_SHORT_INT, short)
    PAIR(MPI_FLOAT_INT, float)
    PAIR(MPI_DOUBLE_INT, double)
    PAIR(MPI_LONG_INT, long)
    PAIR(MPI_LONG_DOUBLE_INT, long double)
#undef PAIR
    return false;
}

static struct opi_part predefined(struct opi_making *m, MPI_Datatype t) {
    ptrdiff_t size, extent, low, span;
    size_t first, second, at;
    if (!size_of(t, &size, &extent, &low, &span)) {
        m->failed = true;
        return nothing;
    }
    if (size == 0)
        return nothing;
    struct opi_part p = nothing;
    if (size == span) {
        p = opi_layout_bytes(m, (size_t)size);
        p.offset = low;
    } else if (pair(t, &first, &second, &at) && first + second == (size_t)size) {
        struct opi_part two[2] = {opi_layout_bytes(m, first), opi_layout_bytes(m, second)};
        two[1].offset = (ptrdiff_t)at;
        p = opi_layout_list(m, two, 2);
    } else {
        m->failed = true;
    }
    return p;
}

/* ---- derived types ------------------------------------------------------------------------------------------------------------------------- */

static struct opi_part read_type(struct opi_making *m, MPI_Datatype t, int depth);

/* A number that counts something. */
static size_t count_of(struct opi_making *m, ptrdiff_t n) {
    if (n < 0)
        m->failed = true;
    return n < 0 ? 0 : (size_t)n;
}

static ptrdiff_t times(struct opi_making *m, ptrdiff_t a, ptrdiff_t b) {
    ptrdiff_t r = 0;
    if (__builtin_mul_overflow(a, b, &r))
        m->failed = true;
    return r;
}

/* n blocks of `lengths[i]` elements, or `length` where there is one for all, at scale * places[i] bytes. */
static struct opi_part indexed(struct opi_making *m, struct opi_part of, ptrdiff_t extent, size_t n, const ptrdiff_t *lengths, ptrdiff_t length,
                               const ptrdiff_t *places, ptrdiff_t scale) {
    if (!of.of)
        return nothing;
    if (of.of->kind == OPI_L_BYTES && (ptrdiff_t)of.of->size == extent) {
        struct opi_part p = opi_layout_spans(m, places, scale, of.offset, lengths, (lengths || length > 0) ? n : 0, of.of->size * (lengths ? 1 : count_of(m, length)));
        opi_layout_free(of.of);
        return p;
    }
    struct opi_part *parts = malloc((n + 1) * sizeof *parts), block = nothing, out = nothing;
    ptrdiff_t last = -1;
    m->failed = m->failed || !parts;
    for (size_t i = 0; i < n && parts; i++) {
        ptrdiff_t now = lengths ? lengths[i] : length;
        if (now != last) { /* blocks of one length share their layout */
            opi_layout_free(block.of);
            block = opi_layout_repeat(m, opi_layout_share(of), count_of(m, now), extent);
            last = now;
        }
        parts[i] = opi_layout_share(block);
        parts[i].offset += times(m, scale, places[i]);
    }
    if (parts)
        out = opi_layout_list(m, parts, n);
    free(parts);
    opi_layout_free(block.of);
    opi_layout_free(of.of);
    return out;
}

/* Each member has a type of its own; one that follows its like is not read again. */
static struct opi_part structure(struct opi_making *m, const struct contents *c, int depth) {
    size_t n = count_of(m, c->v[0]);
    if (m->failed || c->nv < 1 + 2 * n || c->ntypes < n) {
        m->failed = true;
        return nothing;
    }
    struct opi_part *parts = malloc((n + 1) * sizeof *parts), of = nothing, out = nothing;
    ptrdiff_t size, extent = 0, low, span;
    m->failed = m->failed || !parts;
    for (size_t i = 0; i < n && parts; i++) {
        if (i == 0 || c->types[i] != c->types[i - 1]) {
            opi_layout_free(of.of);
            of = read_type(m, c->types[i], depth);
            if (!size_of(c->types[i], &size, &extent, &low, &span))
                m->failed = true;
        }
        parts[i] = opi_layout_repeat(m, opi_layout_share(of), count_of(m, c->v[1 + i]), extent);
        parts[i].offset += c->v[1 + n + i];
    }
    if (parts)
        out = opi_layout_list(m, parts, n);
    free(parts);
    opi_layout_free(of.of);
    return out;
}

/* The elements start..start+length of a dimension. */
static struct opi_part slice(struct opi_making *m, struct opi_part p, ptrdiff_t start, ptrdiff_t length, ptrdiff_t stride) {
    p = opi_layout_repeat(m, p, length > 0 ? (size_t)length : 0, stride);
    p.offset += times(m, start, stride);
    return p;
}

static struct opi_part subarray(struct opi_making *m, const struct contents *c, struct opi_part p, ptrdiff_t extent) {
    size_t n = count_of(m, c->ints[0]), wanted = c->nlarge ? 2 : 3 * n + 2;
    if (m->failed || c->nints < wanted || (c->nlarge && c->nlarge < 3 * n)) {
        m->failed = true;
        opi_layout_free(p.of);
        return nothing;
    }
    const ptrdiff_t *sizes = c->v + (c->nlarge ? 0 : 1), *subsizes = sizes + n, *starts = subsizes + n;
    int order = c->nlarge ? c->ints[1] : c->ints[3 * n + 1];
    ptrdiff_t stride = extent;
    for (size_t i = 0; i < n; i++) {
        size_t d = order == MPI_ORDER_C ? n - 1 - i : i; /* the fastest dimension first */
        p = slice(m, p, starts[d], subsizes[d], stride);
        stride = times(m, stride, sizes[d]);
    }
    return p;
}

/* The elements of one dimension of `size` that process `me` of `all` has. */
static struct opi_part dimension(struct opi_making *m, struct opi_part p, ptrdiff_t size, int how, ptrdiff_t block, ptrdiff_t all, ptrdiff_t me, ptrdiff_t stride) {
    if (how == MPI_DISTRIBUTE_NONE || how == MPI_DISTRIBUTE_BLOCK) {
        if (how == MPI_DISTRIBUTE_NONE)
            block = size;
        else if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = (size + all - 1) / all;
        ptrdiff_t start = times(m, block, me), length = size - start;
        return slice(m, p, start, length < block ? length : block, stride);
    }
    if (how != MPI_DISTRIBUTE_CYCLIC) {
        m->failed = true;
        return p;
    }
    if (block == MPI_DISTRIBUTE_DFLT_DARG)
        block = 1;
    ptrdiff_t turn = times(m, block, all), start = times(m, block, me);
    if (m->failed || turn <= 0) {
        m->failed = true;
        return p;
    }
    ptrdiff_t whole = size >= start + block ? (size - start - block) / turn + 1 : 0, rest = size - start - whole * turn;
    struct opi_part two[2] = {slice(m, opi_layout_share(p), 0, block, stride), nothing};
    two[0] = opi_layout_repeat(m, two[0], (size_t)whole, times(m, turn, stride));
    two[0].offset += times(m, start, stride);
    two[1] = slice(m, p, start + whole * turn, rest < block ? rest : block, stride);
    return opi_layout_list(m, two, 2);
}

static struct opi_part darray(struct opi_making *m, const struct contents *c, struct opi_part p, ptrdiff_t extent) {
    size_t n = c->nints > 2 ? count_of(m, c->ints[2]) : 0, at = c->nlarge ? 3 : 3 + n;
    if (m->failed || c->nints < at + 3 * n + 1 || (c->nlarge && c->nlarge < n)) {
        m->failed = true;
        opi_layout_free(p.of);
        return nothing;
    }
    const ptrdiff_t *sizes = c->v + (c->nlarge ? 0 : 3);
    const int *hows = c->ints + at, *blocks = hows + n, *processes = blocks + n;
    int order = processes[n];
    ptrdiff_t stride = extent, size = c->ints[0], *mine = malloc((n + 1) * sizeof *mine), rank = c->ints[1];
    m->failed = m->failed || !mine;
    for (size_t d = 0; d < n && !m->failed; d++) { /* the grid of processes has its last dimension fastest, whatever the order of the array */
        m->failed = processes[d] <= 0;
        if (m->failed)
            break;
        size /= processes[d];
        mine[d] = size > 0 ? rank / size : 0;
        rank = size > 0 ? rank % size : 0;
    }
    for (size_t i = 0; i < n && !m->failed; i++) {
        size_t d = order == MPI_ORDER_C ? n - 1 - i : i;
        p = dimension(m, p, sizes[d], hows[d], blocks[d], processes[d], mine[d], stride);
        stride = times(m, stride, sizes[d]);
    }
    free(mine);
    return p;
}

/* A type made of one other. */
static struct opi_part derived(struct opi_making *m, const struct contents *c, struct opi_part of, ptrdiff_t extent) {
    const ptrdiff_t *v = c->v;
    size_t n = c->nv && v[0] > 0 ? (size_t)v[0] : 0;
    bool enough = true;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return of;
    case MPI_COMBINER_CONTIGUOUS:
        if ((enough = c->nv >= 1))
            return opi_layout_repeat(m, of, n, extent);
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        if ((enough = c->nv >= 3))
            return opi_layout_repeat(m, opi_layout_repeat(m, of, count_of(m, v[1]), extent), n, c->combiner == MPI_COMBINER_VECTOR ? times(m, v[2], extent) : v[2]);
        break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        if ((enough = c->nv >= 1 + 2 * n))
            return indexed(m, of, extent, n, v + 1, 0, v + 1 + n, c->combiner == MPI_COMBINER_INDEXED ? extent : 1);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        if ((enough = c->nv >= 2 + n))
            return indexed(m, of, extent, n, NULL, v[1], v + 2, c->combiner == MPI_COMBINER_INDEXED_BLOCK ? extent : 1);
        break;
    case MPI_COMBINER_SUBARRAY:
        return subarray(m, c, of, extent);
    case MPI_COMBINER_DARRAY:
        return darray(m, c, of, extent);
    default:
        enough = false;
    }
    m->failed = m->failed || !enough;
    opi_layout_free(of.of);
    return nothing;
}

static struct opi_part read_type(struct opi_making *m, MPI_Datatype t, int depth) {
    struct contents c = {0};
    struct opi_part p = nothing;
    ptrdiff_t size, extent, low, span;
    if (m->failed || m->left == 0 || depth > DEPTH_MAX) {
        m->failed = true;
        return nothing;
    }
    m->left--;
    if (!contents_of(t, &c)) {
        m->failed = true;
    } else if (basic(c.combiner)) {
        p = predefined(m, t);
    } else if (c.combiner == MPI_COMBINER_STRUCT) {
        p = structure(m, &c, depth + 1);
    } else if (c.ntypes != 1 || !size_of(c.types[0], &size, &extent, &low, &span)) {
        m->failed = true;
    } else {
        p = derived(m, &c, read_type(m, c.types[0], depth + 1), extent);
    }
    contents_free(&c);
    if (m->failed) {
        opi_layout_free(p.of);
        return nothing;
    }
    return p;
}

bool opi_layout_of(MPI_Datatype t, struct opi_part *out) {
    struct opi_making m = {false, TYPES_MAX};
    ptrdiff_t size, extent, low, span;
    *out = read_type(&m, t, 0);
    if (!m.failed && size_of(t, &size, &extent, &low, &span)) {
        const struct opi_layout *l = out->of;
        if (l ? l->size == (size_t)size && out->offset + l->low == low && l->high - l->low == span : size == 0)
            return true;
    }
    opi_layout_free(out->of);
    *out = nothing;
    return false;
}
