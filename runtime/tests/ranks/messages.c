/* Messages by the calls that p2p.c leaves out: blocking and persistent modes, the forms with large counts, looking at requests without ending them, waiting
 * for several, numbers for Fortran. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

static const MPI_Comm world = MPI_COMM_WORLD;
enum { MOST = 20000 };
static const int sizes[] = {0, 3, MOST}; /* copied aside at once, and not */

struct ring {
    int rank, right, left;
    int *out, *in;
};

static void fill(struct ring *r, int n, int seed) {
    for (int i = 0; i < n; i++)
        r->out[i] = r->rank * 1000003 + seed + i;
    memset(r->in, 0xff, sizeof(int) * MOST);
}

static void expect(struct ring *r, int n, int seed) {
    int rank = r->rank;
    for (int i = 0; i < n; i++)
        CHECK(r->in[i], r->left * 1000003 + seed + i);
    if (n < MOST)
        CHECK(r->in[n], -1);
}

/* A blocking send while a receive is posted. */
#define BLOCKING(call, ...)                                                   \
    do {                                                                      \
        MPI_Request q;                                                        \
        MPI_Status s;                                                         \
        int got;                                                              \
        fill(r, n, __LINE__);                                                 \
        MPI_Irecv(r->in, MOST, MPI_INT, r->left, 1, world, &q);               \
        MPI_Barrier(world); /* a ready send needs the receive */              \
        call(r->out, n, MPI_INT, r->right, 1, world);                         \
        MPI_Wait(&q, &s);                                                     \
        MPI_Get_count(&s, MPI_INT, &got);                                     \
        CHECK(got, n);                                                        \
        expect(r, n, __LINE__);                                               \
    } while (0)

/* The same by a request, started twice where it is persistent. */
#define STARTED(call, receive, times)                                         \
    do {                                                                      \
        MPI_Request q[2];                                                     \
        receive(r->in, MOST, MPI_INT, r->left, 2, world, &q[0]);              \
        if ((times) > 1)                                                      \
            call(r->out, n, MPI_INT, r->right, 2, world, &q[1]);              \
        for (int k = 0; k < (times); k++) {                                   \
            fill(r, n, __LINE__ + k);                                         \
            if ((times) > 1)                                                  \
                MPI_Start(&q[0]);                                             \
            MPI_Barrier(world);                                               \
            if ((times) > 1)                                                  \
                MPI_Start(&q[1]);                                             \
            else                                                              \
                call(r->out, n, MPI_INT, r->right, 2, world, &q[1]);          \
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);                           \
            expect(r, n, __LINE__ + k);                                       \
        }                                                                     \
        for (int i = 0; i < 2 && (times) > 1; i++)                            \
            MPI_Request_free(&q[i]);                                          \
    } while (0)

static void modes(struct ring *r, int n) {
    int rank = r->rank;
    BLOCKING(MPI_Ssend);
    BLOCKING(MPI_Rsend);
    BLOCKING(MPI_Bsend);
    STARTED(MPI_Ssend_init, MPI_Recv_init, 2);
    STARTED(MPI_Rsend_init, MPI_Recv_init, 2);
    STARTED(MPI_Bsend_init, MPI_Recv_init, 2);
#if MPI_VERSION >= 4
    BLOCKING(MPI_Send_c);
    BLOCKING(MPI_Ssend_c);
    BLOCKING(MPI_Rsend_c);
    BLOCKING(MPI_Bsend_c);
    STARTED(MPI_Isend_c, MPI_Irecv_c, 1);
    STARTED(MPI_Issend_c, MPI_Irecv_c, 1);
    STARTED(MPI_Irsend_c, MPI_Irecv_c, 1);
    STARTED(MPI_Ibsend_c, MPI_Irecv_c, 1);
    STARTED(MPI_Send_init_c, MPI_Recv_init_c, 2);
    STARTED(MPI_Ssend_init_c, MPI_Recv_init_c, 2);
    STARTED(MPI_Rsend_init_c, MPI_Recv_init_c, 2);
    STARTED(MPI_Bsend_init_c, MPI_Recv_init_c, 2);
#endif
}

