/* Programs that never wait, but test until something is there; and receives that were freed before their message came. */
#include "../forms.h"

#include <stdbool.h>

#define PATIENCE 60.0 /* seconds; then the test has failed, and goes on by waiting */
#define FLOOD 500     /* messages, more than a ring has room for */

enum poll { TEST, TESTALL, TESTANY, TESTSOME, GET_STATUS, POLLS };
static const char *const poll_name[] = {"Test", "Testall", "Testany", "Testsome", "Request_get_status"};

/* Tests n requests until all are complete. */
static void poll_by(enum poll how, int n, MPI_Request *requests)
{
    double until = MPI_Wtime() + PATIENCE;
    int done = 0;

    while (done < n && MPI_Wtime() < until) {
        int flag = 0, index, some, indices[FLOOD];
        switch (how) {
        case TEST:
            MPI_Test(&requests[done], &flag, MPI_STATUS_IGNORE);
            done += flag;
            break;
        case TESTALL:
            MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
            done = flag ? n : 0;
            break;
        case TESTANY:
            MPI_Testany(n, requests, &index, &flag, MPI_STATUS_IGNORE);
            done += flag;
            break;
        case TESTSOME:
            MPI_Testsome(n, requests, &some, indices, MPI_STATUSES_IGNORE);
            done += some;
            break;
        default:
            MPI_Request_get_status(requests[done], &flag, MPI_STATUS_IGNORE);
            done += flag;
        }
    }
    CHECK(done == n);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

/* A posted receive completes its send while its rank sits in a call of the MPI, however the sender asks. */
static void send_to_one_in_a_barrier(enum poll how, size_t bytes)
{
    int peer = world_rank ^ 1;
    char *buffer = malloc(bytes);
    MPI_Request request;

    trying("Issend of %zu bytes, completed by %s, to a rank in a barrier", bytes, poll_name[how]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank % 2 == 0) {
        fill(buffer, bytes, 3);
        MPI_Issend(buffer, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
        poll_by(how, 1, &request);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        memset(buffer, 0, bytes);
        MPI_Irecv(buffer, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(differs(buffer, bytes, 3) == 0);
    }
    free(buffer);
}

/* Of two receivers, one in a barrier with a posted receive, the other not ready: a call that wants any send to be complete must not look after the other one
 * alone. */
static void send_to_either(int how, bool ready_first)
{
    int values[2] = {1, 2}, got = -1, index = MPI_UNDEFINED, some = 0, indices[2], flag = 0, ready = ready_first ? 0 : 1;
    static const char *const name[] = {"Waitany", "Waitsome", "Testany", "Testsome"};
    MPI_Request requests[2];

    trying("%s on Issends to a rank in a barrier and to one that is not ready, as %s", name[how], ready_first ? "first" : "second");
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) {
        double until = MPI_Wtime() + PATIENCE;
        MPI_Issend(&values[ready], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[ready]);
        MPI_Issend(&values[!ready], 1, MPI_INT, 2, 5, MPI_COMM_WORLD, &requests[!ready]);
        if (how == 0)
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
        else if (how == 1)
            MPI_Waitsome(2, requests, &some, indices, MPI_STATUSES_IGNORE);
        while (how == 2 && !flag && MPI_Wtime() < until)
            MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
        while (how == 3 && some == 0 && MPI_Wtime() < until)
            MPI_Testsome(2, requests, &some, indices, MPI_STATUSES_IGNORE);
        CHECK((how % 2 ? indices[0] : index) == ready);
        CHECK(requests[ready] == MPI_REQUEST_NULL && requests[!ready] != MPI_REQUEST_NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (world_rank == 1) {
        MPI_Irecv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK(got == values[ready]);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == values[!ready]);
    }
}

/* The messages that find no room wait at their sender, which sits in a barrier. */
static void receive_from_one_in_a_barrier(int how)
{
    static MPI_Request requests[FLOOD];
    static int values[FLOOD];
    int peer = world_rank ^ 1;

    trying("a flood from a rank in a barrier, received by %s", how < POLLS ? poll_name[how] : how == POLLS ? "Iprobe" : "Improbe");
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank % 2 == 0) {
        for (int i = 0; i < FLOOD; i++) {
            values[i] = 7 * i;
            MPI_Isend(&values[i], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(FLOOD, requests, MPI_STATUSES_IGNORE);
        return;
    }
    memset(values, -1, sizeof values);
    if (how < POLLS) {
        for (int i = 0; i < FLOOD; i++)
            MPI_Irecv(&values[i], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[i]);
        poll_by((enum poll)how, FLOOD, requests);
    } else {
        double until = MPI_Wtime() + PATIENCE;
        for (int i = 0; i < FLOOD; i++) {
            int flag = 0;
            MPI_Message message;
            while (!flag && MPI_Wtime() < until) {
                if (how == POLLS)
                    MPI_Iprobe(peer, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
                else
                    MPI_Improbe(peer, 2, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
            }
            CHECK(flag);
            if (flag && how > POLLS)
                MPI_Mrecv(&values[i], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
            else
                MPI_Recv(&values[i], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < FLOOD; i++)
        wrong += values[i] != 7 * i;
    CHECK(wrong == 0);
}

/* A wait for something of the MPI's as well as for a rank in a barrier: the former comes late, the latter needs help even then. */
static void wait_for_both(void)
{
    int in = 0, out = world_rank;
    MPI_Request requests[2];

    trying("Waitall of an Issend to a rank in a barrier and of a receive from another node");
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) {
        MPI_Issend(&out, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&in, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(in == 2);
    } else if (world_rank == 1) {
        MPI_Irecv(&in, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &requests[0]);
    } else if (world_rank == 2) {
        for (double until = MPI_Wtime() + 0.1; MPI_Wtime() < until;)
            continue;
        MPI_Send(&out, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 1) {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        CHECK(in == 0);
    }
}

/* The send of an exchange waits behind others for room, and its receiver sits in a barrier. */
static void exchange_with_one_in_a_barrier(void)
{
    static MPI_Request requests[FLOOD + 1];
    static int values[FLOOD + 1];
    int peer = world_rank ^ 1, got = -1;

    trying("Isendrecv to a rank in a barrier, behind many messages");
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank % 2 == 0) {
        for (int i = 0; i <= FLOOD; i++)
            values[i] = 3 * i;
        for (int i = 0; i < FLOOD; i++)
            MPI_Isend(&values[i], 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[i]);
        MPI_Isendrecv(&values[FLOOD], 1, MPI_INT, peer, 7, &got, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, &requests[FLOOD]);
        MPI_Wait(&requests[FLOOD], MPI_STATUS_IGNORE);
        CHECK(got == world_rank + 1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(FLOOD, requests, MPI_STATUSES_IGNORE);
        return;
    }
    memset(values, -1, sizeof values);
    for (int i = 0; i <= FLOOD; i++)
        MPI_Irecv(&values[i], 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(&world_rank, 1, MPI_INT, peer, 8, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(FLOOD + 1, requests, MPI_STATUSES_IGNORE);
    int wrong = 0;
    for (int i = 0; i <= FLOOD; i++)
        wrong += values[i] != 3 * i;
    CHECK(wrong == 0);
}

/* MPI_Comm_disconnect waits for what has not left yet; its receiver, no member, sits in a barrier. */
static void disconnect_beside_one_in_a_barrier(void)
{
    static MPI_Request requests[FLOOD];
    static int values[FLOOD];
    MPI_Comm pair;

    trying("Comm_disconnect while messages wait for a rank in a barrier");
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 2 ? 1 : 0, world_rank, &pair);
    for (int i = 0; i < FLOOD; i++)
        values[i] = world_rank == 0 ? 5 * i : -1;
    if (world_rank == 0)
        for (int i = 0; i < FLOOD; i++)
            MPI_Isend(&values[i], 1, MPI_INT, 2, 9, MPI_COMM_WORLD, &requests[i]);
    if (world_rank == 2) {
        for (int i = 0; i < FLOOD; i++)
            MPI_Irecv(&values[i], 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &requests[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_disconnect(&pair);
    } else {
        MPI_Comm_disconnect(&pair);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (world_rank == 1)
        return;
    MPI_Waitall(FLOOD, requests, MPI_STATUSES_IGNORE);
    int wrong = 0;
    for (int i = 0; i < FLOOD; i++)
        wrong += values[i] != 5 * i;
    CHECK(wrong == 0);
}

/* Several receives at a time: would two of them have one request, one of the messages goes astray. */
static void requests_are_distinct(void)
{
    enum { N = 8 };
    int peer = world_rank ^ 1, in[N], out[N];
    MPI_Request requests[2 * N];

    for (int i = 0; i < N; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, peer, 10 + i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i; k++)
            CHECK(requests[i] != requests[k]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        out[i] = 100 * world_rank + i;
        MPI_Isend(&out[i], 1, MPI_INT, peer, 10 + i, MPI_COMM_WORLD, &requests[N + i]);
    }
    CHECK_CLASS(MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        CHECK(in[i] == 100 * peer + i);
}

/* MPI_Request_free of a receive whose message is there already, in our queue or still on its way into it, or comes later; from anywhere or from one rank. */
static void freed_receive(int source, int from, bool early, size_t bytes)
{
    int peer = world_rank ^ 1, mark = 0;
    char *in = calloc(1, bytes), *out = malloc(bytes);
    MPI_Request request, sent = MPI_REQUEST_NULL;

    trying("freed receive of %zu bytes from %d, sent by %d, %s", bytes, source, from, early ? "message there before" : "message later");
    fill(out, bytes, 9);
    MPI_Irecv(in, (int)bytes, MPI_BYTE, source, 3, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (early)
        MPI_Isend(out, (int)bytes, MPI_BYTE, from, 3, MPI_COMM_WORLD, &sent);
    PMPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Request_free(&request), MPI_SUCCESS);
    PMPI_Barrier(MPI_COMM_WORLD);
    if (!early)
        MPI_Isend(out, (int)bytes, MPI_BYTE, from, 3, MPI_COMM_WORLD, &sent);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&world_rank, 1, MPI_INT, peer, 4, &mark, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double until = MPI_Wtime() + PATIENCE; /* nothing but its buffer tells when a freed receive is complete */
    while (differs(in, bytes, 9) != 0 && MPI_Wtime() < until) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    CHECK(differs(in, bytes, 9) == 0);
    requests_are_distinct();
    requests_are_distinct();
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1, 24, 300, 5000, 1 << 20};
    int ranks;

    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 3) {
        for (int how = 0; how < 4; how++)
            for (int first = 0; first < 2; first++)
                send_to_either(how, first != 0);
        disconnect_beside_one_in_a_barrier();
        return finish("polling");
    }
    if (ranks == 4) {
        for (int i = 0; i < 5; i++)
            wait_for_both();
        return finish("polling");
    }
    exchange_with_one_in_a_barrier();
    for (int how = 0; how < POLLS; how++) {
        send_to_one_in_a_barrier((enum poll)how, 8);
        send_to_one_in_a_barrier((enum poll)how, 1 << 20);
    }
    for (int how = 0; how < POLLS + 2; how++)
        receive_from_one_in_a_barrier(how);
    for (int s = 0; s < 5; s++)
        for (int any = 0; any < 2; any++)
            for (int self = 0; self < 2; self++)
                for (int early = 0; early < 2; early++) {
                    int from = self ? world_rank : world_rank ^ 1;
                    freed_receive(any ? MPI_ANY_SOURCE : from, from, early != 0, sizes[s]);
                }
    return finish("polling");
}
