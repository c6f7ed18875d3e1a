/* Messages between ranks: every mode, wildcards, probes, cancelling, persistent requests, datatypes, truncation; gives and takes; random traffic. */
#include <mpi.h>
#include <opi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

static const MPI_Comm world = MPI_COMM_WORLD;
static const int sizes[] = {0, 1, 7, 500, 3000, 40000};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 40000 };

static void fill(int *b, int n, int seed) {
    for (int i = 0; i < n; i++)
        b[i] = seed * 100003 + i;
}

static void expect(int rank, const int *b, int n, int seed) {
    for (int i = 0; i < n; i++)
        CHECK(b[i], seed * 100003 + i);
}

/* Everybody to its right neighbour, by every mode of sending and every way of receiving. */
static void modes(int rank, int size) {
    int *out = malloc(sizeof(int) * MOST), *in = malloc(sizeof(int) * MOST), right = (rank + 1) % size, left = (rank + size - 1) % size, n, flag;
    void *attached = malloc(sizeof(int) * MOST + 1000);
    MPI_Request q[2];
    MPI_Status s;
    MPI_Message m;
    MPI_Buffer_attach(attached, sizeof(int) * MOST + 1000);
    for (int k = 0; k < SIZES; k++) {
        for (int mode = 0; mode < 4; mode++) {
            for (int how = 0; how < 6; how++) {
                int tag = k * 100 + mode * 10 + how;
                fill(out, sizes[k], rank + tag);
                memset(in, 0xff, sizeof(int) * MOST);
                q[1] = MPI_REQUEST_NULL;
                if (mode == 3 || how == 0) /* ready: the receive comes first */
                    MPI_Irecv(in, MOST, MPI_INT, how % 2 ? MPI_ANY_SOURCE : left, tag, world, &q[1]);
                if (mode == 3)
                    MPI_Barrier(world);
                if (mode == 0)
                    MPI_Isend(out, sizes[k], MPI_INT, right, tag, world, &q[0]);
                else if (mode == 1)
                    MPI_Issend(out, sizes[k], MPI_INT, right, tag, world, &q[0]);
                else if (mode == 2)
                    MPI_Ibsend(out, sizes[k], MPI_INT, right, tag, world, &q[0]);
                else
                    MPI_Irsend(out, sizes[k], MPI_INT, right, tag, world, &q[0]);
                if (q[1] != MPI_REQUEST_NULL) {
                    MPI_Status both[2];
                    MPI_Waitall(2, q, both);
                    s = both[1];
                } else {
                    if (how == 1)
                        MPI_Recv(in, MOST, MPI_INT, MPI_ANY_SOURCE, tag, world, &s);
                    else if (how == 2)
                        MPI_Recv(in, MOST, MPI_INT, left, tag, world, &s);
                    else if (how == 3) {
                        MPI_Mprobe(left, tag, world, &m, &s);
                        MPI_Get_count(&s, MPI_INT, &n);
                        CHECK(n, sizes[k]);
                        MPI_Mrecv(in, MOST, MPI_INT, &m, &s);
                        CHECK(m == MPI_MESSAGE_NULL, 1);
                    } else if (how == 4) {
                        do
                            MPI_Improbe(MPI_ANY_SOURCE, tag, world, &flag, &m, &s);
                        while (!flag);
                        MPI_Request r;
                        MPI_Imrecv(in, MOST, MPI_INT, &m, &r);
                        MPI_Wait(&r, &s);
                    } else {
                        MPI_Probe(left, tag, world, &s);
                        do
                            MPI_Iprobe(left, tag, world, &flag, &s);
                        while (!flag);
                        MPI_Recv(in, MOST, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, world, &s);
                    }
                    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
                }
                MPI_Get_count(&s, MPI_INT, &n);
                CHECK(n, sizes[k]);
                CHECK(s.MPI_SOURCE, left);
                CHECK(s.MPI_TAG, tag);
                expect(rank, in, n, left + tag);
                for (int i = n; i < n + 10 && i < MOST; i++)
                    CHECK(in[i], -1);
            }
        }
        /* Blocking to each other: standard sends of any size go on. */
        fill(out, sizes[k], rank);
        MPI_Send(out, sizes[k], MPI_INT, right, 1, world);
        MPI_Recv(in, MOST, MPI_INT, left, 1, world, &s);
        expect(rank, in, sizes[k], left);
        MPI_Sendrecv(out, sizes[k], MPI_INT, right, 2, in, MOST, MPI_INT, left, 2, world, &s);
        expect(rank, in, sizes[k], left);
        MPI_Sendrecv_replace(out, sizes[k], MPI_INT, right, 3, left, 3, world, &s);
        expect(rank, out, sizes[k], left);
#if MPI_VERSION >= 4
        fill(out, sizes[k], rank);
        MPI_Isendrecv(out, sizes[k], MPI_INT, right, 4, in, MOST, MPI_INT, left, 4, world, &q[0]);
        MPI_Wait(&q[0], &s);
        expect(rank, in, sizes[k], left);
        MPI_Isendrecv_replace(out, sizes[k], MPI_INT, right, 5, left, 5, world, &q[0]);
        MPI_Wait(&q[0], &s);
        expect(rank, out, sizes[k], left);
        MPI_Get_count(&s, MPI_INT, &n);
        CHECK(n, sizes[k]);
        fill(out, sizes[k], rank);
        MPI_Sendrecv_c(out, sizes[k], MPI_INT, right, 2, in, MOST, MPI_INT, left, 2, world, &s);
        expect(rank, in, sizes[k], left);
#endif
    }
    void *back;
    MPI_Buffer_detach(&back, &n);
    CHECK(back == attached, 1);
    free(attached);
    MPI_Request p[2];
    int x, y;
    MPI_Send_init(&x, 1, MPI_INT, right, 8, world, &p[0]);
    MPI_Recv_init(&y, 1, MPI_INT, left, 8, world, &p[1]);
    for (int k = 0; k < 5; k++) {
        x = rank + k;
        MPI_Startall(2, p);
        MPI_Waitall(2, p, MPI_STATUSES_IGNORE);
        CHECK(y, left + k);
    }
    MPI_Wait(&p[0], &s); /* inactive: at once, empty */
    CHECK(s.MPI_SOURCE, MPI_ANY_SOURCE);
    MPI_Request_free(&p[0]);
    MPI_Request_free(&p[1]);
    free(out), free(in);
}