#if MPI_VERSION >= 4
static void exchanges(struct ring *r, int n) {
    MPI_Request q;
    MPI_Message m;
    MPI_Status s;
    MPI_Count got;
    int rank = r->rank;
    fill(r, n, 5);
    MPI_Isend_c(r->out, n, MPI_INT, r->right, 3, world, &q);
    MPI_Recv_c(r->in, MOST, MPI_INT, r->left, 3, world, &s);
    MPI_Get_count_c(&s, MPI_INT, &got);
    CHECK(got, n);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    expect(r, n, 5);
    for (int how = 0; how < 2; how++) {
        fill(r, n, 6);
        MPI_Isend(r->out, n, MPI_INT, r->right, 3, world, &q);
        MPI_Mprobe(r->left, 3, world, &m, MPI_STATUS_IGNORE);
        if (how == 0) {
            MPI_Mrecv_c(r->in, MOST, MPI_INT, &m, &s);
        } else {
            MPI_Request p;
            MPI_Imrecv_c(r->in, MOST, MPI_INT, &m, &p);
            MPI_Wait(&p, &s);
        }
        CHECK(s.MPI_SOURCE, r->left);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        expect(r, n, 6);
    }
    fill(r, n, 7);
    MPI_Sendrecv_c(r->out, n, MPI_INT, r->right, 4, r->in, MOST, MPI_INT, r->left, 4, world, &s);
    expect(r, n, 7);
    fill(r, n, 8);
    MPI_Isendrecv_c(r->out, n, MPI_INT, r->right, 4, r->in, MOST, MPI_INT, r->left, 4, world, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    expect(r, n, 8);
    for (int how = 0; how < 2; how++) {
        fill(r, n, 9);
        memcpy(r->in, r->out, sizeof(int) * (size_t)n);
        if (how == 0) {
            MPI_Sendrecv_replace_c(r->in, n, MPI_INT, r->right, 4, r->left, 4, world, MPI_STATUS_IGNORE);
        } else {
            MPI_Isendrecv_replace_c(r->in, n, MPI_INT, r->right, 4, r->left, 4, world, &q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
        expect(r, n, 9);
    }
}
#endif

/* A request is looked at, and still there. */
static void looking(struct ring *r) {
    MPI_Request q;
    MPI_Status s, t;
    int rank = r->rank, flag = 1, n = 3, count;
    fill(r, n, 1);
    MPI_Irecv(r->in, n, MPI_INT, r->left, 8, world, &q);
    MPI_Request_get_status(q, &flag, &s);
    CHECK(flag, 0);
    MPI_Barrier(world);
    MPI_Send(r->out, n, MPI_INT, r->right, 8, world);
    do
        MPI_Request_get_status(q, &flag, &s);
    while (!flag);
    CHECK(s.MPI_SOURCE, r->left);
    CHECK(s.MPI_TAG, 8);
    MPI_Get_count(&s, MPI_INT, &count);
    CHECK(count, n);
    MPI_Request_get_status(q, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && q != MPI_REQUEST_NULL, 1);
    MPI_Wait(&q, &t);
    CHECK(t.MPI_TAG, 8);
    expect(r, n, 1);
    MPI_Request_get_status(q, &flag, &s); /* null: done, and empty */
    CHECK(flag && s.MPI_SOURCE == MPI_ANY_SOURCE && s.MPI_TAG == MPI_ANY_TAG, 1);
}

static void several(struct ring *r) {
    MPI_Request q[4];
    MPI_Status s[4];
    int in[4] = {-1, -1, -1, -1}, out[4] = {10, 11, 12, 13}, rank = r->rank, done, index[4], flag, seen = 0;
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, r->left, 20 + i, world, &q[i]);
    MPI_Testall(4, q, &flag, s);
    CHECK(flag, 0);
    MPI_Testsome(4, q, &done, index, s);
    CHECK(done, 0);
#ifdef MPI_F_STATUS_SIZE
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    MPI_Request_get_status_all(4, q, &flag, s);
    CHECK(flag, 0);
    MPI_Request_get_status_any(4, q, index, &flag, s);
    CHECK(flag, 0);
    MPI_Request_get_status_some(4, q, &done, index, s);
    CHECK(done, 0);
#endif
#endif
    MPI_Barrier(world);
    MPI_Send(&out[2], 1, MPI_INT, r->right, 22, world);
    MPI_Send(&out[1], 1, MPI_INT, r->right, 21, world);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    do
        MPI_Request_get_status_any(4, q, index, &flag, s);
    while (!flag);
    CHECK(index[0] == 1 || index[0] == 2, 1);
    do
        MPI_Request_get_status_some(4, q, &done, index, s);
    while (done < 2);
    CHECK(index[0] + index[1], 3);
#endif
    while (seen < 2) {
        MPI_Testsome(4, q, &done, index, s);
        for (int i = 0; i < done; i++) {
            CHECK(index[i] == 1 || index[i] == 2, 1);
            CHECK(in[index[i]], 10 + index[i]);
            CHECK(s[i].MPI_TAG, 20 + index[i]);
            CHECK(q[index[i]] == MPI_REQUEST_NULL, 1);
            seen++;
        }
    }
    MPI_Barrier(world);
    MPI_Send(&out[0], 1, MPI_INT, r->right, 20, world);
    MPI_Send(&out[3], 1, MPI_INT, r->right, 23, world);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    do
        MPI_Request_get_status_all(4, q, &flag, s);
    while (!flag);
    CHECK(s[3].MPI_TAG, 23);
#endif
    do
        MPI_Testall(4, q, &flag, s);
    while (!flag);
    CHECK(in[0] + in[3], 23);
    CHECK(s[0].MPI_TAG, 20);
    CHECK(s[1].MPI_TAG, MPI_ANY_TAG);
}

/* Numbers for Fortran stand for the same objects. */
static void numbers(struct ring *r) {
    int rank = r->rank, x = 4, y = 0, n;
    MPI_Request q;
    MPI_Message m;
    MPI_Group g;
    MPI_Errhandler h;
    MPI_Comm c;
    MPI_Irecv(&y, 1, MPI_INT, r->left, 30, world, &q);
    MPI_Request same = MPI_Request_f2c(MPI_Request_c2f(q));
    CHECK(same == q, 1);
    MPI_Send(&x, 1, MPI_INT, r->right, 30, world);
    MPI_Wait(&same, MPI_STATUS_IGNORE);
    CHECK(y, 4);
    MPI_Isend(&x, 1, MPI_INT, r->right, 31, world, &q);
    MPI_Mprobe(r->left, 31, world, &m, MPI_STATUS_IGNORE);
    MPI_Message like = MPI_Message_f2c(MPI_Message_c2f(m));
    CHECK(like == m, 1);
#if MPI_VERSION >= 5
    CHECK(MPI_Message_fromint(MPI_Message_toint(m)) == m, 1);
    CHECK(MPI_Request_fromint(MPI_Request_toint(q)) == q, 1);
#endif
    MPI_Mrecv(&y, 1, MPI_INT, &like, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_group(world, &g);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(g)) == g, 1);
    MPI_Comm_get_errhandler(world, &h);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(h)) == h, 1);
    MPI_Comm_dup(world, &c);
