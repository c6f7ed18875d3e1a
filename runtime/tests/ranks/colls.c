/* Every collective, blocking, nonblocking and persistent, on every kind of argument, against values computed directly. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

#define N 3 /* elements for each rank */
static const MPI_Comm world = MPI_COMM_WORLD;

/* colls_large.c has LARGE: the forms whose counts are MPI_Count, where the MPI has them. */
#ifdef LARGE
typedef MPI_Count count_t;
typedef MPI_Aint at_t;
#define CALL(name) MPI_##name##_c
#else
typedef int count_t;
typedef int at_t;
#define CALL(name) MPI_##name
#endif

/* A collective by one of its forms: 0 blocking, 1 nonblocking, 2 persistent. */
#if MPI_VERSION >= 4
#define FORMS 3
#define PERSISTENT(comm, name, ...) (CALL(name##_init)(__VA_ARGS__, comm, MPI_INFO_NULL, &q), MPI_Start(&q), MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_Request_free(&q))
#else
#define FORMS 2
#define PERSISTENT(comm, name, ...) CALL(name)(__VA_ARGS__, comm)
#endif
#define DO(comm, name, iname, ...) \
    (how == 0 ? CALL(name)(__VA_ARGS__, comm) \
              : how == 1 ? (CALL(iname)(__VA_ARGS__, comm, &q), MPI_Wait(&q, MPI_STATUS_IGNORE)) : PERSISTENT(comm, name, __VA_ARGS__))

static int value(int from, int to, int i) {
    return from * 1000 + to * 10 + i;
}

/* Not commutative: (a, b) o (c, d) = (a c, a d + b) modulo a prime, the composition of x -> a x + b. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    const long *x = in;
    long *y = inout;
    for (int i = 0; i < *n; i++) {
        long a = x[2 * i] * y[2 * i] % 10007, b = (x[2 * i] * y[2 * i + 1] + x[2 * i + 1]) % 10007;
        y[2 * i] = a;
        y[2 * i + 1] = b;
    }
}

static void rooted(int rank, int size, int how) {
    MPI_Request q;
    for (int root = 0; root < size; root += size > 5 ? 5 : 1) {
        int buf[N], *all = malloc(sizeof(int) * N * (size_t)size);
        for (int i = 0; i < N; i++)
            buf[i] = rank == root ? value(root, 0, i) : -1;
        DO(world, Bcast, Ibcast, buf, N, MPI_INT, root);
        for (int i = 0; i < N; i++)
            CHECK(buf[i], value(root, 0, i));
        for (int place = 0; place < 2; place++) {
            for (int i = 0; i < N; i++)
                buf[i] = value(rank, root, i);
            memset(all, 0xff, sizeof(int) * N * (size_t)size);
            if (place && rank == root)
                memcpy(all + rank * N, buf, sizeof buf);
            const void *from = place && rank == root ? MPI_IN_PLACE : buf;
            DO(world, Gather, Igather, from, N, MPI_INT, all, N, MPI_INT, root);
            for (int k = 0; rank == root && k < size * N; k++)
                CHECK(all[k], value(k / N, root, k % N));
            for (int k = 0; rank == root && k < size * N; k++)
                all[k] = value(root, k / N, k % N);
            memset(buf, 0xff, sizeof buf);
            void *to = place && rank == root ? MPI_IN_PLACE : buf;
            DO(world, Scatter, Iscatter, all, N, MPI_INT, to, N, MPI_INT, root);
            for (int i = 0; to == buf && i < N; i++)
                CHECK(buf[i], value(root, rank, i));
            int sum[N] = {0};
            for (int i = 0; i < N; i++)
                buf[i] = sum[i] = value(rank, 0, i);
            from = place && rank == root ? MPI_IN_PLACE : buf;
            DO(world, Reduce, Ireduce, from, sum, N, MPI_INT, MPI_SUM, root);
            for (int i = 0; rank == root && i < N; i++)
                CHECK(sum[i], 1000 * (size * (size - 1) / 2) + size * i);
        }
        free(all);
    }
}

/* Counts that differ: rank r has r % 3 + 1, with a gap of one before each. */
static void vectors(int rank, int size, int how) {
    MPI_Request q;
    count_t *counts = malloc(sizeof *counts * (size_t)size);
    at_t *at = malloc(sizeof *at * (size_t)size);
    int total = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = r % 3 + 1;
        at[r] = ++total;
        total += (int)counts[r];
    }
    int *all = malloc(sizeof(int) * (size_t)(total + 1)), mine[3], root = size / 2;
    for (int i = 0; i < 3; i++)
        mine[i] = value(rank, 0, i);
    for (int form = 0; form < 3; form++) { /* Gatherv, Allgatherv, Allgatherv in place */
        memset(all, 0xff, sizeof(int) * (size_t)total);
        if (form == 2)
            memcpy(all + at[rank], mine, sizeof(int) * (size_t)counts[rank]);
        const void *from = form == 2 ? MPI_IN_PLACE : mine;
        if (form == 0)
            DO(world, Gatherv, Igatherv, from, counts[rank], MPI_INT, all, counts, at, MPI_INT, root);
        else
            DO(world, Allgatherv, Iallgatherv, from, counts[rank], MPI_INT, all, counts, at, MPI_INT);
        for (int r = 0; (form || rank == root) && r < size; r++) {
            CHECK(all[at[r] - 1], -1);
            for (int i = 0; i < counts[r]; i++)
                CHECK(all[at[r] + i], value(r, 0, i));
        }
    }
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            all[at[r] + i] = value(root, r, i);
    memset(mine, 0xff, sizeof mine);
    DO(world, Scatterv, Iscatterv, all, counts, at, MPI_INT, mine, counts[rank], MPI_INT, root);
    for (int i = 0; i < counts[rank]; i++)
        CHECK(mine[i], value(root, rank, i));
    /* Reduce_scatter: everybody brings value(me, k) for the k-th element of all. */
    int n = 0;
    for (int r = 0; r < size; r++)
        n += (int)counts[r];
    int *in = malloc(sizeof(int) * (size_t)n), before = 0;
    for (int place = 0; place < 2; place++) {
        for (int k = 0; k < n; k++)
            in[k] = value(rank, k, 0);
        int got[3] = {-1, -1, -1};
        const void *from = place ? MPI_IN_PLACE : in;
        void *to = place ? (void *)in : got;
        DO(world, Reduce_scatter, Ireduce_scatter, from, to, counts, MPI_INT, MPI_SUM);
        before = 0;
        for (int r = 0; r < rank; r++)
            before += (int)counts[r];
        for (int i = 0; i < counts[rank]; i++)
            CHECK(((int *)to)[i], 1000 * (size * (size - 1) / 2) + size * 10 * (before + i));
    }
    free(in);
    free(all);
    free(counts);
    free(at);
}

