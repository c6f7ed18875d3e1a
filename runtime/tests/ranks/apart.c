/* What is different when ranks are in several processes: messages of every kind between the first and the last rank, more than is copied aside, cancelling,
 * many collectives at once, communicators made by some, results that are the same to the bit however ranks are spread. */
#include <mpi.h>
#include <opix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

enum { LARGE = 400000 };
static const MPI_Comm world = MPI_COMM_WORLD;

/* Each process's ranks are one block; all are on one node. */
static void places(int rank, int size) {
    int n, start, *starts = malloc(sizeof(int) * (size_t)size), mates = 0, there;
    MPIX_Get_collocated_size(&n);
    MPIX_Get_collocated_startrank(&start);
    CHECK(rank >= start && rank < start + n, 1);
    MPI_Allgather(&start, 1, MPI_INT, starts, 1, MPI_INT, world);
    for (int r = 0; r < size; r++) {
        mates += starts[r] == start;
        CHECK(starts[r] == start, r >= start && r < start + n);
    }
    CHECK(mates, n);
    free(starts);
    MPI_Comm node;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &there);
    CHECK(there, size);
    MPI_Comm_free(&node);
}

/* Far more than is copied aside, to one who is not there yet; then to each other, larger than anything. */
static void flood(int rank, int size, int many) {
    int last = size - 1, b[600] = {0};
    if (rank == 0 && last) {
        for (int i = 0; i < many; i++) {
            b[0] = i;
            if (i % 3)
                MPI_Send(b, i % 600 + 1, MPI_INT, last, 1, world);
            else
                MPI_Send(b, 1, MPI_INT, last, 1, world);
        }
    } else if (rank == last && last) {
        MPIX_Usleep(20000);
        for (int i = 0; i < many; i++) {
            MPI_Status s;
            int n;
            MPI_Recv(b, 600, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 0, 1, world, &s);
            MPI_Get_count(&s, MPI_INT, &n);
            CHECK(n, i % 3 ? i % 600 + 1 : 1);
            CHECK(b[0], i);
        }
    }
    int *large = malloc(sizeof(int) * LARGE), *in = malloc(sizeof(int) * LARGE), peer = last - rank;
    for (int i = 0; i < LARGE; i++)
        large[i] = rank * 7 + i;
    MPI_Send(large, LARGE, MPI_INT, peer, 2, world);
    memset(large, 0, sizeof(int) * LARGE); /* ours again */
    MPI_Recv(in, LARGE, MPI_INT, peer, 2, world, MPI_STATUS_IGNORE);
    for (int i = 0; i < LARGE; i++)
        CHECK(in[i], peer * 7 + i);
    free(large), free(in);
}