#if MPI_VERSION >= 5
    CHECK(MPI_Group_fromint(MPI_Group_toint(g)) == g, 1);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(h)) == h, 1);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(c)) == c, 1);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(world)) == world, 1);
#endif
    MPI_Comm_size(MPI_Comm_f2c(MPI_Comm_c2f(c)), &n);
    CHECK(n > 0, 1);
    MPI_Errhandler_free(&h);
    MPI_Group_free(&g);
    MPI_Comm_free(&c);
}

/* A message that is no whole number of the receiver's integers is an error of the receive, and leaves the rest alone. */
static void partial(struct ring *r) {
    int rank = r->rank, class, in = 0;
    char out[3] = {1, 2, 3};
    MPI_Comm c;
    MPI_Comm_dup(world, &c);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    MPI_Request q;
    MPI_Isend(out, 3, MPI_CHAR, r->right, 0, c, &q);
    int rc = MPI_Recv(&in, 1, MPI_INT, r->left, 0, c, MPI_STATUS_IGNORE);
    MPI_Error_class(rc, &class);
    CHECK(class, MPI_ERR_TYPE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_free(&c);
}

/* Elements with bytes that are none of their value; once with a gap between any two, once without. */
static void long_doubles(struct ring *r) {
    int rank = r->rank;
    long double out[20], in[20];
    MPI_Datatype every;
    for (int stride = 1; stride <= 2; stride++) {
        MPI_Type_vector(10, 1, stride, MPI_LONG_DOUBLE, &every);
        MPI_Type_commit(&every);
        for (int i = 0; i < 20; i++) {
            out[i] = rank + i / 7.0L;
            in[i] = -1;
        }
        MPI_Sendrecv(out, 1, every, r->right, 0, in, 1, every, r->left, 0, world, MPI_STATUS_IGNORE);
        for (int i = 0; i < 20; i++)
            CHECK(in[i] == (i % stride || i >= 10 * stride ? -1 : r->left + i / 7.0L), 1);
        MPI_Type_free(&every);
    }
}

/* A type that spreads over more than is flattened, and a message that fills a part of it only.  What lies between is never touched, so costs no memory. */
static void spread(struct ring *r) {
    int rank = r->rank, n, out[3] = {rank, rank + 1, rank + 2};
    size_t bytes = ((size_t)1 << 29) + 64;
    char *in = malloc(bytes);
    MPI_Datatype t, pair;
    MPI_Status s;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_create_hvector(2, 1, (MPI_Aint)1 << 29, pair, &t);
    MPI_Type_commit(&t);
    int *ints[4] = {(int *)in, (int *)in + 1, (int *)(in + ((size_t)1 << 29)), (int *)(in + ((size_t)1 << 29)) + 1};
    for (int i = 0; i < 4; i++)
        *ints[i] = -1;
    MPI_Sendrecv(out, 3, MPI_INT, r->right, 0, in, 1, t, r->left, 0, world, &s);
    MPI_Get_elements(&s, t, &n);
    CHECK(n, 3);
    for (int i = 0; i < 4; i++)
        CHECK(*ints[i], i < 3 ? r->left + i : -1);
    int back[4] = {0};
    MPI_Sendrecv(in, 1, t, r->left, 1, back, 4, MPI_INT, r->right, 1, world, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++)
        CHECK(back[i], rank + i);
    MPI_Type_free(&t);
    MPI_Type_free(&pair);
    free(in);
}

int main(int argc, char **argv) {
    int rank, size, provided, main_thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    CHECK(provided, MPI_THREAD_FUNNELED);
    MPI_Query_thread(&provided);
    CHECK(provided, MPI_THREAD_FUNNELED);
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread, 1);
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1, 1);
    MPI_Pcontrol(1);
    struct ring r = {rank, (rank + 1) % size, (rank + size - 1) % size, malloc(sizeof(int) * MOST), NULL};
    MPI_Alloc_mem(sizeof(int) * MOST, MPI_INFO_NULL, &r.in);
    size_t bytes = 2 * (sizeof(int) * MOST + MPI_BSEND_OVERHEAD);
    void *buffer = malloc(bytes), *back;
    for (int large = 0; large < 2; large++) {
#if MPI_VERSION >= 4
        MPI_Count had;
        if (large)
            MPI_Buffer_attach_c(buffer, (MPI_Count)bytes);
        else
            MPI_Buffer_attach(buffer, (int)bytes);
#else
        int had;
        MPI_Buffer_attach(buffer, (int)bytes);
#endif
        for (int k = 0; k < 3; k++)
            modes(&r, sizes[k]);
#if MPI_VERSION >= 4
        for (int k = 0; k < 3; k++)
            exchanges(&r, sizes[k]);
        MPI_Buffer_detach_c(&back, &had);
#else
        MPI_Buffer_detach(&back, &had);
#endif
        CHECK(back == buffer && (size_t)had == bytes, 1);
    }
    looking(&r);
    several(&r);
    numbers(&r);
    partial(&r);
    long_doubles(&r);
    spread(&r);
    free(buffer);
    free(r.out);
    MPI_Free_mem(r.in);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
