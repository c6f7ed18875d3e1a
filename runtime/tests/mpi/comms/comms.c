/*
 * Communicators are separate worlds: the same tag and ranks on a duplicate, a split half in another order, a cartesian
 * grid and MPI_COMM_SELF; MPI_UNDEFINED in a split; ranks are those of the communicator; freed while receives are pending.
 */
#include "../forms.h"

/* The same envelope on three communicators, sent in one order and received in another. */
static void separate(MPI_Comm a, MPI_Comm b, MPI_Comm c, size_t bytes)
{
    MPI_Comm comm[3] = {a, b, c};
    int peer = world_rank ^ 1;

    trying("three communicators, %zu bytes", bytes);
    for (int even = 0; even < 2; even++) {
        if (world_rank % 2 == even) {
            MPI_Request request[3];
            void *buffer[3];
            for (int i = 0; i < 3; i++) {
                buffer[i] = new_buffer(ALLOCATED, bytes);
                fill(buffer[i], bytes, (unsigned)(40 + i));
                OPI_Igive(&buffer[i], (int)bytes, MPI_BYTE, peer, 1, comm[i], &request[i]);
            }
            CHECK_CLASS(MPI_Waitall(3, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        } else {
            for (int i = 2; i >= 0; i--) {
                struct reception r;
                begin_receive(&r, i == 1 ? RECV : TAKE, PRIVATE, bytes, MPI_ANY_SOURCE, MPI_ANY_TAG, comm[i]);
                end_receive(&r, bytes, (unsigned)(40 + i), peer, 1);
            }
        }
    }
}

/* Halves in reversed order: rank numbers differ from those in the world. */
static void halves(int ranks)
{
    MPI_Comm half;
    int rank, size;

    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    CHECK(size == (ranks + 1 - world_rank % 2) / 2);
    for (int receiver = 0; receiver < RECV_FORMS; receiver++) {
        int to = (rank + 1) % size, from = (rank + size - 1) % size;
        struct reception r;
        MPI_Request request;
        unsigned char out[100];

        trying("ring in a half by Isend and %s", recv_name[receiver]);
        fill(out, 100, (unsigned)rank);
        MPI_Isend(out, 100, MPI_BYTE, to, 2, half, &request);
        begin_receive(&r, receiver, PRIVATE, 100, receiver % 2 ? from : MPI_ANY_SOURCE, 2, half);
        end_receive(&r, 100, (unsigned)from, from, 2);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        MPI_Barrier(half);
    }
    MPI_Comm_free(&half);
}

static void undefined(void)
{
    MPI_Comm only;

    trying("split with MPI_UNDEFINED");
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? 3 : MPI_UNDEFINED, 0, &only);
    if (world_rank == 0) {
        struct reception r;
        begin_receive(&r, ITAKE, PRIVATE, 40, 0, 0, only);
        send_by(GIVE, PRIVATE, 40, 8, 0, 0, only);
        end_receive(&r, 40, 8, 0, 0);
        MPI_Comm_free(&only);
    } else {
        CHECK(only == MPI_COMM_NULL);
    }
}

/* A row that is periodic in no direction: the shift gives MPI_PROC_NULL at both ends. */
static void cartesian(int ranks)
{
    int dims[1] = {ranks}, periodic[1] = {0}, left, right, rank;
    MPI_Comm row;
    double *p, *q;

    trying("cartesian row");
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 1, &row);
    MPI_Comm_rank(row, &rank);
    MPI_Cart_shift(row, 0, 1, &left, &right);
    OPI_Alloc(&p, 800);
    fill(p, 800, (unsigned)rank);
    CHECK_CLASS(OPI_Givetake(&p, 800, MPI_BYTE, right, 0, &q, 800, MPI_BYTE, left, 0, row, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(p == NULL && q != NULL);
    if (left != MPI_PROC_NULL)
        CHECK(differs(q, 800, (unsigned)left) == 0);
    OPI_Free(&q);
    MPI_Comm_free(&row);
}

/* MPI_Comm_free only marks: what is pending on the communicator completes. */
static void freed_while_pending(void)
{
    MPI_Comm comm;
    struct reception r[2];
    int peer = world_rank ^ 1;

    trying("freed while receives are pending");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    begin_receive(&r[0], ITAKE, PRIVATE, 5000, peer, 1, comm);
    begin_receive(&r[1], IRECV, PRIVATE, 40, peer, 2, comm);
    if (world_rank % 2) {
        send_by(SEND, PRIVATE, 5000, 1, peer, 1, comm);
        send_by(GIVE, PRIVATE, 40, 2, peer, 2, comm);
        MPI_Comm_free(&comm);
    } else {
        MPI_Request request[2];
        unsigned char one[5000], two[40];
        fill(one, 5000, 1);
        fill(two, 40, 2);
        MPI_Isend(one, 5000, MPI_BYTE, peer, 1, comm, &request[0]);
        MPI_Isend(two, 40, MPI_BYTE, peer, 2, comm, &request[1]);
        MPI_Comm_free(&comm);
        CHECK_CLASS(MPI_Waitall(2, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    }
    end_receive(&r[0], 5000, 1, peer, 1);
    end_receive(&r[1], 40, 2, peer, 2);
}

/* A persistent request keeps its communicator: it is started after MPI_Comm_free, twice, with the MPI's own beside it. */
static void freed_before_the_start(void)
{
    MPI_Comm comm;
    MPI_Request request[2];
    int peer = world_rank ^ 1, out = 0, in = -1;

    trying("started after its communicator was freed");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Recv_init(&in, 1, MPI_INT, peer, 5, comm, &request[0]);
    MPI_Send_init(&out, 1, MPI_INT, peer, 5, comm, &request[1]);
    CHECK_CLASS(MPI_Comm_free(&comm), MPI_SUCCESS);
    CHECK(comm == MPI_COMM_NULL);
    for (int i = 0; i < 2; i++) {
        out = 10 * world_rank + i;
        CHECK_CLASS(MPI_Startall(2, request), MPI_SUCCESS);
        CHECK_CLASS(MPI_Waitall(2, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        CHECK(in == 10 * peer + i);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* Contexts are not reused while a communicator lives, however many come and go. */
static void many(void)
{
    MPI_Comm kept;

    trying("many communicators");
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    for (int i = 0; i < 60; i++) {
        MPI_Comm comm;
        struct reception a, b;
        MPI_Comm_dup(i % 2 ? kept : MPI_COMM_WORLD, &comm);
        begin_receive(&a, ITAKE, PRIVATE, 64, world_rank ^ 1, 0, comm);
        begin_receive(&b, ITAKE, PRIVATE, 64, world_rank ^ 1, 0, kept);
        send_by(SEND, PRIVATE, 64, (unsigned)(100 + i), world_rank ^ 1, 0, kept);
        send_by(GIVE, PRIVATE, 64, (unsigned)i, world_rank ^ 1, 0, comm);
        end_receive(&a, 64, (unsigned)i, world_rank ^ 1, 0);
        end_receive(&b, 64, (unsigned)(100 + i), world_rank ^ 1, 0);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free(&kept);
}

static int handled;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* A receive of the MPI's own that fails in a Waitall, alone and beside requests of ours: the handler of MPI_COMM_WORLD hears of it as often (with Open MPI
 * never.  MPICH says success where it called a handler of the program: there only the outcome is compared). */
static void failed_between(MPI_Comm inter, int to)
{
    int peer = world_rank ^ 1, big[8] = {0}, small[2], out = world_rank, in = -1, alone = 0;
    MPI_Errhandler counting, before;
    MPI_Request request[3];
    MPI_Status status[3];

    trying("truncated on an intercommunicator");
    MPI_Comm_create_errhandler(count_error, &counting);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
#ifdef OPEN_MPI
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
#else
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#endif
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    for (int n = 1; n <= 3; n += 2) {
        handled = 0;
        request[1] = request[2] = MPI_REQUEST_NULL;
        MPI_Irecv(small, 1, MPI_INT, to, 1, inter, &request[0]);
        if (n == 3) {
            MPI_Irecv(&in, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &request[1]);
            MPI_Isend(&out, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &request[2]);
        }
        MPI_Send(big, 8, MPI_INT, to, 1, inter);
        CHECK_CLASS(MPI_Waitall(3, request, status), MPI_ERR_IN_STATUS);
        CHECK_CLASS(status[0].MPI_ERROR, MPI_ERR_TRUNCATE);
        if (n == 1)
            alone = handled;
        for (int i = 1; i < n; i++) /* the MPI's own may be left as they were where another failed */
            if (class_of(status[i].MPI_ERROR) == MPI_ERR_PENDING)
                CHECK_CLASS(MPI_Wait(&request[i], MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(n == 1 || (handled == alone && in == peer));
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&before);
    MPI_Errhandler_free(&counting);
}

/* A probe of the MPI's own, while a receive from another node stands after a wildcard that has got its message: the probe has to
 * move it, for what it waits for comes after. */
static void probed_between(MPI_Comm inter, int rank)
{
    int value = 4, got[3] = {0, 0, 0}, flag;
    MPI_Request request[2];

    trying("a probe between groups moves receives");
    if (world_rank == 0) {
        MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 61, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(&got[1], 1, MPI_INT, 3, MPI_ANY_TAG, MPI_COMM_WORLD, &request[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Iprobe(1, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); /* takes the wildcard's message in */
        CHECK_CLASS(MPI_Probe(1, 63, inter, MPI_STATUS_IGNORE), MPI_SUCCESS);
        MPI_Recv(&got[2], 1, MPI_INT, 1, 63, inter, MPI_STATUS_IGNORE);
        CHECK_CLASS(MPI_Waitall(2, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        CHECK(got[0] == 4 && got[1] == 4 && got[2] == 4);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 1)
            MPI_Send(&value, 1, MPI_INT, 0, 61, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 3) {
            CHECK(rank == 1);
            MPI_Ssend(&value, 1, MPI_INT, 0, 62, MPI_COMM_WORLD);
            MPI_Send(&value, 1, MPI_INT, 0, 63, inter);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An intercommunicator stays with the MPI. */
static void between(int ranks)
{
    MPI_Comm half, inter;
    int rank, remote, value = world_rank, got = -1;

    trying("intercommunicator");
    if (ranks % 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_rank % 2 ? 0 : 1, 77, &inter);
    MPI_Comm_remote_size(inter, &remote);
    CHECK(remote == ranks / 2);
    CHECK_CLASS(MPI_Sendrecv(&value, 1, MPI_INT, rank, 0, &got, 1, MPI_INT, rank, 0, inter, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(got == (world_rank ^ 1));
    failed_between(inter, rank);
    if (ranks == 4)
        probed_between(inter, rank);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 4096, 100000};
    MPI_Comm dup, group_comm;
    MPI_Group group;
    int ranks;

    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &group_comm);
    MPI_Group_free(&group);
    for (int s = 0; s < 3; s++)
        separate(MPI_COMM_WORLD, dup, group_comm, sizes[s]);
    halves(ranks);
    undefined();
    cartesian(ranks);
    freed_while_pending();
    freed_before_the_start();
    many();
    between(ranks);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&group_comm);
    return finish("comms");
}
