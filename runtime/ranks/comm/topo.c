/* topo.c - topologies: grids, graphs, distributed graphs. */
#include "ranks/base/ranks.h"

#include <stdlib.h>

/* Constant once made; shared by the members of a communicator.  In and out are compressed rows: of rank r, entries at[r] to at[r + 1]. */
struct opir_topo {
    atomic_int refs;
    int kind; /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
    int n;    /* dimensions, or ranks of a graph */
    int *dims, *periods;
    int *index, *edges; /* as MPI_Graph_create has them */
    int *at[2], *peer[2], *weight[2]; /* out and in */
    bool weighted;
    /* What one rank brings before a distributed graph is made: triples of source, destination, weight; and whether they are its own only. */
    int *triple, triples;
    bool adjacent;
};

struct opir_topo *opir_topo_keep(struct opir_topo *t) {
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed); /* the caller holds one */
    return t;
}

void opir_topo_drop(struct opir_topo *t) {
    if (atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
        return;
    int *owned[] = {t->dims, t->periods, t->index, t->edges, t->at[0], t->at[1], t->peer[0], t->peer[1], t->weight[0], t->weight[1], t->triple};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    free(t);
}

static struct opir_topo *topo_new(int kind, int n) {
    struct opir_topo *t = opir_alloc(sizeof *t);
    atomic_init(&t->refs, 1);
    t->kind = kind;
    t->n = n;
    return t;
}

static int *copied(const int *from, int n) {
    int *to = opir_alloc((size_t)n * sizeof(int));
    if (n > 0)
        memcpy(to, from, (size_t)n * sizeof(int));
    return to;
}

bool opir_topo_is_cart(const struct opir_topo *t) {
    return t->kind == MPI_CART;
}

/* ---- grids: ranks in row-major order ---------------------------------------------------------------------------------------------------------- */

static void coords_of(const struct opir_topo *t, int rank, int *coords) {
    for (int d = t->n - 1; d >= 0; d--) {
        coords[d] = rank % t->dims[d];
        rank /= t->dims[d];
    }
}

/* The rank `disp` steps along a dimension; MPI_PROC_NULL beyond the edge. */
static int moved(const struct opir_topo *t, int rank, int dimension, int disp) {
    int below = 1;
    for (int d = t->n - 1; d > dimension; d--)
        below *= t->dims[d];
    int size = t->dims[dimension], here = rank / below % size;
    long long there = (long long)here + disp;
    if (there < 0 || there >= size) {
        if (!t->periods[dimension])
            return MPI_PROC_NULL;
        there = ((there % size) + size) % size;
    }
    return rank + (int)(there - here) * below;
}

/* ---- neighbours ----------------------------------------------------------------------------------------------------------------------------------- */

int opir_topo_degree(const struct opir_topo *t, int rank, bool in) {
    if (t->kind == MPI_CART)
        return 2 * t->n;
    if (t->kind == MPI_GRAPH)
        return t->index[rank] - (rank ? t->index[rank - 1] : 0);
    return t->at[in][rank + 1] - t->at[in][rank];
}

void opir_topo_neighbours(const struct opir_topo *t, int rank, bool in, int *ranks) {
    int n = opir_topo_degree(t, rank, in);
    for (int i = 0; i < n; i++) {
        if (t->kind == MPI_CART)
            ranks[i] = moved(t, rank, i / 2, i % 2 ? 1 : -1);
        else if (t->kind == MPI_GRAPH)
            ranks[i] = t->edges[(rank ? t->index[rank - 1] : 0) + i];
        else
            ranks[i] = t->peer[in][t->at[in][rank] + i];
    }
}

/* Sorts what all ranks brought into rows by source (out) and by destination (in).  Of adjacent ones each rank has told both its rows, in its order. */
static struct opir_topo *gathered(const struct opir_args *const *args, int n) {
    struct opir_topo *t = topo_new(MPI_DIST_GRAPH, n);
    for (int in = 0; in < 2; in++) {
        t->at[in] = opir_alloc(((size_t)n + 1) * sizeof(int));
        for (int fill = 0; fill < 2; fill++) {
            for (int r = 0; r < n; r++) {
                const struct opir_topo *brought = args[r]->what;
                t->weighted |= brought->weighted;
                for (int i = 0; i < brought->triples; i++) {
                    const int *e = &brought->triple[3 * i];
                    if (brought->adjacent && e[in] != r)
                        continue;
                    if (brought->adjacent && e[0] == e[1] && (i < brought->n) != (bool)in)
                        continue; /* an edge to itself is told twice */
                    if (fill) {
                        int place = t->at[in][e[in]]++;
                        t->peer[in][place] = e[!in];
                        t->weight[in][place] = e[2];
                    } else {
                        t->at[in][e[in] + 1]++;
                    }
                }
            }
            if (fill) { /* the beginnings have moved on to the ends */
                memmove(t->at[in] + 1, t->at[in], (size_t)n * sizeof(int));
                t->at[in][0] = 0;
            } else {
                for (int r = 0; r < n; r++)
                    t->at[in][r + 1] += t->at[in][r];
                t->peer[in] = opir_alloc((size_t)t->at[in][n] * sizeof(int));
                t->weight[in] = opir_alloc((size_t)t->at[in][n] * sizeof(int));
            }
        }
    }
    return t;
}

struct opir_topo *opir_topo_made(const struct opir_args *const *args, int n) {
    struct opir_topo *first = args[0]->what;
    for (int i = 1; !first; i++) /* of a grid and a graph, members elsewhere send nothing: all have the same */
        first = args[i]->what;
    return first->kind == MPI_DIST_GRAPH ? gathered(args, n) : opir_topo_keep(first);
}

bool opir_topo_is_dist(const struct opir_topo *t) {
    return t->kind == MPI_DIST_GRAPH;
}

/* What a rank brings, for another process; and from there. */
const int *opir_topo_triples(const struct opir_topo *t, int *n, int *first, bool *adjacent, bool *weighted) {
    *n = t->triples;
    *first = t->n;
    *adjacent = t->adjacent;
    *weighted = t->weighted;
    return t->triple;
}

struct opir_topo *opir_topo_brought(const int *triples, int n, int first, bool adjacent, bool weighted) {
    struct opir_topo *t = topo_new(MPI_DIST_GRAPH, first);
    t->triple = copied(triples, 3 * n);
    t->triples = n;
    t->adjacent = adjacent;
    t->weighted = weighted;
    return t;
}

/* ---- the calls: making -------------------------------------------------------------------------------------------------------------------------- */

#define COMM(name)                                                              \
    static const char call[] = name;                                            \
    struct opir_rank *me = opir_me(call);                                       \
    struct opir_comm *c = opir_comm_of(me, comm);                               \
    if (!c)                                                                     \
    return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator")

#define INTRA()             \
    if (c->shared->inter)   \
    return opir_raise(c, MPI_ERR_COMM, call, "an intercommunicator")

static int made(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_topo *t, int n, MPI_Comm *out) {
    int rc = opir_make_topo(call, me, c, t, n, out);
    opir_topo_drop(t);
    return rc;
}

EXPORT int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *out) {
    COMM("MPI_Cart_create");
    INTRA();
    OPIR_OUT(out);
    (void)reorder;
    *out = MPI_COMM_NULL;
    long long n = 1;
    for (int d = 0; d < ndims; d++) {
        if (dims[d] <= 0)
            return opir_raise(c, MPI_ERR_DIMS, call, "dimension %d is %d", d, dims[d]);
        n *= dims[d];
        if (n > c->local->size)
            return opir_raise(c, MPI_ERR_DIMS, call, "more places than the %d ranks", c->local->size);
    }
    if (ndims < 0)
        return opir_raise(c, MPI_ERR_DIMS, call, "%d dimensions", ndims);
    struct opir_topo *t = topo_new(MPI_CART, ndims);
    t->dims = copied(dims, ndims);
    t->periods = copied(periods, ndims);
    return made(call, me, c, t, (int)n, out);
}