static void kinds(int rank, int size) {
    int last = size - 1, peer = last - rank, flag, n;
    MPI_Status s;
    MPI_Request q, r;
    int *out = malloc(sizeof(int) * LARGE), *in = malloc(sizeof(int) * LARGE);
    for (int i = 0; i < LARGE; i++)
        out[i] = rank * 3 + i;
    /* Cancelled before anybody receives; the next message is the one that comes. */
    MPI_Issend(out, 5, MPI_INT, peer, 1, world, &q);
    MPI_Cancel(&q);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag, 1);
    MPI_Barrier(world);
    MPI_Issend(out, LARGE, MPI_INT, peer, 1, world, &q);
    MPI_Recv(in, LARGE, MPI_INT, peer, 1, world, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n, LARGE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    /* Asked back when it may have been received: one or the other, and nothing is lost. */
    for (int k = 0; k < 20; k++) {
        int got, sent;
        MPI_Irecv(in, LARGE, MPI_INT, peer, 2, world, &r);
        MPI_Issend(out, k % 2 ? LARGE : 1, MPI_INT, peer, 2, world, &q);
        if (k % 3 == 0)
            MPIX_Yield();
        MPI_Cancel(&q);
        MPI_Wait(&q, &s);
        MPI_Test_cancelled(&s, &sent);
        sent = !sent;
        MPI_Sendrecv(&sent, 1, MPI_INT, peer, 3, &got, 1, MPI_INT, peer, 3, world, MPI_STATUS_IGNORE);
        if (!got)
            MPI_Cancel(&r);
        MPI_Wait(&r, &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK(flag, !got);
        if (got) {
            MPI_Get_count(&s, MPI_INT, &n);
            CHECK(n, k % 2 ? LARGE : 1);
            CHECK(in[n - 1], peer * 3 + n - 1);
        }
        MPI_Barrier(world);
    }
    /* Every second element, into a receive that is shorter, matched by a probe, freed while it is under way, given. */
    MPI_Datatype second;
    MPI_Type_vector(LARGE / 2, 1, 2, MPI_INT, &second);
    MPI_Type_commit(&second);
    MPI_Isend(out, 1, second, peer, 4, world, &q);
    memset(in, 0xff, sizeof(int) * LARGE);
    MPI_Recv(in, LARGE, MPI_INT, peer, 4, world, &s);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < LARGE / 2; i++)
        CHECK(in[i], peer * 3 + 2 * i);
    CHECK(in[LARGE / 2], -1);
    MPI_Isend(out, LARGE / 2, MPI_INT, peer, 4, world, &q);
    memset(in, 0xff, sizeof(int) * LARGE);
    MPI_Recv(in, 1, second, peer, 4, world, &s);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < LARGE; i++)
        CHECK(in[i], i % 2 ? -1 : peer * 3 + i / 2);
    MPI_Type_free(&second);
    MPI_Message m;
    MPI_Isend(out, LARGE, MPI_INT, peer, 5, world, &q);
    MPI_Mprobe(MPI_ANY_SOURCE, 5, world, &m, &s);
    CHECK(s.MPI_SOURCE, peer);
    MPI_Mrecv(in, LARGE, MPI_INT, &m, &s);
    CHECK(in[LARGE - 1], peer * 3 + LARGE - 1);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Isend(out, LARGE, MPI_INT, peer, 6, world, &q);
    MPI_Request_free(&q);
    MPI_Recv(in, LARGE, MPI_INT, peer, 6, world, &s);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int k = 0; k < 2; k++) {
        int class;
        MPI_Isend(out, k ? LARGE : 10, MPI_INT, peer, 7, world, &q);
        memset(in, 0xff, sizeof(int) * 100);
        MPI_Error_class(MPI_Recv(in, 7, MPI_INT, peer, 7, world, &s), &class);
        CHECK(class, MPI_ERR_TRUNCATE);
        CHECK(in[6], peer * 3 + 6);
        CHECK(in[7], -1);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    for (int k = 0; k < 12; k++) {
        int *b, *got, count = k % 2 ? LARGE : 100;
        OPI_Alloc(&b, sizeof(int) * (size_t)count);
        for (int i = 0; i < count; i++)
            b[i] = rank + k + i;
        OPI_Igive(&b, count, MPI_INT, peer, 8, world, &q);
        if (k % 3 == 0) {
            MPI_Recv(in, LARGE, MPI_INT, peer, 8, world, &s);
            CHECK(in[count - 1], peer + k + count - 1);
        } else {
            OPI_Take(&got, LARGE, MPI_INT, peer, 8, world, &s);
            CHECK(got[count - 1], peer + k + count - 1);
            OPI_Free(&got);
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    free(out), free(in);
}

/* Many collectives that nobody has waited for, on two communicators, small and large. */
static void at_once(int rank, int size) {
    enum { K = 12 };
    MPI_Comm other;
    MPI_Request q[4 * K];
    int *data[K], sum[K], all[K], *each = malloc(sizeof(int) * (size_t)size * K), *got = malloc(sizeof(int) * (size_t)size * K);
    MPI_Comm_split(world, 0, -rank, &other);
    for (int k = 0; k < K; k++) {
        int n = k % 3 ? 10 : 100000, root = k % size;
        data[k] = malloc(sizeof(int) * (size_t)n);
        for (int i = 0; i < n; i++)
            data[k][i] = rank == root ? i + k : -1;
        sum[k] = rank + k;
        for (int r = 0; r < size; r++)
            each[k * size + r] = rank * 100 + r + k;
        MPI_Ibcast(data[k], n, MPI_INT, root, world, &q[4 * k]);
        MPI_Iallreduce(&sum[k], &all[k], 1, MPI_INT, MPI_SUM, k % 2 ? other : world, &q[4 * k + 1]);
        MPI_Ialltoall(&each[k * size], 1, MPI_INT, &got[k * size], 1, MPI_INT, world, &q[4 * k + 2]);
        MPI_Ibarrier(other, &q[4 * k + 3]);
    }
    for (int k = 4 * K - 1; k >= 0; k--)
        MPI_Wait(&q[k], MPI_STATUS_IGNORE);
    for (int k = 0; k < K; k++) {
        int n = k % 3 ? 10 : 100000;
        CHECK(data[k][n - 1], n - 1 + k);
        CHECK(all[k], size * (size - 1) / 2 + k * size);
        for (int r = 0; r < size; r++)
            CHECK(got[k * size + r], r * 100 + rank + k);
        free(data[k]);
    }
    MPI_Comm_free(&other);
    free(each), free(got);
}

/* Sums of numbers whose order matters: what a fold from the right gives. */
static void bits(int rank, int size) {
    enum { N = 5000 };
    double *mine = malloc(sizeof(double) * N), *sum = malloc(sizeof(double) * N), *all = malloc(sizeof(double) * N * (size_t)size), want;
    for (int i = 0; i < N; i++)
        mine[i] = 1.0 / (rank * 13 + i + 1) * (i % 2 ? 1 : -1) * (rank % 3 ? 1e-3 : 1e6);
    MPI_Allreduce(mine, sum, N, MPI_DOUBLE, MPI_SUM, world);
    MPI_Allgather(mine, N, MPI_DOUBLE, all, N, MPI_DOUBLE, world);
    for (int i = 0; i < N; i++) {
        want = all[(size_t)(size - 1) * N + (size_t)i];
        for (int r = size - 2; r >= 0; r--)
            want = all[(size_t)r * N + (size_t)i] + want;
        CHECK(memcmp(&want, &sum[i], sizeof want), 0);
    }
    memset(sum, 0, sizeof(double) * N);
    MPI_Reduce(mine, sum, N, MPI_DOUBLE, MPI_MAX, size - 1, world);
    for (int i = 0; rank == size - 1 && i < N; i++)
        for (int r = 0; r < size; r++)
            CHECK(sum[i] >= all[(size_t)r * N + (size_t)i], 1);
    free(mine), free(sum), free(all);
}

static void check_sum(int rank, MPI_Comm c) {
    int n, me, sum, w = rank, *all;
    MPI_Comm_size(c, &n);
    MPI_Comm_rank(c, &me);
    all = malloc(sizeof(int) * (size_t)n);
    MPI_Allgather(&w, 1, MPI_INT, all, 1, MPI_INT, c);
    MPI_Allreduce(&w, &sum, 1, MPI_INT, MPI_SUM, c);
    for (int i = 0; i < n; i++)
        sum -= all[i];
    CHECK(sum, 0);
    CHECK(all[me], rank);
    free(all);
}

/* Communicators made by some members, by several at the same time, and thrown away again. */
static void making(int rank, int size, int rounds) {
    MPI_Group all, part;
    MPI_Comm_group(world, &all);
    for (int k = 0; k < rounds; k++) {
        MPI_Comm c, d, e;
        int range[1][3] = {{rank % 2, size - 1, 2}};
        if (rank % 2 < size) {
            MPI_Group_range_incl(all, 1, range, &part);
            MPI_Comm_create_group(world, part, 5, &c); /* odd and even ones, the same tag */
            check_sum(rank, c);
            MPI_Group_free(&part);
            MPI_Comm_free(&c);
        }
        MPI_Comm_split(world, (rank * 7 + k) % 3, rank % 2 ? -rank : rank, &c);
        check_sum(rank, c);
        MPI_Comm_dup(c, &d);
        MPI_Comm_free(&c);
        check_sum(rank, d);
        MPI_Comm_free(&d);
        if (size < 2)
            continue;
        for (int how = 0; how < 2; how++) { /* neighbours on different sides, then the first half and the second */
            int side = how ? rank >= size / 2 : rank % 2, sum, want = 0, from = -1, n, me;
            MPI_Comm_split(world, side, rank, &c);
            MPI_Intercomm_create(c, 0, world, side ? 0 : how ? size / 2 : 1, 9, &d);
            for (int r = 0; r < size; r++)
                want += (how ? r >= size / 2 : r % 2) != side ? r : 0;
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, d);
            CHECK(sum, want);
            MPI_Comm_rank(c, &me);
            from = rank == 0 ? 77 : -1;
            MPI_Bcast(&from, 1, MPI_INT, side ? 0 : me ? MPI_PROC_NULL : MPI_ROOT, d);
            CHECK(from, side || rank == 0 ? 77 : -1);
            int *got = malloc(sizeof(int) * (size_t)size);
            MPI_Comm_remote_size(d, &n);
            MPI_Gather(&rank, 1, MPI_INT, got, 1, MPI_INT, side ? (me ? MPI_PROC_NULL : MPI_ROOT) : 0, d);
            for (int i = 0; side && !me && i < n; i++)
                CHECK(got[i], how ? i : 2 * i);
            MPI_Allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, d);
            for (int i = 0; i < n; i++)
                CHECK(got[i], how ? i + (side ? 0 : size / 2) : 2 * i + !side);
            free(got);
            MPI_Comm_dup(d, &e);
            MPI_Comm_free(&d);
            MPI_Intercomm_merge(e, side, &d);
            MPI_Comm_free(&e);
            check_sum(rank, d);
            MPI_Comm_size(d, &n);
            CHECK(n, size);
            MPI_Comm_free(&d);
            MPI_Comm_free(&c);
        }
    }
    MPI_Group_free(&all);
}

