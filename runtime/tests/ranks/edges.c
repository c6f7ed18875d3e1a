/* Calls at the edges of what an MPI takes: no elements of no type, names of null handles, requests that rest, types of 2 GiB and more, what is left on a
 * communicator that is freed, signatures that do not match; how a rank begins.  What the two MPIs do differently is so here, too. */
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

#ifdef MPICH_VERSION
#define TAKEN MPI_SUCCESS /* a null type, where there is nothing of it */
#define TOLD MPI_ERR_OTHER /* of messages left on a communicator */
#else
#define TAKEN MPI_ERR_TYPE
#define TOLD MPI_SUCCESS
#endif

static const MPI_Comm world = MPI_COMM_WORLD;

/* Whether the rank finds no error, and numbers rounded as usual, whatever the ranks before it have done. */
static int begins_as_usual(void)
{
    int usual = errno == 0;
    errno = EDOM;
#if defined(__x86_64__)
    usual &= _MM_GET_ROUNDING_MODE() == _MM_ROUND_NEAREST;
    _MM_SET_ROUNDING_MODE(_MM_ROUND_UP);
#endif
    return usual;
}

static int class_of(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    return class;
}

static void finish(MPI_Request *q)
{
    if (*q != MPI_REQUEST_NULL)
        MPI_Wait(q, MPI_STATUS_IGNORE);
}

static void no_type(int rank, int size)
{
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, peers[] = {MPI_PROC_NULL, right};
    MPI_Request q = MPI_REQUEST_NULL, p = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_Message m;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++) {
        int to = peers[i], from = i ? left : MPI_PROC_NULL;
        CHECK(class_of(MPI_Irecv(NULL, 0, none, from, 1, world, &q)), TAKEN);
        CHECK(class_of(MPI_Send(NULL, 0, none, to, 1, world)), TAKEN);
        finish(&q);
        CHECK(class_of(MPI_Isend(NULL, 0, none, to, 2, world, &q)), TAKEN);
        if (TAKEN == MPI_SUCCESS) {
            CHECK(MPI_Recv(NULL, 0, none, from, 2, world, &s), MPI_SUCCESS);
            CHECK(s.MPI_SOURCE, from);
            finish(&q);
            MPI_Isend(NULL, 0, none, to, 3, world, &q);
            MPI_Mprobe(from, 3, world, &m, &s);
            CHECK(MPI_Mrecv(NULL, 0, none, &m, &s), MPI_SUCCESS);
            finish(&q);
        } else {
            CHECK(class_of(MPI_Recv(NULL, 0, none, from, 2, world, &s)), TAKEN);
        }
        CHECK(class_of(MPI_Sendrecv(NULL, 0, none, to, 4, NULL, 0, none, from, 4, world, &s)), TAKEN);
        CHECK(class_of(MPI_Sendrecv_replace(NULL, 0, none, to, 5, from, 5, world, &s)), TAKEN);
        CHECK(class_of(MPI_Recv_init(NULL, 0, none, from, 6, world, &p)), TAKEN);
        CHECK(class_of(MPI_Ssend_init(NULL, 0, none, to, 6, world, &q)), TAKEN);
        if (TAKEN == MPI_SUCCESS) {
            MPI_Start(&p);
            MPI_Start(&q);
            MPI_Wait(&p, &s);
            CHECK(s.MPI_SOURCE, from);
            MPI_Wait(&q, &s);
            MPI_Request_free(&p);
            MPI_Request_free(&q);
        }
        CHECK(class_of(MPI_Send(NULL, 1, none, to, 7, world)), MPI_ERR_TYPE);
        CHECK(class_of(MPI_Recv(NULL, 1, none, from, 7, world, &s)), MPI_ERR_TYPE);
    }
    CHECK(class_of(MPI_Bcast(NULL, 0, none, 0, world)), TAKEN);
    CHECK(class_of(MPI_Allgather(NULL, 0, none, NULL, 0, none, world)), MPI_ERR_TYPE);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

static void names(int rank)
{
    char name[MPI_MAX_OBJECT_NAME] = "?";
    int length = -1;
    CHECK(MPI_Comm_get_name(MPI_COMM_NULL, name, &length), MPI_SUCCESS);
    CHECK(strcmp(name, "MPI_COMM_NULL"), 0);
    CHECK(length, strlen(name));
}

