/*
 * Errors: the class an MPI user expects under ERRORS_RETURN, nothing overwritten, ownership kept, and the job usable
 * afterwards. On two ranks or more.
 *   errors [eager]   truncation of messages of at most 3000 bytes only: across nodes the MPI below receives, and Open MPI
 *                    5.0.11 writes a longer one past the end of the receive buffer (its shared-memory transport gets the
 *                    whole message), with MPI_Recv in a plain program too
 */
#include "../forms.h"

static MPI_Comm comm;

static void bad_arguments_of_give(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    double *p = NULL;
    double *const before = (OPI_Alloc(&p, 800), p);

    fill(p, 800, 1);
    trying("Give with bad arguments");
    CHECK_CLASS(OPI_Give(&p, -1, MPI_DOUBLE, 0, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(OPI_Give(&p, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);
    CHECK_CLASS(OPI_Give(&p, 1, MPI_DOUBLE, 9999, 0, comm), MPI_ERR_RANK);
    CHECK_CLASS(OPI_Give(&p, 1, MPI_DOUBLE, -77, 0, comm), MPI_ERR_RANK);
    CHECK_CLASS(OPI_Give(&p, 1, MPI_DOUBLE, 0, -5, comm), MPI_ERR_TAG);
    CHECK_CLASS(OPI_Give(&p, 1, MPI_DOUBLE, 0, MPI_ANY_TAG, comm), MPI_ERR_TAG);
    CHECK_CLASS(OPI_Give(&p, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, comm), MPI_ERR_RANK);
    CHECK_CLASS(OPI_Give(&p, 1, MPI_DOUBLE, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(OPI_Igive(&p, -1, MPI_DOUBLE, 0, 0, comm, &request), MPI_ERR_COUNT);
    CHECK_CLASS(OPI_Igive(&p, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request), MPI_ERR_TYPE);
    CHECK_CLASS(OPI_Igive(&p, 1, MPI_DOUBLE, 9999, 0, comm, &request), MPI_ERR_RANK);
    CHECK_CLASS(OPI_Igive(&p, 1, MPI_DOUBLE, 0, -5, comm, &request), MPI_ERR_TAG);
    CHECK(p == before && differs(p, 800, 1) == 0);
    CHECK_CLASS(OPI_Free(&p), MPI_SUCCESS);
    CHECK(p == NULL);
}

static void bad_arguments_of_take(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    void *p = NULL;

    trying("Take with bad arguments");
    CHECK_CLASS(OPI_Take(&p, -1, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(OPI_Take(&p, 1, MPI_DATATYPE_NULL, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(OPI_Take(&p, 1, MPI_DOUBLE, 9999, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(OPI_Take(&p, 1, MPI_DOUBLE, 0, -5, comm, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    CHECK_CLASS(OPI_Take(&p, 1, MPI_DOUBLE, 0, 0, MPI_COMM_NULL, MPI_STATUS_IGNORE), MPI_ERR_COMM);
    CHECK_CLASS(OPI_Itake(&p, -1, MPI_DOUBLE, 0, 0, comm, &request), MPI_ERR_COUNT);
    CHECK_CLASS(OPI_Itake(&p, 1, MPI_DOUBLE, 9999, 0, comm, &request), MPI_ERR_RANK);
}

static void bad_arguments_of_mpi(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    double x = 1, y = 2;

    trying("Send and Recv with bad arguments");
    CHECK_CLASS(MPI_Send(&x, -1, MPI_DOUBLE, 0, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_DOUBLE, 9999, 0, comm), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_DOUBLE, 0, -5, comm), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Send(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Send(NULL, 1, MPI_DOUBLE, 0, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Isend(&x, 1, MPI_DOUBLE, 9999, 0, comm, &request), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Ssend(&x, -1, MPI_DOUBLE, 0, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv(&y, -1, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Recv(&y, 1, MPI_DATATYPE_NULL, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Recv(&y, 1, MPI_DOUBLE, 9999, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv(&y, 1, MPI_DOUBLE, 0, -5, comm, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Recv(NULL, 1, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Irecv(&y, 1, MPI_DOUBLE, 9999, 0, comm, &request), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Probe(9999, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK(y == 2);
}

/* A null type and no elements: each call does what the MPI's own one does, on this node and to nobody. */
static void null_type_and_no_elements(void)
{
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    int me, n, peers[2] = {MPI_PROC_NULL, 0};
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    peers[1] = (me + 1) % n;
    int taken = class_of(PMPI_Recv(NULL, 0, none, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2; i++) {
        MPI_Request q = MPI_REQUEST_NULL, p = MPI_REQUEST_NULL;
        MPI_Status s;
        int to = peers[i], from = i ? (me + n - 1) % n : MPI_PROC_NULL;
        trying("no elements of no type, %s", i ? "to the next rank" : "to MPI_PROC_NULL");
        CHECK_CLASS(MPI_Irecv(NULL, 0, none, from, 1, comm, &q), taken);
        CHECK_CLASS(MPI_Send(NULL, 0, none, to, 1, comm), taken);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK_CLASS(MPI_Issend(NULL, 0, none, to, 2, comm, &q), taken);
        CHECK_CLASS(MPI_Recv(NULL, 0, none, from, 2, comm, &s), taken);
        CHECK(taken != MPI_SUCCESS || s.MPI_SOURCE == from);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        CHECK_CLASS(MPI_Sendrecv(NULL, 0, none, to, 3, NULL, 0, none, from, 3, comm, &s), taken);
        CHECK_CLASS(MPI_Sendrecv_replace(NULL, 0, none, to, 4, from, 4, comm, &s), taken);
        CHECK_CLASS(MPI_Recv_init(NULL, 0, none, from, 5, comm, &p), taken);
        CHECK_CLASS(MPI_Send_init(NULL, 0, none, to, 5, comm, &q), taken);
        if (taken == MPI_SUCCESS) {
            CHECK_CLASS(MPI_Start(&p), MPI_SUCCESS);
            CHECK_CLASS(MPI_Start(&q), MPI_SUCCESS);
            MPI_Wait(&p, &s);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
            CHECK(s.MPI_SOURCE == from);
            MPI_Request_free(&p);
            MPI_Request_free(&q);
            MPI_Message m;
            MPI_Isend(NULL, 0, none, to, 6, comm, &q);
            MPI_Mprobe(from, 6, comm, &m, &s);
            CHECK_CLASS(MPI_Mrecv(NULL, 0, none, &m, &s), MPI_SUCCESS);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
        CHECK_CLASS(MPI_Send(NULL, 1, none, to, 7, comm), MPI_ERR_TYPE);
    }
    CHECK_CLASS(MPI_Alltoall(NULL, 0, none, NULL, 0, none, comm), MPI_ERR_TYPE);
}

static void bad_pointers(void)
{
    char local[128], *foreign = malloc(128), *stack = local, *null = NULL, *p, *copy, *inside, *before;

    trying("bad pointers");
    memset(local, 7, sizeof local);
    memset(foreign, 7, 128);
    CHECK_CLASS(OPI_Give(&null, 1, MPI_BYTE, 0, 0, comm), MPI_ERR_BUFFER);
    before = foreign;
    CHECK_CLASS(OPI_Give(&foreign, 1, MPI_BYTE, 0, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(OPI_Free(&foreign), MPI_ERR_BUFFER);
    for (int i = 0; i < 2; i++) {
        int source = i ? MPI_PROC_NULL : 0;
        CHECK_CLASS(OPI_Givetake_replace(&foreign, 1, MPI_BYTE, 0, 0, source, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
        CHECK_CLASS(OPI_Givetake_replace(&null, 1, MPI_BYTE, 0, 0, source, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    }
    CHECK(foreign == before && foreign[0] == 7);
    CHECK_CLASS(OPI_Give(&stack, 1, MPI_BYTE, 0, 0, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(OPI_Free(&stack), MPI_ERR_BUFFER);
    CHECK(stack == local);
    free(foreign);

    trying("interior pointer");
    CHECK_CLASS(OPI_Alloc(&p, 1000), MPI_SUCCESS);
    inside = p + 64;
    CHECK_CLASS(OPI_Free(&inside), MPI_ERR_BUFFER);
    CHECK(inside == p + 64);
    CHECK_CLASS(OPI_Give(&inside, 1, MPI_BYTE, 0, 0, comm), MPI_ERR_BUFFER);

    trying("double free");
    copy = p;
    CHECK_CLASS(OPI_Free(&p), MPI_SUCCESS);
    CHECK_CLASS(OPI_Free(&p), MPI_SUCCESS); /* of NULL */
    CHECK_CLASS(OPI_Free(&copy), MPI_ERR_BUFFER);
    CHECK_CLASS(OPI_Give(&copy, 1, MPI_BYTE, 0, 0, comm), MPI_ERR_BUFFER);

    trying("memory");
    CHECK_CLASS((OPI_Alloc)(NULL, 8), MPI_ERR_ARG);
    p = local;
    CHECK_CLASS(OPI_Alloc(&p, (size_t)1 << 60), MPI_ERR_NO_MEM);
    CHECK(p == local);
    CHECK_CLASS(OPI_Alloc(&p, 0), MPI_SUCCESS);
    CHECK_CLASS(OPI_Free(&p), MPI_SUCCESS);
}

/* Used after it was given: rank 0 gives, keeps the old address, and tries to give and free it again. */
static void given_away(void)
{
    trying("given away");
    if (world_rank == 0) {
        char *p, *copy;
        MPI_Request request;
        CHECK_CLASS(OPI_Alloc(&p, 8192), MPI_SUCCESS);
        copy = p;
        fill(p, 8192, 3);
        CHECK_CLASS(OPI_Igive(&p, 8192, MPI_BYTE, 1, 8, comm, &request), MPI_SUCCESS);
        CHECK(p == NULL);
        CHECK_CLASS(OPI_Free(&copy), MPI_ERR_BUFFER);
        CHECK_CLASS(OPI_Give(&copy, 8192, MPI_BYTE, 1, 8, comm), MPI_ERR_BUFFER);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 1) {
            struct reception r;
            begin_receive(&r, TAKE, PRIVATE, 8192, 0, 8, comm);
            end_receive(&r, 8192, 3, 0, 8);
        }
    }
}

/* A message longer than the receive. */
static void truncated(enum send_form sender, enum recv_form receiver, size_t sent, size_t room)
{
    const size_t guard = 64;
    trying("%s of %zu bytes into %s of %zu", send_name[sender], sent, recv_name[receiver], room);
    if (world_rank == 0) {
        /* What the sender is told is not defined; the receiver's answer is. */
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        send_by(sender, PRIVATE, sent, 4, 1, 6, comm);
    } else if (world_rank == 1) {
        unsigned char *buffer = NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;
        int code;

        memset(&status, 0, sizeof status);
        if (!takes(receiver)) {
            buffer = malloc(room + guard);
            memset(buffer, CANARY, room + guard);
        }
        switch (receiver) {
        case RECV: code = MPI_Recv(buffer, (int)room, MPI_BYTE, 0, 6, comm, &status); break;
        case TAKE: code = OPI_Take(&buffer, (int)room, MPI_BYTE, 0, 6, comm, &status); break;
        case IRECV:
            MPI_Irecv(buffer, (int)room, MPI_BYTE, 0, 6, comm, &request);
            code = MPI_Wait(&request, &status);
            break;
        default:
            OPI_Itake(&buffer, (int)room, MPI_BYTE, 0, 6, comm, &request);
            code = MPI_Wait(&request, &status);
        }
        CHECK_CLASS(code, MPI_ERR_TRUNCATE);
        CHECK(request == MPI_REQUEST_NULL);
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 6);
        CHECK(buffer != NULL);
        if (takes(receiver) && buffer != NULL) {
            memset(buffer, 1, room);
            drop_buffer(ALLOCATED, buffer);
        } else if (buffer != NULL) {
            for (size_t i = room; i < room + guard; i++)
                CHECK(buffer[i] == CANARY);
            free(buffer);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Waitall over a good and a truncated receive says MPI_ERR_IN_STATUS and which. */
static void in_status(void)
{
    char good[64], small[8];
    MPI_Request request[2];
    MPI_Status status[2];

    trying("error in status");
    if (world_rank == 0) {
        send_by(SEND, PRIVATE, 64, 1, 1, 1, comm);
        send_by(SEND, PRIVATE, 64, 1, 1, 2, comm);
    } else if (world_rank == 1) {
        MPI_Irecv(good, 64, MPI_BYTE, 0, 1, comm, &request[0]);
        MPI_Irecv(small, 8, MPI_BYTE, 0, 2, comm, &request[1]);
        CHECK_CLASS(MPI_Waitall(2, request, status), MPI_ERR_IN_STATUS);
        CHECK(class_of(status[0].MPI_ERROR) == MPI_SUCCESS);
        CHECK(class_of(status[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
        CHECK(differs(good, 64, 1) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void still_usable(void)
{
    trying("afterwards");
    if (world_rank == 0)
        send_by(GIVE, PRIVATE, 5000, 9, 1, 2, comm);
    if (world_rank == 1) {
        struct reception r;
        begin_receive(&r, TAKE, PRIVATE, 5000, 0, 2, comm);
        end_receive(&r, 5000, 9, 0, 2);
    }
}

static int handler_calls;
static void count_calls(MPI_Comm *where, int *code, ...)
{
    (void)where;
    (void)code;
    handler_calls++;
}

/* Errors go through the error handler of the communicator. */
static void own_handler(void)
{
    MPI_Errhandler handler;
    void *p = NULL;

    trying("own error handler");
    MPI_Comm_create_errhandler(count_calls, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    OPI_Alloc(&p, 8);
    CHECK_CLASS(OPI_Give(&p, 1, MPI_BYTE, 9999, 0, comm), MPI_ERR_RANK);
    CHECK(handler_calls == 1);
    CHECK_CLASS(MPI_Send(p, 1, MPI_BYTE, 9999, 0, comm), MPI_ERR_RANK);
    CHECK(handler_calls == 2);
    CHECK_CLASS(OPI_Sgive(&p, 1, MPI_BYTE, 9999, 0, comm), MPI_ERR_RANK);
    CHECK(handler_calls == 3 && p != NULL);
    OPI_Free(&p);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv)
{
    static const enum send_form senders[] = {SEND, ISEND, GIVE, IGIVE};
    static const enum recv_form receivers[] = {RECV, IRECV, TAKE, ITAKE};
    static const size_t sent[] = {40, 3000, 5000, 1 << 20};
    int sizes = argc > 1 && strcmp(argv[1], "eager") == 0 ? 2 : 4;

    start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    bad_arguments_of_give();
    bad_arguments_of_take();
    bad_arguments_of_mpi();
    null_type_and_no_elements();
    bad_pointers();
    own_handler();
    given_away();
    for (int s = 0; s < sizes; s++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                truncated(senders[i], receivers[j], sent[s], sent[s] / 2 + 1);
    truncated(SEND, RECV, 8, 0);
    truncated(GIVE, TAKE, 100, 0);
    in_status();
    still_usable();
    MPI_Comm_free(&comm);
    return finish("errors");
}