EXPORT int MPI_Graph_create(MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *out) {
    COMM("MPI_Graph_create");
    INTRA();
    OPIR_OUT(out);
    (void)reorder;
    if (n < 0 || n > c->local->size)
        return opir_raise(c, MPI_ERR_ARG, call, "%d nodes for %d ranks", n, c->local->size);
    int last = n ? index[n - 1] : 0;
    for (int i = 0; i < last; i++)
        if (edges[i] < 0 || edges[i] >= n)
            return opir_raise(c, MPI_ERR_ARG, call, "edge to node %d of %d", edges[i], n);
    struct opir_topo *t = topo_new(MPI_GRAPH, n);
    t->index = copied(index, n);
    t->edges = copied(edges, last);
    return made(call, me, c, t, n, out);
}

static void triple(struct opir_topo *t, int at, int source, int destination, int weight) {
    t->triple[3 * at] = source;
    t->triple[3 * at + 1] = destination;
    t->triple[3 * at + 2] = weight;
}

static bool outside(const struct opir_comm *c, int n, const int *ranks) {
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= c->local->size)
            return true;
    return false;
}

EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int sweights[], int outdegree, const int destinations[],
                                          const int dweights[], MPI_Info info, int reorder, MPI_Comm *out) {
    COMM("MPI_Dist_graph_create_adjacent");
    INTRA();
    OPIR_OUT(out);
    (void)info, (void)reorder;
    if (indegree < 0 || outdegree < 0 || outside(c, indegree, sources) || outside(c, outdegree, destinations))
        return opir_raise(c, MPI_ERR_ARG, call, "a neighbour that is no rank of the communicator");
    struct opir_topo *t = topo_new(MPI_DIST_GRAPH, indegree);
    t->adjacent = true;
    t->triples = indegree + outdegree;
    t->triple = opir_alloc(3 * (size_t)t->triples * sizeof(int));
    t->weighted = sweights != MPI_UNWEIGHTED && dweights != MPI_UNWEIGHTED;
    for (int i = 0; i < indegree; i++)
        triple(t, i, sources[i], c->rank, t->weighted ? sweights[i] : 1);
    for (int i = 0; i < outdegree; i++)
        triple(t, indegree + i, c->rank, destinations[i], t->weighted ? dweights[i] : 1);
    return made(call, me, c, t, c->local->size, out);
}