/* Persistent requests that are not started hold up nobody who disconnects; those that are, do. */
static void resting(int rank, int size)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, x = rank, y = -1;
    MPI_Comm c;
    MPI_Request q[4];
    MPI_Comm_dup(world, &c);
    MPI_Send_init(&x, 1, MPI_INT, right, 1, c, &q[0]);
    MPI_Recv_init(&y, 1, MPI_INT, left, 1, c, &q[1]);
    MPI_Recv_init(&y, 1, MPI_INT, left, 2, c, &q[2]); /* never started */
#if MPI_VERSION >= 4
    MPI_Barrier_init(c, MPI_INFO_NULL, &q[3]);
    MPI_Start(&q[3]);
    MPI_Wait(&q[3], MPI_STATUS_IGNORE);
#else
    q[3] = MPI_REQUEST_NULL;
#endif
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, q);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK(y, left);
    }
    MPI_Request_free(&q[2]);
    MPI_Recv_init(&y, 1, MPI_INT, left, 3, c, &q[2]);
    y = -1;
    MPI_Startall(2, q); /* the one that receives is freed while it pends: the end waits for it */
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&q[1]);
    MPI_Comm_disconnect(&c);
    CHECK(y, left);
    CHECK(c == MPI_COMM_NULL, 1);
    MPI_Request_free(&q[0]); /* after its communicator */
    MPI_Request_free(&q[2]);
    if (q[3] != MPI_REQUEST_NULL)
        MPI_Request_free(&q[3]);
}

/* A message that nobody receives: MPICH says so when its communicator goes. */
static void left_over(int rank, int size)
{
    int x = 0, flag = 0;
    MPI_Comm c;
    MPI_Comm_dup(world, &c);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (rank == 0 && size > 1)
        MPI_Send(&x, 1, MPI_INT, size - 1, 9, c);
    while (rank == size - 1 && size > 1 && !flag)
        MPI_Iprobe(0, 9, c, &flag, MPI_STATUS_IGNORE);
    CHECK(class_of(MPI_Comm_free(&c)), flag ? TOLD : MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL, 1);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* Six bytes are no number of ints: told of a message and of a collective. */
static void signatures(int rank, int size)
{
    char bytes[6] = "abcde";
    int ints[16], right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status s;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Sendrecv(bytes, 6, MPI_CHAR, right, 1, ints, 4, MPI_INT, left, 1, world, &s)), MPI_ERR_TYPE);
    char *all = calloc((size_t)size, 6);
    int rc = MPI_Scatter(all, 6, MPI_CHAR, rank == 0 ? MPI_IN_PLACE : (void *)ints, 3, MPI_INT, 0, world);
    CHECK(class_of(rc), rank == 0 ? MPI_SUCCESS : MPI_ERR_TYPE);
    free(all);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

/* Types whose elements are 2 GiB and more, of memory that repeats itself. */
static void large(int rank, int size)
{
    const size_t piece = (size_t)1 << 20, times = 2100; /* MiB */
    MPI_Datatype t, row;
    if (size != 2)
        return;
    char *p = mmap(NULL, 2 * piece * times, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p != MAP_FAILED, 1);
    MPI_Type_contiguous((int)piece, MPI_BYTE, &row);
    MPI_Type_vector((int)times, 1, 2, row, &t); /* every other MiB */
    MPI_Type_commit(&t);
    if (rank == 0) {
        for (size_t i = 0; i < times; i++)
            p[2 * piece * i] = (char)(i + 1);
        MPI_Send(p, 1, t, 1, 1, world);
    } else {
        MPI_Recv(p, 1, t, 0, 1, world, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < times; i += 7)
            CHECK(p[2 * piece * i], (char)(i + 1));
    }
    MPI_Type_free(&t);
    MPI_Type_free(&row);
    munmap(p, 2 * piece * times);
}

int main(int argc, char **argv)
{
    int rank, size, big = argc > 1 && strcmp(argv[1], "large") == 0, usual = begins_as_usual();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    CHECK(usual, 1);
    if (big) {
        large(rank, size);
    } else {
        no_type(rank, size);
        names(rank);
        resting(rank, size);
        left_over(rank, size);
        signatures(rank, size);
    }
    MPI_Barrier(world);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