static void corners(int rank, int size) {
    int x = rank, y = -1, n, flag;
    MPI_Request q;
    MPI_Status s;
    MPI_Recv(&y, 1, MPI_INT, MPI_PROC_NULL, 3, world, &s);
    CHECK(s.MPI_SOURCE, MPI_PROC_NULL);
    CHECK(y, -1);
    MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 3, world);
    MPI_Irecv(&y, 1, MPI_INT, rank, 77, world, &q); /* cancelled */
    MPI_Cancel(&q);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag, 1);
    MPI_Issend(&x, 1, MPI_INT, rank, 78, world, &q);
    MPI_Test(&q, &flag, &s);
    CHECK(flag, 0);
    MPI_Cancel(&q);
    MPI_Wait(&q, &s);
    MPI_Test_cancelled(&s, &flag);
    CHECK(flag, 1);
    MPI_Iprobe(rank, 78, world, &flag, &s);
    CHECK(flag, 0);
    MPI_Isend(&x, 1, MPI_INT, rank, 79, world, &q); /* to itself, freed while it pends */
    MPI_Request_free(&q);
    MPI_Recv(&y, 1, MPI_INT, rank, 79, world, &s);
    CHECK(y, rank);
    /* Order: messages of one sender stay in order, whatever mix of kinds they are. */
    MPI_Request r[4];
    int got[4], *large = calloc(MOST, sizeof(int));
    large[0] = 11;
    MPI_Isend(large, MOST, MPI_INT, rank, 5, world, &r[0]);
    x = 12;
    MPI_Isend(&x, 1, MPI_INT, rank, 5, world, &r[1]);
    int *in = malloc(sizeof(int) * MOST);
    MPI_Recv(in, MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &s);
    CHECK(in[0], 11);
    MPI_Recv(in, MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &s);
    CHECK(in[0], 12);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    /* Receives match in the order in which they were posted. */
    for (int k = 0; k < 4; k++)
        MPI_Irecv(&got[k], 1, MPI_INT, k % 2 ? rank : MPI_ANY_SOURCE, k < 2 ? 6 : MPI_ANY_TAG, world, &r[k]);
    for (int k = 0; k < 4; k++) {
        x = 20 + k;
        MPI_Send(&x, 1, MPI_INT, rank, 6, world);
    }
    int indices[4], done = 0;
    while (done < 4) {
        MPI_Waitsome(4, r, &n, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++)
            CHECK(got[indices[i]], 20 + indices[i]);
        done += n;
    }
    MPI_Waitsome(4, r, &n, indices, MPI_STATUSES_IGNORE);
    CHECK(n, MPI_UNDEFINED);
    MPI_Testany(4, r, &n, &flag, &s);
    CHECK(flag && n == MPI_UNDEFINED, 1);
    /* Too long a message: what fits is there, nothing else is touched. */
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int few[4] = {-1, -1, -1, -1}, many[3] = {1, 2, 3}, class;
    MPI_Isend(many, 3, MPI_INT, rank, 9, world, &q);
    int rc = MPI_Recv(few, 2, MPI_INT, rank, 9, world, &s);
    MPI_Error_class(rc, &class);
    CHECK(class, MPI_ERR_TRUNCATE);
    CHECK(few[1], 2);
    CHECK(few[2], -1);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(MPI_Send(&x, 1, MPI_INT, size, 0, world), MPI_ERR_RANK);
    CHECK(MPI_Send(&x, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    CHECK(MPI_Send(&x, 1, MPI_INT, 0, -5, world), MPI_ERR_TAG);
    CHECK(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, world), MPI_ERR_TYPE);
    CHECK(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK(MPI_Send(NULL, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    free(large), free(in);
}

static void columns(int rank, int size) {
    enum { ROWS = 50, COLS = 40 };
    int (*a)[COLS] = malloc(sizeof(int) * ROWS * COLS), *packed = malloc(sizeof(int) * ROWS);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Datatype column;
    MPI_Type_vector(ROWS, 1, COLS, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            a[i][j] = rank * 10000 + i * 100 + j;
    MPI_Request q[2];
    MPI_Isend(&a[0][3], 1, column, right, 1, world, &q[0]);
    MPI_Irecv(&a[0][7], 1, column, left, 1, world, &q[1]);
    MPI_Type_free(&column); /* what pends keeps it */
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ROWS; i++) {
        CHECK(a[i][7], left * 10000 + i * 100 + 3);
        CHECK(a[i][6], rank * 10000 + i * 100 + 6);
    }
    MPI_Type_vector(ROWS, 1, COLS, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(&a[0][3], 1, column, right, 2, packed, ROWS, MPI_INT, left, 2, world, MPI_STATUS_IGNORE);
    for (int i = 0; i < ROWS; i++)
        CHECK(packed[i], left * 10000 + i * 100 + 3);
    MPI_Type_free(&column);
    free(a), free(packed);
}

static void gives(int rank, int size) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, n;
    MPI_Status s;
    MPI_Request q[2];
    for (int k = 0; k < SIZES; k++) {
        for (int form = 0; form < 6; form++) { /* give or send, to take, receive or Itake */
            int *out, *in = NULL, *plain = malloc(sizeof(int) * MOST);
            OPI_Alloc(&out, sizeof(int) * (size_t)sizes[k]);
            fill(out, sizes[k], rank + form);
            if (form < 3) {
                OPI_Igive(&out, sizes[k], MPI_INT, right, form, world, &q[0]);
                CHECK(out == NULL, 1);
            } else {
                MPI_Isend(out, sizes[k], MPI_INT, right, form, world, &q[0]);
            }
            if (form % 3 == 0) {
                OPI_Take(&in, MOST, MPI_INT, left, form, world, &s);
            } else if (form % 3 == 1) {
                MPI_Recv(plain, MOST, MPI_INT, left, form, world, &s);
            } else {
                OPI_Itake(&in, MOST, MPI_INT, MPI_ANY_SOURCE, form, world, &q[1]);
                MPI_Wait(&q[1], &s);
            }
            MPI_Wait(&q[0], MPI_STATUS_IGNORE);
            MPI_Get_count(&s, MPI_INT, &n);
            CHECK(n, sizes[k]);
            expect(rank, in ? in : plain, n, left + form);
            if (in) {
                in[MOST - 1] = 5; /* all that was declared is there */
                OPI_Free(&in);
            }
            if (out)
                OPI_Free(&out);
            free(plain);
        }
    }
    int *b;
    OPI_Alloc(&b, 4000);
    int *was = b;
    fill(b, 1000, rank);
    OPI_Givetake(&b, 1000, MPI_INT, right, 1, &b, 1000, MPI_INT, left, 1, world, &s);
    expect(rank, b, 1000, left);
    if (size == 1)
        CHECK(b == was, 1); /* the buffer itself has passed */
    fill(b, 1000, rank);
    OPI_Givetake_replace(&b, 1000, MPI_INT, right, 2, left, 2, world, &s);
    expect(rank, b, 1000, left);
    was = b;
    OPI_Givetake_replace(&b, 1000, MPI_INT, MPI_PROC_NULL, 3, MPI_PROC_NULL, 3, world, &s);
    CHECK(b == was, 1);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL, 1);
    expect(rank, b, 1000, left);
    OPI_Givetake_replace(&b, 1000, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 4, rank > 0 ? rank - 1 : MPI_PROC_NULL, 4, world, &s);
    CHECK(rank > 0 || b == was, 1);
    expect(rank, b, 1000, rank > 0 ? (left + size - 1) % size : left);
    was = b;
    MPI_Request later;
    OPI_Take_replace(&b, 1000, MPI_INT, MPI_PROC_NULL, 5, world, &s);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && b == was, 1);
    OPI_Itake_replace(&b, 1000, MPI_INT, MPI_PROC_NULL, 5, world, &later);
    CHECK(b == was, 1);
    MPI_Wait(&later, &s);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && b == was, 1);
    for (int turn = 0; turn < 2; turn++) {
        int *out;
        OPI_Alloc(&out, 1000 * sizeof *out);
        fill(out, 1000, rank);
        MPI_Request sent;
        OPI_Igive(&out, 1000, MPI_INT, right, 5, world, &sent);
        if (turn) {
            OPI_Itake_replace(&b, 1000, MPI_INT, left, 5, world, &later);
            CHECK(b == NULL, 1);
            MPI_Wait(&later, &s);
        } else {
            OPI_Take_replace(&b, 1000, MPI_INT, left, 5, world, &s);
        }
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        CHECK(s.MPI_SOURCE == left, 1);
        expect(rank, b, 1000, left);
    }
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int local = 3, *stranger = &local, *stale = b;
    CHECK(OPI_Free(&stranger), MPI_ERR_BUFFER);
    CHECK(OPI_Give(&stranger, 1, MPI_INT, right, 1, world), MPI_ERR_BUFFER);
    CHECK(OPI_Givetake_replace(&stranger, 1, MPI_INT, right, 1, left, 1, world, &s), MPI_ERR_BUFFER);
    CHECK(OPI_Givetake_replace(&stranger, 1, MPI_INT, right, 1, MPI_PROC_NULL, 1, world, &s), MPI_ERR_BUFFER);
    CHECK(OPI_Take_replace(&stranger, 1, MPI_INT, left, 1, world, &s), MPI_ERR_BUFFER);
    CHECK(OPI_Itake_replace(&stranger, 1, MPI_INT, MPI_PROC_NULL, 1, world, &later), MPI_ERR_BUFFER);
    CHECK(OPI_Take_replace(&b, -1, MPI_INT, left, 1, world, &s), MPI_ERR_COUNT);
    CHECK(stranger == &local, 1);
    CHECK(OPI_Give(&b, 2000, MPI_INT, right, 1, world), MPI_ERR_BUFFER);
    OPI_Free(&b);
    CHECK(b == NULL, 1);
    CHECK(OPI_Free(&stale), MPI_ERR_BUFFER);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    OPI_Alloc(&b, 100);
    OPI_Give(&b, 25, MPI_INT, MPI_PROC_NULL, 1, world);
    CHECK(b == NULL, 1);
    OPI_Take(&b, 25, MPI_INT, MPI_PROC_NULL, 1, world, &s);
    b[24] = 1;
    OPI_Free(&b);
}