/* A ring of neighbours with other weights for each, a grid, in collectives of neighbours. */
static void around(int rank, int size) {
    MPI_Comm c;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, out[2] = {rank, -rank}, in[2] = {-1, -1}, n, m, weighted;
    int sources[2] = {left, right}, weights[2] = {1, 2}, dims[1] = {size}, periods[1] = {1};
    MPI_Dist_graph_create_adjacent(world, 2, sources, weights, 2, sources, weights, MPI_INFO_NULL, 0, &c);
    MPI_Dist_graph_neighbors_count(c, &n, &m, &weighted);
    CHECK(n == 2 && m == 2 && weighted, 1);
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, c);
    CHECK(in[0], left);
    CHECK(in[1], right);
    MPI_Comm_free(&c);
    int one = 1;
    MPI_Dist_graph_create(world, 1, &rank, &one, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    in[0] = -1;
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c);
    CHECK(in[0], left);
    MPI_Comm_free(&c);
    MPI_Cart_create(world, 1, dims, periods, 0, &c);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, c);
    CHECK(in[0], size > 2 ? -left : in[0]);
    CHECK(in[1], size > 2 ? right : in[1]);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv) {
    int rank, size, effort = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    places(rank, size);
    flood(rank, size, 20000 * effort);
    MPI_Barrier(world);
    kinds(rank, size);
    at_once(rank, size);
    bits(rank, size);
    making(rank, size, 10 * effort);
    around(rank, size);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
