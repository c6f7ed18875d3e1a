/*
 * Messages from one rank to another on one communicator do not overtake: 1000 of mixed sizes and forms, received in mixed
 * forms by exact and wildcard receives, from each other rank; and messages that are received in another order by tag.
 */
#include "../forms.h"

#define MESSAGES 1000
#define LARGEST 70000

static int ranks;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* The same on both sides: message i of a rank. */
static size_t size_of(int source, int i)
{
    static const size_t sizes[] = {4, 8, 40, 48, 56, 512, 4096, 9000, LARGEST};
    unsigned state = (unsigned)(source * MESSAGES + i);
    next_random(&state);
    return sizes[next_random(&state) % 9];
}

static void send_all(void)
{
    unsigned state = 42u + (unsigned)world_rank;
    for (int i = 0; i < MESSAGES; i++) {
        enum send_form form = next_random(&state) % SEND_FORMS;
        trying("message %d by %s", i, send_name[form]);
        send_by(form, next_random(&state) % 2, size_of(world_rank, i), (unsigned)i, 0, 1, MPI_COMM_WORLD);
    }
}

/* Receives all; each source's messages must come in the order in which they were sent. */
static void receive_all(int wild)
{
    int next[64] = {0};
    unsigned state = 7;

    for (int k = 0; k < MESSAGES * (ranks - 1); k++) {
        enum recv_form form = next_random(&state) % RECV_FORMS;
        int source = MPI_ANY_SOURCE;
        MPI_Status seen;
        struct reception r;

        trying("receive %d by %s, wild %d", k, recv_name[form], wild);
        if (!wild) {
            source = 1 + k % (ranks - 1);
        } else { /* the probe names the source, whose next message the wildcard receive must then bring */
            MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &seen);
            source = seen.MPI_SOURCE;
        }
        int i = next[source]++;
        begin_receive(&r, form, next_random(&state) % 2, LARGEST, source, wild ? MPI_ANY_TAG : 1, MPI_COMM_WORLD);
        end_receive(&r, size_of(source, i), (unsigned)i, source, 1);
    }
}

/* Posted receives are matched in the order of posting, wildcards among them. */
static void posting_order(void)
{
    struct reception r[30];

    if (world_rank == 0) {
        for (int i = 0; i < 30; i++)
            begin_receive(&r[i], i % 2 ? IRECV : ITAKE, PRIVATE, 5000, i % 3 ? 1 : MPI_ANY_SOURCE, i % 5 ? 2 : MPI_ANY_TAG, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD);
        for (int i = 29; i >= 0; i--) {
            trying("posted receive %d", i);
            end_receive(&r[i], i % 7 ? 5000 : 8, (unsigned)i, 1, 2);
        }
    } else if (world_rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 30; i++)
            send_by(i % SEND_FORMS, i % 2, i % 7 ? 5000 : 8, (unsigned)i, 0, 2, MPI_COMM_WORLD);
    }
}

/* Unexpected messages are found by tag, the last first. */
static void by_tag(size_t bytes)
{
    MPI_Request request[40];
    void *buffer[40];

    trying("by tag, %zu bytes", bytes);
    if (world_rank == 1) {
        for (int i = 0; i < 40; i++) {
            buffer[i] = new_buffer(ALLOCATED, bytes);
            fill(buffer[i], bytes, (unsigned)i);
            if (i % 2)
                OPI_Igive(&buffer[i], (int)bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &request[i]);
            else
                MPI_Isend(buffer[i], (int)bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &request[i]);
        }
        CHECK_CLASS(MPI_Waitall(40, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        for (int i = 0; i < 40; i += 2)
            drop_buffer(ALLOCATED, buffer[i]);
    } else if (world_rank == 0) {
        for (int i = 39; i >= 0; i--) {
            struct reception r;
            begin_receive(&r, i % RECV_FORMS, i % 2, bytes + 8, i % 4 ? 1 : MPI_ANY_SOURCE, i, MPI_COMM_WORLD);
            end_receive(&r, bytes, (unsigned)i, 1, i);
        }
    }
}

/* A receive after a wildcard that waits is not held up by it where the wildcard does not want the message; and the
 * wildcard gets what it wants, also when the other receive would match it too. */
static void behind_a_wildcard(size_t bytes)
{
    trying("after a wildcard, %zu bytes", bytes);
    if (world_rank == 0) {
        struct reception first, second, third;
        begin_receive(&first, IRECV, PRIVATE, bytes, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD);
        begin_receive(&second, ITAKE, PRIVATE, bytes, 1, MPI_ANY_TAG, MPI_COMM_WORLD);
        begin_receive(&third, IRECV, PRIVATE, bytes, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        end_receive(&second, bytes, 3, 1, 3);
        MPI_Barrier(MPI_COMM_WORLD);
        end_receive(&first, bytes, 4, 1, 1);
        end_receive(&third, bytes, 5, 1, 2);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 1)
            send_by(SSEND, PRIVATE, bytes, 3, 0, 3, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (world_rank == 1) {
            send_by(SEND, PRIVATE, bytes, 4, 0, 1, MPI_COMM_WORLD);
            send_by(SSEND, PRIVATE, bytes, 5, 0, 2, MPI_COMM_WORLD);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A synchronous send or give is over when its message is being received, not before: what follows it has not come yet. */
static void not_before(enum send_form form, size_t bytes)
{
    trying("%s of %zu bytes is synchronous", send_name[form], bytes);
    if (world_rank == 1) {
        send_by(form, PRIVATE, bytes, 6, 0, 4, MPI_COMM_WORLD);
        send_by(SEND, PRIVATE, 8, 7, 0, 5, MPI_COMM_WORLD);
    } else if (world_rank == 0) {
        struct reception r;
        int there = 0;
        double until = MPI_Wtime() + 0.02;
        while (MPI_Wtime() < until) {
            MPI_Iprobe(1, 5, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
            CHECK(!there);
        }
        begin_receive(&r, TAKE, PRIVATE, bytes, 1, 4, MPI_COMM_WORLD);
        end_receive(&r, bytes, 6, 1, 4);
        begin_receive(&r, RECV, PRIVATE, 8, 1, 5, MPI_COMM_WORLD);
        end_receive(&r, 8, 7, 1, 5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 8, 4096, 1 << 20};

    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int s = 0; s < 4; s++) {
        not_before(SSEND, sizes[s]);
        not_before(SGIVE, sizes[s]);
    }
    behind_a_wildcard(8);
    behind_a_wildcard(50000);
    for (int wild = 0; wild < 2; wild++) {
        if (world_rank == 0)
            receive_all(wild);
        else
            send_all();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    posting_order();
    MPI_Barrier(MPI_COMM_WORLD);
    by_tag(8);
    by_tag(4096);
    by_tag(100000);
    return finish("order");
}