EXPORT int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[], const int weights[], MPI_Info info,
                                 int reorder, MPI_Comm *out) {
    COMM("MPI_Dist_graph_create");
    INTRA();
    OPIR_OUT(out);
    (void)info, (void)reorder;
    int total = 0, at = 0;
    for (int i = 0; i < n; i++)
        total += degrees[i];
    if (n < 0 || outside(c, n, sources) || outside(c, total, destinations))
        return opir_raise(c, MPI_ERR_ARG, call, "a neighbour that is no rank of the communicator");
    struct opir_topo *t = topo_new(MPI_DIST_GRAPH, 0);
    t->triples = total;
    t->triple = opir_alloc(3 * (size_t)total * sizeof(int));
    t->weighted = weights != MPI_UNWEIGHTED;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < degrees[i]; k++, at++)
            triple(t, at, sources[i], destinations[at], t->weighted ? weights[at] : 1);
    return made(call, me, c, t, c->local->size, out);
}

EXPORT int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *out) {
    COMM("MPI_Cart_sub");
    OPIR_OUT(out);
    const struct opir_topo *t = c->shared->topo;
    if (!t || t->kind != MPI_CART)
        return opir_raise(c, MPI_ERR_TOPOLOGY, call, "no grid");
    int *coords = opir_alloc((size_t)t->n * sizeof(int)), color = 0, key = 0, kept = 0;
    struct opir_topo *sub = topo_new(MPI_CART, 0);
    sub->dims = opir_alloc((size_t)t->n * sizeof(int));
    sub->periods = opir_alloc((size_t)t->n * sizeof(int));
    coords_of(t, c->rank, coords);
    for (int d = 0; d < t->n; d++) {
        int *number = remain[d] ? &key : &color;
        *number = *number * t->dims[d] + coords[d];
        if (remain[d]) {
            sub->dims[kept] = t->dims[d];
            sub->periods[kept++] = t->periods[d];
        }
    }
    sub->n = kept;
    free(coords);
#ifdef MPICH_NUMVERSION
    if (!kept && c->rank) /* a grid without dimensions has one rank: MPICH makes one, Open MPI one for each rank */
        color = MPI_UNDEFINED;
#endif
    int rc = opir_make_sub(call, me, c, sub, color, key, out);
    opir_topo_drop(sub);
    return rc;
}

