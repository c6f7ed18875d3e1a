/* Communicators, groups, attributes, error handlers, topologies, intercommunicators, generalised requests, conversions. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

static const MPI_Comm world = MPI_COMM_WORLD;

static int compare(MPI_Comm a, MPI_Comm b) {
    int result;
    MPI_Comm_compare(a, b, &result);
    return result;
}

/* A message each way round on a communicator, so that its ranks are the right ones. */
static void ring(int rank, MPI_Comm c) {
    int me, n, in, first = rank;
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 0, &in, 1, MPI_INT, (me + n - 1) % n, 0, c, MPI_STATUS_IGNORE);
    CHECK(in, (me + n - 1) % n);
    MPI_Bcast(&first, 1, MPI_INT, 0, c);
    MPI_Group g, w;
    MPI_Comm_group(c, &g);
    MPI_Comm_group(world, &w);
    int zero = 0, translated;
    MPI_Group_translate_ranks(g, 1, &zero, w, &translated);
    CHECK(translated, first);
    MPI_Group_free(&g);
    MPI_Group_free(&w);
}

static _Atomic int copies, deletes;
static int copy(MPI_Comm c, int key, void *extra, void *value, void *out, int *flag) {
    (void)c, (void)key;
    if (extra != &copies)
        return MPI_ERR_OTHER;
    copies++;
    *(long *)out = (long)value + 1;
    *flag = (long)value != 13;
    return MPI_SUCCESS;
}
static int drop(MPI_Comm c, int key, void *value, void *extra) {
    (void)c, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void attributes(int rank) {
    int key, other, flag, *ub;
    void *value;
    MPI_Comm c;
    /* The counters are shared by the ranks of a process: only that they grew is looked at. */
    MPI_Comm_create_keyval(copy, drop, &key, &copies);
    MPI_Comm_create_keyval(copy, drop, &other, &copies);
    MPI_Comm_get_attr(world, key, &value, &flag);
    CHECK(flag, 0);
    MPI_Comm_set_attr(world, key, (void *)(long)(100 + rank));
    MPI_Comm_set_attr(world, other, (void *)13L);
    int before = deletes;
    MPI_Comm_dup(world, &c);
    MPI_Comm_get_attr(c, key, &value, &flag);
    CHECK(flag && (long)value == 101 + rank, 1);
    MPI_Comm_get_attr(c, other, &value, &flag);
    CHECK(flag, 0);
    MPI_Comm_free(&c);
    CHECK(deletes > before && copies > 0, 1);
    MPI_Comm_delete_attr(world, key);
    MPI_Comm_get_attr(world, key, &value, &flag);
    CHECK(flag, 0);
    MPI_Comm_delete_attr(world, other);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&other);
    CHECK(key, MPI_KEYVAL_INVALID);
    MPI_Comm_get_attr(world, MPI_TAG_UB, &ub, &flag);
    CHECK(flag && *ub >= 32767, 1);
}

static int handled;
static void handler(MPI_Comm *c, int *code, ...) {
    (void)c;
    __atomic_store_n(&handled, *code, __ATOMIC_RELAXED); /* shared by the ranks of a process */
}

static void errors(int rank, int size) {
    MPI_Errhandler h, got;
    MPI_Comm c, d;
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_dup(world, &c);
    MPI_Comm_set_errhandler(c, h);
    MPI_Comm_get_errhandler(c, &got);
    CHECK(got == h, 1);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&h);
    CHECK(h == MPI_ERRHANDLER_NULL, 1);
    MPI_Comm_split(c, 0, rank, &d); /* takes it over */
    CHECK(MPI_Send(&rank, 1, MPI_INT, size, 0, d), MPI_ERR_RANK);
    CHECK(__atomic_load_n(&handled, __ATOMIC_RELAXED), MPI_ERR_RANK);
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int x, class;
    CHECK(MPI_Comm_rank(MPI_COMM_NULL, &x), MPI_ERR_COMM);
    MPI_Datatype bad = MPI_DATATYPE_NULL;
    int rc = MPI_Type_commit(&bad); /* refused by the MPI below, raised here */
    MPI_Error_class(rc, &class);
    CHECK(class, MPI_ERR_TYPE);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