static void all_to_all(int rank, int size, int how) {
    MPI_Request q;
    size_t n = (size_t)size;
    int *out = malloc(sizeof(int) * N * n), *in = malloc(sizeof(int) * N * n);
    count_t *counts = malloc(sizeof *counts * n);
    at_t *at = malloc(sizeof *at * n), *bytes = malloc(sizeof *bytes * n);
    MPI_Datatype *types = malloc(sizeof(MPI_Datatype) * n);
    for (int r = 0; r < size; r++) {
        counts[r] = (rank + r) % (N + 1); /* the same for both of a pair */
        at[r] = r * N;
        bytes[r] = (at_t)(r * N * (int)sizeof(int));
        types[r] = MPI_INT;
    }
    for (int form = 0; form < 7; form++) {
        for (int k = 0; k < size * N; k++) {
            out[k] = value(rank, k / N, k % N);
            in[k] = -1;
        }
        int place = form >= 4;
        if (form == 6) { /* allgather in place */
            for (int i = 0; i < N; i++)
                in[rank * N + i] = value(rank, 0, i);
        } else if (place) {
            memcpy(in, out, sizeof(int) * N * n);
        }
        const void *from = place ? MPI_IN_PLACE : out;
        switch (form) {
        case 0:
        case 4:
            DO(world, Alltoall, Ialltoall, from, N, MPI_INT, in, N, MPI_INT);
            break;
        case 1:
        case 5:
            DO(world, Alltoallv, Ialltoallv, from, counts, at, MPI_INT, in, counts, at, MPI_INT);
            break;
        case 2:
            DO(world, Alltoallw, Ialltoallw, from, counts, bytes, types, in, counts, bytes, types);
            break;
        default:
            if (form == 3)
                for (int i = 0; i < N; i++)
                    out[i] = value(rank, 0, i);
            DO(world, Allgather, Iallgather, from, N, MPI_INT, in, N, MPI_INT);
        }
        for (int k = 0; k < size * N; k++) {
            int r = k / N, i = k % N;
            if (form == 3 || form == 6)
                CHECK(in[k], value(r, 0, i));
            else if ((form == 1 || form == 2 || form == 5) && i >= counts[r])
                CHECK(in[k], form == 5 ? value(rank, r, i) : -1);
            else
                CHECK(in[k], value(r, rank, i));
        }
    }
    free(out), free(in), free(counts), free(at), free(bytes), free(types);
}