/* ---- the calls: looking ------------------------------------------------------------------------------------------------------------------------- */

#define LOOK(name, wanted)                                                      \
    COMM(name);                                                                 \
    (void)me;                                                                   \
    const struct opir_topo *t = c->shared->topo;                                \
    if (!t || t->kind != (wanted))                                              \
    return opir_raise(c, MPI_ERR_TOPOLOGY, call, "a communicator of another topology")

EXPORT int MPI_Topo_test(MPI_Comm comm, int *status) {
    COMM("MPI_Topo_test");
    OPIR_OUT(status);
    *status = c->shared->topo ? c->shared->topo->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

EXPORT int MPI_Cartdim_get(MPI_Comm comm, int *ndims) {
    LOOK("MPI_Cartdim_get", MPI_CART);
    OPIR_OUT(ndims);
    *ndims = t->n;
    return MPI_SUCCESS;
}

EXPORT int MPI_Cart_get(MPI_Comm comm, int most, int dims[], int periods[], int coords[]) {
    LOOK("MPI_Cart_get", MPI_CART);
    int *own = opir_alloc((size_t)t->n * sizeof(int));
    coords_of(t, c->rank, own);
    for (int d = 0; d < t->n && d < most; d++) {
        dims[d] = t->dims[d];
        periods[d] = t->periods[d] != 0;
        coords[d] = own[d];
    }
    free(own);
    return MPI_SUCCESS;
}

EXPORT int MPI_Cart_coords(MPI_Comm comm, int rank, int most, int coords[]) {
    LOOK("MPI_Cart_coords", MPI_CART);
    if (rank < 0 || rank >= c->local->size)
        return opir_raise(c, MPI_ERR_RANK, call, "rank %d in a communicator of %d", rank, c->local->size);
    if (most < t->n)
        return opir_raise(c, MPI_ERR_ARG, call, "room for %d of %d coordinates", most, t->n);
    coords_of(t, rank, coords);
    return MPI_SUCCESS;
}

EXPORT int MPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank) {
    LOOK("MPI_Cart_rank", MPI_CART);
    OPIR_OUT(rank);
    *rank = 0;
    for (int d = 0; d < t->n; d++) {
        int size = t->dims[d], x = coords[d];
        if ((x < 0 || x >= size) && !t->periods[d])
            return opir_raise(c, MPI_ERR_ARG, call, "coordinate %d is %d, of %d", d, x, size);
        *rank = *rank * size + ((x % size) + size) % size;
    }
    return MPI_SUCCESS;
}

EXPORT int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *source, int *dest) {
    LOOK("MPI_Cart_shift", MPI_CART);
    OPIR_OUT(source);
    OPIR_OUT(dest);
    if (direction < 0 || direction >= t->n)
        return opir_raise(c, MPI_ERR_DIMS, call, "direction %d of %d", direction, t->n);
    *source = moved(t, c->rank, direction, -disp);
    *dest = moved(t, c->rank, direction, disp);
    return MPI_SUCCESS;
}

