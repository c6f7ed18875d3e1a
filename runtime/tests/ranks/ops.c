/* Operations of the program's own that read a private global: it has to be that of a member of the communicator, whoever sees that all is there.  PRIVATE: 1
 * thread-local, 2 in a block. */
#include <mpi.h>
#include <opi_ranks.h>
#include <stdio.h>
#include <stdlib.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

#ifndef PRIVATE
#define PRIVATE 2
#endif
#if PRIVATE == 1
static _Thread_local long modulus = 1;
const struct opi_rank_image opi_rank_image = {.version = OPI_RANKS_VERSION, .form = OPI_RANKS_TLS};
#define MODULUS modulus
#else
static long first_modulus = 1;
static struct opi_rank_var vars[] = {{.at = (uintptr_t)&first_modulus, .first = &first_modulus, .size = sizeof(long), .align = sizeof(long)}};
static _Thread_local uintptr_t base;
static uintptr_t *base_of(void) {
    return &base;
}
const struct opi_rank_image opi_rank_image = {.version = OPI_RANKS_VERSION, .form = OPI_RANKS_STRUCT, .vars = vars, .vars_end = vars + 1, .base = base_of};
#define MODULUS (*(long *)(base + vars[0].at))
#endif

#define N 3       /* elements for each rank */
#define MANY 3000 /* more than go with a packet */
static const MPI_Comm world = MPI_COMM_WORLD;

struct pair {
    long a, b;
};

/* Not commutative: the composition of x -> a x + b, modulo what the rank says.  Modulo 1 all is 0: so a rank that is no member gives itself away. */
static struct pair after(struct pair x, struct pair y, long m) {
    return (struct pair){x.a * y.a % m, (x.a * y.b + x.b) % m};
}

static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    const struct pair *x = in;
    struct pair *y = inout;
    for (int i = 0; i < *n; i++)
        y[i] = after(x[i], y[i], MODULUS);
}

static struct pair brought(int member, int i) {
    return (struct pair){2 + member * 3 + i % 5, member * 7 + i % 11 + 1};
}

/* What the members from first to last give. */
static struct pair sum(int first, int last, int i, long m) {
    struct pair p = brought(last, i);
    for (int r = last - 1; r >= first; r--)
        p = after(brought(r, i), p, m);
    return p;
}

static void check(int rank, const struct pair *got, int n, int at, int first, int last, long m) {
    for (int i = 0; i < n; i++) {
        struct pair want = sum(first, last, at + i, m);
        CHECK(got[i].a, want.a);
        CHECK(got[i].b, want.b);
    }
}

static void test_until_done(MPI_Request *q) {
    for (int flag = 0; !flag;)
        MPI_Test(q, &flag, MPI_STATUS_IGNORE);
}

/* The first member waits for a message of the last one, who sends it when it has waited for the collective: who waits for anything goes on with it. */
static void wait_for_another(MPI_Comm c, int me, int size, MPI_Request *q) {
    if (me == 0 && size > 1)
        MPI_Recv(NULL, 0, MPI_INT, size - 1, 5, c, MPI_STATUS_IGNORE);
    MPI_Wait(q, MPI_STATUS_IGNORE);
    if (me == size - 1 && size > 1)
        MPI_Send(NULL, 0, MPI_INT, 0, 5, c);
}