static void reductions(int rank, int size, int how) {
    MPI_Request q;
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&pair);
    long mine[2] = {rank + 2, 3 * rank + 1}, upto[2] = {1, 0}, below[2], all[2] = {1, 0};
    int one = 1;
    memcpy(below, upto, sizeof below);
    for (int r = 0; r < size; r++) {
        long next[2] = {r + 2, 3 * r + 1};
        compose(all, next, &one, &pair);
        memcpy(all, next, sizeof all);
        if (r == rank - 1)
            memcpy(below, all, sizeof all);
        if (r == rank)
            memcpy(upto, all, sizeof all);
    }
    for (int place = 0; place < 2; place++) {
        const void *from = place ? MPI_IN_PLACE : mine;
        long got[2] = {mine[0], mine[1]};
        DO(world, Allreduce, Iallreduce, from, got, 1, pair, op);
        CHECK(got[0], all[0]);
        CHECK(got[1], all[1]);
        memcpy(got, mine, sizeof got);
        DO(world, Scan, Iscan, from, got, 1, pair, op);
        CHECK(got[0], upto[0]);
        CHECK(got[1], upto[1]);
        memcpy(got, mine, sizeof got);
        DO(world, Exscan, Iexscan, from, got, 1, pair, op);
        if (rank) {
            CHECK(got[0], below[0]);
            CHECK(got[1], below[1]);
        }
        int *in = malloc(sizeof(int) * N * (size_t)size);
        for (int k = 0; k < size * N; k++)
            in[k] = value(rank, k, 0);
        int block[N];
        void *to = place ? (void *)in : block;
        DO(world, Reduce_scatter_block, Ireduce_scatter_block, place ? MPI_IN_PLACE : in, to, N, MPI_INT, MPI_MAX);
        for (int i = 0; i < N; i++)
            CHECK(((int *)to)[i], value(size - 1, rank * N + i, 0));
        free(in);
    }
    struct { double x; int at; } a = {rank == size / 2 ? -1 : rank, rank}, b;
    MPI_Allreduce(&a, &b, 1, MPI_DOUBLE_INT, MPI_MINLOC, world);
    CHECK(b.at, size / 2);
    /* Long ones, in several pieces. */
    int n = 10001, *x = malloc(sizeof(int) * (size_t)n), *y = malloc(sizeof(int) * (size_t)n);
    for (int i = 0; i < n; i++)
        x[i] = rank + i;
    MPI_Allreduce(x, y, n, MPI_INT, MPI_SUM, world);
    for (int i = 0; i < n; i++)
        CHECK(y[i], size * (size - 1) / 2 + size * i);
    free(x), free(y);
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
}

/* A datatype with gaps on one side, packed integers on the other. */
static void gaps(int rank, int size) {
    MPI_Datatype every;
    MPI_Type_vector(N, 1, 2, MPI_INT, &every);
    MPI_Datatype resized;
    MPI_Type_create_resized(every, 0, 2 * N * sizeof(int), &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&every);
    int out[2 * N], *in = malloc(sizeof(int) * N * (size_t)size), *wide = malloc(sizeof(int) * 2 * N * (size_t)size);
    for (int i = 0; i < 2 * N; i++)
        out[i] = i % 2 ? -7 : value(rank, 0, i / 2);
    MPI_Allgather(out, 1, resized, in, N, MPI_INT, world);
    for (int k = 0; k < size * N; k++)
        CHECK(in[k], value(k / N, 0, k % N));
    memset(wide, 0xff, sizeof(int) * 2 * N * (size_t)size);
    MPI_Allgather(in + rank * N, N, MPI_INT, wide, 1, resized, world);
    for (int k = 0; k < size * 2 * N; k++)
        CHECK(wide[k], k % 2 ? -1 : value(k / (2 * N), 0, k % (2 * N) / 2));
    MPI_Type_free(&resized);
    free(in), free(wide);
}