EXPORT int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *rank) {
    COMM("MPI_Cart_map");
    OPIR_OUT(rank);
    (void)periods;
    long long n = 1;
    for (int d = 0; d < ndims; d++)
        n *= dims[d];
    if (n > c->local->size)
        return opir_raise(c, MPI_ERR_DIMS, call, "more places than ranks");
    *rank = c->rank < n ? c->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

EXPORT int MPI_Graph_map(MPI_Comm comm, int n, const int index[], const int edges[], int *rank) {
    COMM("MPI_Graph_map");
    OPIR_OUT(rank);
    (void)index, (void)edges;
    *rank = c->rank < n ? c->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

EXPORT int MPI_Graphdims_get(MPI_Comm comm, int *nodes, int *edges) {
    LOOK("MPI_Graphdims_get", MPI_GRAPH);
    OPIR_OUT(nodes);
    OPIR_OUT(edges);
    *nodes = t->n;
    *edges = t->n ? t->index[t->n - 1] : 0;
    return MPI_SUCCESS;
}

EXPORT int MPI_Graph_get(MPI_Comm comm, int most_nodes, int most_edges, int index[], int edges[]) {
    LOOK("MPI_Graph_get", MPI_GRAPH);
    for (int i = 0; i < t->n && i < most_nodes; i++)
        index[i] = t->index[i];
    for (int i = 0; t->n && i < t->index[t->n - 1] && i < most_edges; i++)
        edges[i] = t->edges[i];
    return MPI_SUCCESS;
}

EXPORT int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *n) {
    LOOK("MPI_Graph_neighbors_count", MPI_GRAPH);
    OPIR_OUT(n);
    if (rank < 0 || rank >= t->n)
        return opir_raise(c, MPI_ERR_RANK, call, "rank %d of a graph of %d", rank, t->n);
    *n = opir_topo_degree(t, rank, false);
    return MPI_SUCCESS;
}

EXPORT int MPI_Graph_neighbors(MPI_Comm comm, int rank, int most, int neighbours[]) {
    LOOK("MPI_Graph_neighbors", MPI_GRAPH);
    if (rank < 0 || rank >= t->n)
        return opir_raise(c, MPI_ERR_RANK, call, "rank %d of a graph of %d", rank, t->n);
    int from = rank ? t->index[rank - 1] : 0;
    for (int i = 0; i < opir_topo_degree(t, rank, false) && i < most; i++)
        neighbours[i] = t->edges[from + i];
    return MPI_SUCCESS;
}

EXPORT int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted) {
    LOOK("MPI_Dist_graph_neighbors_count", MPI_DIST_GRAPH);
    OPIR_OUT(indegree);
    OPIR_OUT(outdegree);
    OPIR_OUT(weighted);
    *indegree = opir_topo_degree(t, c->rank, true);
    *outdegree = opir_topo_degree(t, c->rank, false);
    *weighted = t->weighted;
    return MPI_SUCCESS;
}

EXPORT int MPI_Dist_graph_neighbors(MPI_Comm comm, int most_in, int sources[], int sweights[], int most_out, int destinations[], int dweights[]) {
    LOOK("MPI_Dist_graph_neighbors", MPI_DIST_GRAPH);
    for (int in = 0; in < 2; in++) {
        int from = t->at[in][c->rank], n = t->at[in][c->rank + 1] - from, most = in ? most_in : most_out;
        int *ranks = in ? sources : destinations, *weights = in ? sweights : dweights;
        for (int i = 0; i < n && i < most; i++) {
            ranks[i] = t->peer[in][from + i];
            if (t->weighted && weights != MPI_UNWEIGHTED)
                weights[i] = t->weight[in][from + i];
        }
    }
    return MPI_SUCCESS;
}