static void making(int rank, int size) {
    MPI_Comm c, d;
    int me, n, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Request q;
    MPI_Comm_get_name(world, name, &length);
    CHECK(strcmp(name, "MPI_COMM_WORLD"), 0);
    MPI_Comm_dup(world, &c);
    CHECK(compare(world, c), MPI_CONGRUENT);
    CHECK(compare(c, c), MPI_IDENT);
    MPI_Comm_set_name(c, "a name");
    MPI_Comm_get_name(c, name, &length);
    CHECK(strcmp(name, "a name"), 0);
    ring(rank, c);
    MPI_Comm_idup(c, &d, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    ring(rank, d);
    MPI_Comm_free(&d);
    /* A message on one communicator is none on another. */
    int x = 1, flag;
    MPI_Isend(&x, 1, MPI_INT, rank, 4, c, &q);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, MPI_STATUS_IGNORE);
    CHECK(flag, 0);
    MPI_Recv(&x, 1, MPI_INT, rank, 4, c, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_free(&c);
    CHECK(c == MPI_COMM_NULL, 1);
    MPI_Comm_split(world, rank % 2, -rank, &c); /* backwards */
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    CHECK(n, (size + 1 - rank % 2) / 2);
    CHECK(me, n - 1 - rank / 2);
    ring(rank, c);
    MPI_Comm_free(&c);
    MPI_Comm_split(world, rank ? 5 : MPI_UNDEFINED, 0, &c);
    CHECK(c == MPI_COMM_NULL, rank == 0);
    if (rank) {
        ring(rank, c);
        MPI_Comm_free(&c);
    }
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    CHECK(compare(world, c), MPI_CONGRUENT);
    MPI_Comm_free(&c);
    /* Groups: the even ranks, backwards. */
    MPI_Group w, g, h;
    MPI_Comm_group(world, &w);
    int range[1][3] = {{(size - 1) / 2 * 2, 0, -2}};
    MPI_Group_range_incl(w, 1, range, &g);
    MPI_Group_size(g, &n);
    CHECK(n, (size + 1) / 2);
    MPI_Group_rank(g, &me);
    CHECK(me, rank % 2 ? MPI_UNDEFINED : n - 1 - rank / 2);
    MPI_Comm_create(world, g, &c);
    CHECK(c == MPI_COMM_NULL, rank % 2);
    if (rank % 2 == 0) {
        ring(rank, c);
        MPI_Comm_create_group(world, g, 3, &d);
        CHECK(compare(c, d), MPI_CONGRUENT);
        ring(rank, d);
        MPI_Comm_free(&c);
        MPI_Comm_free(&d);
    }
    MPI_Group_difference(w, g, &h);
    MPI_Group_size(h, &n);
    CHECK(n, size / 2);
    MPI_Comm_create(world, rank % 2 ? h : g, &c); /* both at once: they do not overlap */
    ring(rank, c);
    MPI_Comm_free(&c);
    MPI_Group u;
    int result;
    MPI_Group_union(g, h, &u);
    MPI_Group_compare(u, w, &result);
    CHECK(result, size > 2 ? MPI_SIMILAR : MPI_IDENT);
    MPI_Group_free(&u);
    MPI_Group_intersection(g, h, &u);
    CHECK(u == MPI_GROUP_EMPTY, 1);
    MPI_Group_free(&u);
    int zero = 0;
    MPI_Group_excl(w, 1, &zero, &u);
    MPI_Group_size(u, &n);
    CHECK(n, size - 1);
    MPI_Group_free(&u);
    MPI_Group_free(&g);
    if (h != MPI_GROUP_EMPTY)
        MPI_Group_free(&h);
    MPI_Group_free(&w);
    MPI_Comm_size(MPI_COMM_SELF, &n);
    CHECK(n, 1);
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    ring(rank, c);
    MPI_Comm_free(&c);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(world)) == world, 1);
    MPI_Comm_dup(world, &c);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(c)) == c, 1);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL, 1);
    MPI_Comm_free(&c);
}

static void topologies(int rank, int size) {
    int dims[2] = {0, 0}, periods[2] = {0, 1}, coords[2], n, me, status, a, b;
    MPI_Comm grid, sub;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(world, 2, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &status);
    CHECK(status, MPI_CART);
    MPI_Cart_coords(grid, rank, 2, coords);
    CHECK(coords[0], rank / dims[1]);
    CHECK(coords[1], rank % dims[1]);
    MPI_Cart_rank(grid, coords, &me);
    CHECK(me, rank);
    MPI_Cart_shift(grid, 0, 1, &a, &b);
    CHECK(a, coords[0] ? rank - dims[1] : MPI_PROC_NULL);
    CHECK(b, coords[0] < dims[0] - 1 ? rank + dims[1] : MPI_PROC_NULL);
    MPI_Cart_shift(grid, 1, -1, &a, &b);
    CHECK(b, coords[0] * dims[1] + (coords[1] + dims[1] - 1) % dims[1]);
    int remain[2] = {0, 1}, d[2], p[2], x[2];
    MPI_Cart_sub(grid, remain, &sub);
    MPI_Comm_size(sub, &n);
    MPI_Comm_rank(sub, &me);
    CHECK(n, dims[1]);
    CHECK(me, coords[1]);
    MPI_Cart_get(sub, 1, d, p, x);
    CHECK(d[0], dims[1]);
    CHECK(p[0], 1);
    CHECK(x[0], coords[1]);
    ring(rank, sub);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&grid);
    int one = 1, no = 0;
    MPI_Cart_create(world, 1, &one, &no, 0, &grid); /* fewer places than ranks */
    CHECK(grid == MPI_COMM_NULL, rank != 0);
    if (rank == 0)
        MPI_Comm_free(&grid);
    /* A chain. */
    int *index = malloc(sizeof(int) * (size_t)size), *edges = malloc(sizeof(int) * 2 * (size_t)size), used = 0;
    for (int r = 0; r < size; r++) {
        if (r)
            edges[used++] = r - 1;
        if (r < size - 1)
            edges[used++] = r + 1;
        index[r] = used;
    }
    MPI_Graph_create(world, size, index, edges, 0, &grid);
    MPI_Graph_neighbors_count(grid, rank, &n);
    CHECK(n, (rank > 0) + (rank < size - 1));
    MPI_Graph_neighbors(grid, rank, 2, x);
    if (n)
        CHECK(x[0], rank ? rank - 1 : 1);
    int out = rank, in[2] = {-1, -1};
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, grid);
    for (int i = 0; i < n; i++)
        CHECK(in[i], x[i]);
    MPI_Comm_dup(grid, &sub);
    MPI_Graphdims_get(sub, &a, &b);
    CHECK(a, size);
    CHECK(b, used);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&grid);
    int left = (rank + size - 1) % size, right = (rank + 1) % size, weight = rank, w, v;
    MPI_Dist_graph_create_adjacent(world, 1, &left, &weight, 1, &right, &weight, MPI_INFO_NULL, 0, &grid);
    MPI_Dist_graph_neighbors(grid, 1, &a, &w, 1, &b, &v);
    CHECK(a == left && b == right && w == rank && v == rank, 1);
    in[0] = -1;
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, grid);
    CHECK(in[0], left);
    MPI_Comm_free(&grid);
    free(index), free(edges);
}