static void many_at_once(int rank, int size) {
    enum { K = 20 };
    MPI_Request q[K];
    int in[K], out[K];
    for (int k = 0; k < K; k++) {
        in[k] = rank + k;
        MPI_Iallreduce(&in[k], &out[k], 1, MPI_INT, MPI_SUM, world, &q[k]);
    }
    for (int done = 0; done < K;) {
        int i;
        MPI_Waitany(K, q, &i, MPI_STATUS_IGNORE);
        CHECK(out[i], size * (size - 1) / 2 + size * i);
        done++;
    }
#if MPI_VERSION >= 4
    MPI_Request p;
    int x, y;
    MPI_Allreduce_init(&x, &y, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &p);
    for (int k = 0; k < 3; k++) {
        x = rank * k;
        MPI_Start(&p);
        MPI_Wait(&p, MPI_STATUS_IGNORE);
        CHECK(y, k * (size * (size - 1) / 2));
    }
    MPI_Request_free(&p);
    /* Persistent ones match by the order in which they were made, not in which they are started. */
    MPI_Request r[3];
    int b[3] = {rank ? -1 : 5, rank, rank}, top, sum_of;
    MPI_Bcast_init(&b[0], 1, MPI_INT, 0, world, MPI_INFO_NULL, &r[0]);
    MPI_Allreduce_init(&b[1], &top, 1, MPI_INT, MPI_MAX, world, MPI_INFO_NULL, &r[1]);
    MPI_Allreduce_init(&b[2], &sum_of, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &r[2]);
    for (int k = 0; k < 6; k++) {
        top = sum_of = -1;
        if (rank)
            b[0] = -1;
        for (int i = 0; i < 3; i++)
            MPI_Start(&r[(rank + k + (rank % 2 ? i : 3 - i)) % 3]);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        CHECK(b[0], 5);
        CHECK(top, size - 1);
        CHECK(sum_of, size * (size - 1) / 2);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&r[i]);
    long z = rank, sum;
    MPI_Allreduce_c(&z, &sum, 1, MPI_LONG, MPI_SUM, world);
    CHECK(sum, size * (size - 1) / 2);
    MPI_Count *counts = malloc(sizeof *counts * (size_t)size);
    MPI_Aint *at = malloc(sizeof *at * (size_t)size);
    long *all = malloc(sizeof *all * (size_t)size);
    for (int r = 0; r < size; r++)
        counts[r] = 1, at[r] = size - 1 - r;
    MPI_Allgatherv_c(&z, 1, MPI_LONG, all, counts, at, MPI_LONG, world);
    for (int r = 0; r < size; r++)
        CHECK(all[r], size - 1 - r);
    free(counts), free(at), free(all);
#endif
}