/* 0 blocking, 1 to 3 nonblocking, ended in one way or another, 4 persistent. */
#if MPI_VERSION >= 4
#define FORMS 5
#define PERSISTENT(name, ...) (MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &q), MPI_Start(&q), MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_Request_free(&q))
#else
#define FORMS 4
#define PERSISTENT(name, ...) MPI_##name(__VA_ARGS__)
#endif
#define DO(name, iname, ...) \
    (how == 0 ? (void)MPI_##name(__VA_ARGS__) \
     : how == 4 ? (void)PERSISTENT(name, __VA_ARGS__) \
                : (MPI_##iname(__VA_ARGS__, &q), how == 1 ? (void)MPI_Wait(&q, MPI_STATUS_IGNORE) : how == 2 ? test_until_done(&q) : wait_for_another(c, me, size, &q)))

static void reductions(int rank, MPI_Comm c, MPI_Op op, MPI_Datatype type, int how) {
    int me, size;
    long m = MODULUS;
    MPI_Request q;
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &size);
    int n = N * size, *counts = malloc(sizeof(int) * (size_t)size);
    struct pair *in = malloc(sizeof *in * (MANY + (size_t)n)), *out = malloc(sizeof *out * (MANY + (size_t)n));
    for (int i = 0; i < MANY + n; i++)
        in[i] = brought(me, i);
    for (int root = 0; root < size; root += size > 2 ? size - 1 : 1) {
        DO(Reduce, Ireduce, in, out, N, type, op, root, c);
        if (me == root)
            check(rank, out, N, 0, 0, size - 1, m);
    }
    DO(Allreduce, Iallreduce, in, out, N, type, op, c);
    check(rank, out, N, 0, 0, size - 1, m);
    DO(Allreduce, Iallreduce, in, out, MANY, type, op, c);
    check(rank, out, MANY, 0, 0, size - 1, m);
    DO(Scan, Iscan, in, out, N, type, op, c);
    check(rank, out, N, 0, 0, me, m);
    DO(Exscan, Iexscan, in, out, N, type, op, c);
    if (me)
        check(rank, out, N, 0, 0, me - 1, m);
    DO(Reduce_scatter_block, Ireduce_scatter_block, in, out, N, type, op, c);
    check(rank, out, N, me * N, 0, size - 1, m);
    for (int i = 0; i < size; i++)
        counts[i] = i % 3;
    DO(Reduce_scatter, Ireduce_scatter, in, out, counts, type, op, c);
    int at = 0;
    for (int i = 0; i < me; i++)
        at += counts[i];
    check(rank, out, counts[me], at, 0, size - 1, m);
    free(counts);
    free(in);
    free(out);
}

/* Both sides get what the other has; rank 0 looks on. */
static void between(int rank, int size, MPI_Op op, MPI_Datatype type) {
    MPI_Comm side, inter;
    MPI_Comm_split(world, rank ? rank % 2 : MPI_UNDEFINED, rank, &side);
    if (!rank || size < 3)
        return;
    MPI_Intercomm_create(side, 0, world, rank % 2 ? 2 : 1, 1, &inter);
    int me, there;
    MPI_Comm_rank(side, &me);
    MPI_Comm_remote_size(inter, &there);
    struct pair in[N], out[N];
    for (int i = 0; i < N; i++)
        in[i] = brought(me, i);
    MODULUS = 10007;
    MPI_Allreduce(in, out, N, type, op, inter);
    check(rank, out, N, 0, 0, there - 1, 10007);
    MODULUS = 1;
    MPI_Comm_free(&inter);
    MPI_Comm_free(&side);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Comm c;
    MPI_Op op;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Op_create(compose, 0, &op);
    MPI_Type_contiguous(2, MPI_LONG, &type);
    MPI_Type_commit(&type);
    /* One rank after the other waits outside, and may be the one to find that all is there; in the end nobody. */
    for (int out = 0; out <= size; out++) {
        MPI_Comm_split(world, rank == out ? MPI_UNDEFINED : 0, rank, &c);
        for (int how = 0; how < FORMS && c != MPI_COMM_NULL; how++) {
            MODULUS = 10007;
            reductions(rank, c, op, type, how);
            MODULUS = 1;
        }
        if (c != MPI_COMM_NULL)
            MPI_Comm_free(&c);
        MPI_Barrier(world);
    }
    /* Two communicators at once, each with a modulus of its own. */
    MPI_Comm_split(world, rank % 2, -rank, &c);
    MODULUS = rank % 2 ? 10007 : 9973;
    for (int round = 0; round < 3; round++)
        for (int how = 0; how < FORMS; how++)
            reductions(rank, c, op, type, how);
    MODULUS = 1;
    MPI_Comm_free(&c);
    MPI_Barrier(world);
    between(rank, size, op, type);
    MPI_Barrier(world);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