/* Two sides: the first third and the rest. */
static void between(int rank, int size) {
    int third = size / 3 ? size / 3 : 1, side = rank >= third, n, x, in, flag;
    MPI_Comm part, inter, merged, c;
    MPI_Comm_split(world, side, rank, &part);
    MPI_Intercomm_create(part, 0, world, side ? 0 : third, 17, &inter);
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag, 1);
    MPI_Comm_remote_size(inter, &n);
    CHECK(n, side ? third : size - third);
    int me;
    MPI_Comm_rank(inter, &me);
    CHECK(me, rank - side * third);
    if (me == 0) {
        x = rank;
        MPI_Sendrecv(&x, 1, MPI_INT, 0, 2, &in, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
        CHECK(in, side ? 0 : third);
    }
    x = rank;
    MPI_Allreduce(&x, &in, 1, MPI_INT, MPI_SUM, inter);
    int first = third * (third - 1) / 2, all = size * (size - 1) / 2;
    CHECK(in, side ? first : all - first);
    x = side ? -1 : 4711;
    MPI_Bcast(&x, 1, MPI_INT, side ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    CHECK(x, 4711);
    int *gathered = malloc(sizeof(int) * (size_t)size);
    x = rank;
    MPI_Allgather(&x, 1, MPI_INT, gathered, 1, MPI_INT, inter);
    for (int i = 0; i < n; i++)
        CHECK(gathered[i], side ? i : third + i);
    MPI_Gather(&x, 1, MPI_INT, gathered, 1, MPI_INT, side ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
    for (int i = 0; side && me == 0 && i < n; i++)
        CHECK(gathered[i], i);
    MPI_Reduce(&x, &in, 1, MPI_INT, MPI_SUM, side ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    if (!side && me == 0)
        CHECK(in, all - first);
    MPI_Barrier(inter);
    free(gathered);
    MPI_Comm_dup(inter, &c);
    CHECK(compare(inter, c), MPI_CONGRUENT);
    MPI_Comm_free(&c);
    MPI_Intercomm_merge(inter, !side, &merged); /* the rest first */
    MPI_Comm_rank(merged, &me);
    CHECK(me, side ? rank - third : rank + size - third);
    ring(rank, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
}

static int queries, frees;
static int query(void *state, MPI_Status *s) {
    MPI_Status_set_elements(s, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = MPI_UNDEFINED;
    s->MPI_TAG = MPI_UNDEFINED;
    __atomic_fetch_add(&queries, 1, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
}
static int end(void *state) {
    (void)state;
    __atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
}
static int stop(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void generalised(int rank) {
    MPI_Request q;
    MPI_Status s;
    int state = 7, flag, n;
    MPI_Grequest_start(query, end, stop, &state, &q);
    MPI_Test(&q, &flag, &s);
    CHECK(flag, 0);
    MPI_Grequest_complete(q);
    MPI_Wait(&q, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n, 7);
    CHECK(q == MPI_REQUEST_NULL, 1);
    CHECK(__atomic_load_n(&frees, __ATOMIC_RELAXED) > 0, 1);
}

int main(int argc, char **argv) {
    int rank, size, flag;
    MPI_Initialized(&flag);
    if (flag)
        return 5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    making(rank, size);
    MPI_Barrier(world);
    attributes(rank);
    errors(rank, size);
    topologies(rank, size);
    generalised(rank);
    if (size > 1)
        between(rank, size);
    MPI_Finalized(&flag);
    CHECK(flag, 0);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    MPI_Finalized(&flag);
    return flag ? 0 : 6;
}