/* Grids of any size: what goes to the left comes from the right, also with two ranks or one. */
static void neighbours(int rank, int size, int how) {
    int dims[1] = {size}, periods[1] = {1}, out[2] = {value(rank, 0, 0), value(rank, 1, 0)}, in[2] = {-1, -1};
    MPI_Comm ring;
    MPI_Request q;
    MPI_Cart_create(world, 1, dims, periods, 0, &ring);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    DO(ring, Neighbor_alltoall, Ineighbor_alltoall, out, 1, MPI_INT, in, 1, MPI_INT);
    CHECK(in[0], value(left, 1, 0));
    CHECK(in[1], value(right, 0, 0));
    DO(ring, Neighbor_allgather, Ineighbor_allgather, out, 1, MPI_INT, in, 1, MPI_INT);
    CHECK(in[0], value(left, 0, 0));
    CHECK(in[1], value(right, 0, 0));
    count_t counts[2] = {1, 1};
    at_t at[2] = {1, 0};
    DO(ring, Neighbor_alltoallv, Ineighbor_alltoallv, out, counts, at, MPI_INT, in, counts, at, MPI_INT);
    CHECK(in[1], value(left, 0, 0)); /* places are exchanged on both sides */
    CHECK(in[0], value(right, 1, 0));
    MPI_Aint bytes[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    DO(ring, Neighbor_alltoallw, Ineighbor_alltoallw, out, counts, bytes, types, in, counts, bytes, types);
    CHECK(in[0], value(left, 1, 0));
    CHECK(in[1], value(right, 0, 0));
    DO(ring, Neighbor_allgatherv, Ineighbor_allgatherv, out, 1, MPI_INT, in, counts, at, MPI_INT);
    CHECK(in[1], value(left, 0, 0));
    CHECK(in[0], value(right, 0, 0));
    MPI_Comm_free(&ring);
    /* A line: nothing comes from beyond its ends. */
    periods[0] = 0;
    MPI_Cart_create(world, 1, dims, periods, 0, &ring);
    in[0] = in[1] = -1;
    DO(ring, Neighbor_alltoall, Ineighbor_alltoall, out, 1, MPI_INT, in, 1, MPI_INT);
    CHECK(in[0], rank ? value(left, 1, 0) : -1);
    CHECK(in[1], rank < size - 1 ? value(right, 0, 0) : -1);
    MPI_Comm_free(&ring);
    /* A star told as a distributed graph by rank 0 alone, with two edges from the centre to each. */
    int n = rank ? 0 : 1, source = 0, degree = 2 * size, *to = malloc(sizeof(int) * 2 * (size_t)size);
    for (int i = 0; i < 2 * size; i++)
        to[i] = i / 2;
    MPI_Comm star;
    MPI_Dist_graph_create(world, n, &source, &degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
    int indegree, outdegree, weighted;
    MPI_Dist_graph_neighbors_count(star, &indegree, &outdegree, &weighted);
    CHECK(indegree, 2);
    CHECK(outdegree, rank ? 0 : 2 * size);
    int *many = malloc(sizeof(int) * 2 * (size_t)size);
    for (int i = 0; i < 2 * size; i++)
        many[i] = value(0, i, 0);
    MPI_Neighbor_alltoall(many, 1, MPI_INT, in, 1, MPI_INT, star);
    CHECK(in[0], value(0, 2 * rank, 0));
    CHECK(in[1], value(0, 2 * rank + 1, 0));
    MPI_Comm_free(&star);
    free(to), free(many);
}

#if MPI_VERSION >= 4
/* The forms with large counts. */
static void large(int rank, int size) {
    MPI_Request q;
    size_t n = (size_t)size;
    int *out = malloc(sizeof(int) * n), *in = malloc(sizeof(int) * n), x = rank, y;
    MPI_Count *one = malloc(sizeof *one * n);
    MPI_Aint *at = malloc(sizeof *at * n), *bytes = malloc(sizeof *bytes * n);
    MPI_Datatype *types = malloc(sizeof *types * n);
    for (int r = 0; r < size; r++) {
        out[r] = value(rank, r, 0);
        one[r] = 1;
        at[r] = r;
        bytes[r] = r * (MPI_Aint)sizeof(int);
        types[r] = MPI_INT;
    }
    for (int form = 0; form < 3; form++) {
        memset(in, 0xff, sizeof(int) * n);
        if (form == 0)
            MPI_Alltoall_c(out, 1, MPI_INT, in, 1, MPI_INT, world);
        else if (form == 1)
            MPI_Ialltoallv_c(out, one, at, MPI_INT, in, one, at, MPI_INT, world, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
        else
            MPI_Alltoallw_c(out, one, bytes, types, in, one, bytes, types, world);
        for (int r = 0; r < size; r++)
            CHECK(in[r], value(r, rank, 0));
    }
    MPI_Bcast_c(&x, 1, MPI_INT, size - 1, world);
    CHECK(x, size - 1);
    MPI_Gatherv_c(&rank, 1, MPI_INT, in, one, at, MPI_INT, 0, world);
    MPI_Scatterv_c(in, one, at, MPI_INT, &y, 1, MPI_INT, 0, world);
    CHECK(y, rank);
    MPI_Gather_c(&rank, 1, MPI_INT, in, 1, MPI_INT, 0, world);
    MPI_Scatter_c(in, 1, MPI_INT, &y, 1, MPI_INT, 0, world);
    CHECK(y, rank);
    MPI_Allgather_c(&rank, 1, MPI_INT, in, 1, MPI_INT, world);
    CHECK(in[size - 1], size - 1);
    MPI_Reduce_scatter_c(in, &y, one, MPI_INT, MPI_SUM, world);
    CHECK(y, rank * size);
    MPI_Reduce_scatter_block_c(in, &y, 1, MPI_INT, MPI_SUM, world);
    CHECK(y, rank * size);
    MPI_Scan_c(&rank, &y, 1, MPI_INT, MPI_SUM, world);
    CHECK(y, rank * (rank + 1) / 2);
    MPI_Exscan_c(&rank, &y, 1, MPI_INT, MPI_SUM, world);
    if (rank)
        CHECK(y, rank * (rank - 1) / 2);
    MPI_Reduce_c(&rank, &y, 1, MPI_INT, MPI_SUM, 0, world);
    if (rank == 0)
        CHECK(y, size * (size - 1) / 2);
    free(out), free(in), free(one), free(at), free(bytes), free(types);
}
#endif

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (int how = 0; how < FORMS; how++) {
        rooted(rank, size, how);
        vectors(rank, size, how);
        all_to_all(rank, size, how);
        reductions(rank, size, how);
    }
    gaps(rank, size);
    many_at_once(rank, size);
    for (int how = 0; how < FORMS; how++)
        neighbours(rank, size, how);
    MPI_Request q;
    MPI_Ibarrier(world, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
#if MPI_VERSION >= 4
    MPI_Barrier_init(world, MPI_INFO_NULL, &q);
    MPI_Start(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Request_free(&q);
    large(rank, size);
#endif
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
