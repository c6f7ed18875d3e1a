/*
 * The completion calls over arrays that mix the MPI's own requests (Ibarrier, Iallreduce) with ours: Waitall, Waitany,
 * Waitsome, Testall, Testany, Testsome, Wait, Test, Request_get_status, with statuses and without, with null requests.
 */
#include "../forms.h"

enum { WAITALL, WAITALL_IGNORE, WAITANY, WAITSOME, TESTALL, TESTANY, TESTSOME, WAIT, TEST, GET_STATUS, CALLS };
static const char *const call_name[CALLS] = {"Waitall",  "Waitall, no statuses", "Waitany", "Waitsome", "Testall", "Testany",
                                             "Testsome", "Wait",                 "Test",    "Request_get_status"};

#define MESSAGES 6
#define REQUESTS (2 * MESSAGES + 3)

/* One completed request: of the receives, the status must be that of the message. */
static void completed(const MPI_Status *status, int index, size_t bytes, int peer)
{
    int count;

    if (status == NULL || index >= MESSAGES)
        return;
    CHECK(status->MPI_SOURCE == peer);
    CHECK(status->MPI_TAG == index);
    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(count == (int)bytes);
}

static void complete_all(int call, MPI_Request *request, size_t bytes, int peer)
{
    MPI_Status status[REQUESTS];
    int index[REQUESTS], done = 0, flag = 0, some = 0, one = 0;

    for (int i = 0; i < REQUESTS; i++)
        status[i].MPI_ERROR = MPI_SUCCESS;
    switch (call) {
    case WAITALL:
        CHECK_CLASS(MPI_Waitall(REQUESTS, request, status), MPI_SUCCESS);
        for (int i = 0; i < REQUESTS; i++)
            completed(&status[i], i, bytes, peer);
        break;
    case WAITALL_IGNORE: CHECK_CLASS(MPI_Waitall(REQUESTS, request, MPI_STATUSES_IGNORE), MPI_SUCCESS); break;
    case WAITANY:
        for (done = 0; done < REQUESTS - 1; done++) { /* one is null from the beginning */
            CHECK_CLASS(MPI_Waitany(REQUESTS, request, &one, &status[0]), MPI_SUCCESS);
            CHECK(one >= 0 && one < REQUESTS);
            completed(&status[0], one, bytes, peer);
        }
        CHECK_CLASS(MPI_Waitany(REQUESTS, request, &one, &status[0]), MPI_SUCCESS);
        CHECK(one == MPI_UNDEFINED);
        break;
    case WAITSOME:
        while (done < REQUESTS - 1) {
            CHECK_CLASS(MPI_Waitsome(REQUESTS, request, &some, index, status), MPI_SUCCESS);
            CHECK(some > 0);
            if (some <= 0)
                break;
            for (int i = 0; i < some; i++)
                completed(&status[i], index[i], bytes, peer);
            done += some;
        }
        CHECK(done == REQUESTS - 1);
        CHECK_CLASS(MPI_Waitsome(REQUESTS, request, &some, index, status), MPI_SUCCESS);
        CHECK(some == MPI_UNDEFINED);
        break;
    case TESTALL:
        while (!flag)
            CHECK_CLASS(MPI_Testall(REQUESTS, request, &flag, status), MPI_SUCCESS);
        for (int i = 0; i < REQUESTS; i++)
            completed(&status[i], i, bytes, peer);
        break;
    case TESTANY:
        for (done = 0; done < REQUESTS - 1; done += flag) {
            CHECK_CLASS(MPI_Testany(REQUESTS, request, &one, &flag, &status[0]), MPI_SUCCESS);
            if (flag)
                completed(&status[0], one, bytes, peer);
        }
        CHECK_CLASS(MPI_Testany(REQUESTS, request, &one, &flag, &status[0]), MPI_SUCCESS);
        CHECK(flag && one == MPI_UNDEFINED);
        break;
    case TESTSOME:
        while (done < REQUESTS - 1) {
            CHECK_CLASS(MPI_Testsome(REQUESTS, request, &some, index, MPI_STATUSES_IGNORE), MPI_SUCCESS);
            CHECK(some >= 0);
            done += some > 0 ? some : 0;
        }
        CHECK(done == REQUESTS - 1);
        break;
    case WAIT:
        for (int i = REQUESTS - 1; i >= 0; i--) {
            CHECK_CLASS(MPI_Wait(&request[i], &status[i]), MPI_SUCCESS);
            completed(&status[i], i, bytes, peer);
        }
        break;
    case TEST:
        for (int i = 0; i < REQUESTS; i++) {
            for (flag = 0; !flag;)
                CHECK_CLASS(MPI_Test(&request[i], &flag, &status[i]), MPI_SUCCESS);
            completed(&status[i], i, bytes, peer);
        }
        break;
    default:
        for (int i = 0; i < REQUESTS; i++) {
            for (flag = 0; !flag;)
                CHECK_CLASS(MPI_Request_get_status(request[i], &flag, &status[i]), MPI_SUCCESS);
            completed(&status[i], i, bytes, peer);
        }
        CHECK_CLASS(MPI_Waitall(REQUESTS, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    }
    for (int i = 0; i < REQUESTS; i++)
        CHECK(request[i] == MPI_REQUEST_NULL);
}

static void mixed(int call, size_t bytes, unsigned seed)
{
    MPI_Request request[REQUESTS];
    void *in[MESSAGES], *out[MESSAGES];
    int peer = world_rank ^ 1, value = 1, sum = 0, ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < MESSAGES; i++) {
        in[i] = i % 2 ? NULL : new_buffer(PRIVATE, bytes + 8);
        if (i % 2)
            OPI_Itake(&in[i], (int)bytes + 8, MPI_BYTE, i % 3 ? peer : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &request[i]);
        else
            MPI_Irecv(in[i], (int)bytes + 8, MPI_BYTE, peer, i, MPI_COMM_WORLD, &request[i]);
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request *r = &request[MESSAGES + i];
        out[i] = new_buffer(i % 3 ? ALLOCATED : PRIVATE, bytes);
        fill(out[i], bytes, seed + (unsigned)i);
        if (i % 3)
            OPI_Igive(&out[i], (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, r);
        else if (i == 0)
            MPI_Issend(out[i], (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, r);
        else
            MPI_Isend(out[i], (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, r);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request[2 * MESSAGES]);
    request[2 * MESSAGES + 1] = MPI_REQUEST_NULL;
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request[2 * MESSAGES + 2]);
    complete_all(call, request, bytes, peer);
    CHECK(sum == ranks);
    for (int i = 0; i < MESSAGES; i++) {
        CHECK(in[i] != NULL && differs(in[i], bytes, seed + (unsigned)i) == 0);
        if (i % 2 && in[i] != NULL)
            memset(in[i], 1, bytes + 8);
        drop_buffer(i % 2 ? ALLOCATED : PRIVATE, in[i]);
        CHECK((out[i] == NULL) == (i % 3 != 0));
        if (out[i] != NULL)
            drop_buffer(PRIVATE, out[i]);
    }
}

/* What the standard says of empty and inactive arguments. */
static void nothing(void)
{
    MPI_Request null[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status[2];
    int flag = 0, index = 0, count = -1;

    trying("null requests");
    CHECK_CLASS(MPI_Wait(&null[0], &status[0]), MPI_SUCCESS);
    CHECK(status[0].MPI_SOURCE == MPI_ANY_SOURCE && status[0].MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(&status[0], MPI_INT, &count);
    CHECK(count == 0);
    CHECK_CLASS(MPI_Test(&null[0], &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(flag);
    CHECK_CLASS(MPI_Waitall(2, null, status), MPI_SUCCESS);
    CHECK_CLASS(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(MPI_Waitany(2, null, &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(index == MPI_UNDEFINED);
    flag = 0;
    CHECK_CLASS(MPI_Testall(2, null, &flag, status), MPI_SUCCESS);
    CHECK(flag);
    CHECK_CLASS(MPI_Testsome(2, null, &count, &index, status), MPI_SUCCESS);
    CHECK(count == MPI_UNDEFINED);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
/* MPI_Request_get_status_any and _some pass over null and inactive requests. */
static void looking_at_inactive_ones(void)
{
    int out = 5, in[2] = {0, 0}, index = 7, flag = 7, count = 7, indices[3];
    MPI_Request request[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status[3];

    trying("looking at inactive requests");
    CHECK_CLASS(MPI_Request_get_status_any(3, request, &index, &flag, &status[0]), MPI_SUCCESS);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Recv_init(&in[0], 1, MPI_INT, world_rank, 51, MPI_COMM_WORLD, &request[0]);
    flag = 0;
    CHECK_CLASS(MPI_Request_get_status_any(2, request, &index, &flag, &status[0]), MPI_SUCCESS);
    CHECK(flag && index == MPI_UNDEFINED && status[0].MPI_SOURCE == MPI_ANY_SOURCE);
    CHECK_CLASS(MPI_Request_get_status_some(2, request, &count, indices, status), MPI_SUCCESS);
    CHECK(count == MPI_UNDEFINED);
    flag = 0;
    CHECK_CLASS(MPI_Request_get_status_all(2, request, &flag, status), MPI_SUCCESS);
    CHECK(flag);
    MPI_Irecv(&in[1], 1, MPI_INT, world_rank, 52, MPI_COMM_WORLD, &request[2]);
    CHECK_CLASS(MPI_Request_get_status_any(3, request, &index, &flag, &status[0]), MPI_SUCCESS);
    CHECK(!flag && index == MPI_UNDEFINED);
    CHECK_CLASS(MPI_Request_get_status_some(3, request, &count, indices, status), MPI_SUCCESS);
    CHECK(count == 0);
    MPI_Send(&out, 1, MPI_INT, world_rank, 52, MPI_COMM_WORLD);
    for (flag = 0; !flag;)
        CHECK_CLASS(MPI_Request_get_status_any(3, request, &index, &flag, &status[0]), MPI_SUCCESS);
    CHECK(index == 2 && status[0].MPI_TAG == 52);
    CHECK_CLASS(MPI_Request_get_status_some(3, request, &count, indices, status), MPI_SUCCESS);
    CHECK(count == 1 && indices[0] == 2 && status[0].MPI_TAG == 52);
    MPI_Wait(&request[2], MPI_STATUS_IGNORE);
    CHECK(in[1] == 5);
    MPI_Request_free(&request[0]);
}
#else
static void looking_at_inactive_ones(void)
{
}
#endif

/* To look at a request of the MPI's own moves a receive from anywhere, which the MPI below does not know of. */
static void looking_moves_receives(void)
{
    int value = 3, got = 0, flag = 0, peer = world_rank ^ 1;
    MPI_Request receive = MPI_REQUEST_NULL, barrier;

    trying("looking moves receives");
    if (world_rank % 2 == 0)
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 53, MPI_COMM_WORLD, &receive);
    else
        MPI_Ssend(&value, 1, MPI_INT, peer, 53, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    while (!flag)
        CHECK_CLASS(MPI_Request_get_status(barrier, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&barrier, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(got == (world_rank % 2 ? 0 : 3));
}

/* Test* on a request that nobody serves yet says no, and leaves it. */
static void not_yet(void)
{
    int peer = world_rank ^ 1, flag = 1, index = 3, count = 3;
    void *in = NULL;
    MPI_Request request;

    trying("not yet");
    OPI_Itake(&in, 64, MPI_BYTE, peer, 50, MPI_COMM_WORLD, &request);
    CHECK_CLASS(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(!flag && request != MPI_REQUEST_NULL && in == NULL);
    flag = 1;
    CHECK_CLASS(MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(!flag && index == MPI_UNDEFINED);
    CHECK_CLASS(MPI_Testsome(1, &request, &count, &index, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK(count == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    send_by(SEND, PRIVATE, 64, 1, peer, 50, MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(in != NULL && differs(in, 64, 1) == 0);
    drop_buffer(ALLOCATED, in);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 8, 40, 4096, 300000};
    unsigned seed = 0;

    start(&argc, &argv);
    nothing();
    looking_at_inactive_ones();
    looking_moves_receives();
    not_yet();
    for (int repeat = 0; repeat < 3; repeat++)
        for (int s = 0; s < 5; s++)
            for (int call = 0; call < CALLS; call++) {
                trying("%s, %zu bytes", call_name[call], sizes[s]);
                mixed(call, sizes[s], seed += 10);
            }
    return finish("requests");
}