/* All send to all, what and how by a generator that every rank has; receives by wildcard, in any order. */
static unsigned next(unsigned *s) {
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

static void traffic(int rank, int size, int rounds) {
    enum { K = 24 };
    for (int round = 0; round < rounds; round++) {
        MPI_Request q[2 * K];
        int *out[K], *in[K], used = 0, to_me = 0, sent = 0;
        unsigned seed = (unsigned)round * 77u + 5u;
        for (int from = 0; from < size; from++)
            for (int k = 0; k < K; k++) {
                int to = (int)(next(&seed) % (unsigned)size), n = sizes[next(&seed) % SIZES], kind = (int)(next(&seed) % 3);
                if (to == rank)
                    to_me++;
                if (from != rank)
                    continue;
                if (kind == 0) {
                    OPI_Alloc(&out[sent], sizeof(int) * (size_t)n + 4);
                    fill(out[sent], n, from * K + k);
                    OPI_Igive(&out[sent], n, MPI_INT, to, from * K + k, world, &q[used++]);
                } else {
                    out[sent] = malloc(sizeof(int) * (size_t)n + 4);
                    fill(out[sent], n, from * K + k);
                    (kind == 1 ? MPI_Isend : MPI_Issend)(out[sent], n, MPI_INT, to, from * K + k, world, &q[used++]);
                }
                sent++;
            }
        for (int got = 0; got < to_me; got++) {
            MPI_Status s;
            int n;
            if (got % 2) {
                in[0] = malloc(sizeof(int) * MOST);
                MPI_Recv(in[0], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &s);
            } else {
                OPI_Take(&in[0], MOST, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &s);
            }
            MPI_Get_count(&s, MPI_INT, &n);
            CHECK(s.MPI_TAG / K, s.MPI_SOURCE);
            expect(rank, in[0], n, s.MPI_TAG);
            if (got % 2)
                free(in[0]);
            else
                OPI_Free(&in[0]);
        }
        MPI_Waitall(used, q, MPI_STATUSES_IGNORE);
        for (int k = 0; k < sent; k++)
            free(out[k]);
        MPI_Barrier(world);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    modes(rank, size);
    MPI_Barrier(world); /* wildcards of one part must not see messages of the next */
    corners(rank, size);
    MPI_Barrier(world);
    columns(rank, size);
    MPI_Barrier(world);
    gives(rank, size);
    MPI_Barrier(world);
    traffic(rank, size, argc > 1 ? atoi(argv[1]) : 3);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
