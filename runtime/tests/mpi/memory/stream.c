/*
 * A one-way stream of 100,000 messages in bounded memory, by givers and senders against takers and receivers, the receiver
 * slower than the sender. Buffers only ever move one way, so they must find their way home.
 *   stream [messages]
 */
#define _GNU_SOURCE
#include <time.h>

#include "../forms.h"

#define BYTES 8192
#define LIMIT_KIB (192 * 1024) /* a quarter of what 100,000 messages weigh */

/* Resident memory of this process in KiB, shared pages included. */
static long resident_kib(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kib;
}

static void stream(enum send_form sender, enum recv_form receiver, int messages)
{
    long most = 0;

    trying("%d messages by %s to %s", messages, send_name[sender], recv_name[receiver]);
    for (int i = 0; i < messages; i++) {
        if (world_rank == 0) {
            char *p = new_buffer(gives(sender) ? ALLOCATED : PRIVATE, BYTES);
            memset(p, i, BYTES);
            if (sender == GIVE)
                CHECK_CLASS(OPI_Give(&p, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
            else
                CHECK_CLASS(MPI_Send(p, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD), MPI_SUCCESS);
            if (!gives(sender))
                free(p);
        } else if (world_rank == 1) {
            char *p = receiver == TAKE ? NULL : malloc(BYTES);
            if (i % 500 == 0)
                nanosleep(&(struct timespec){0, 200000}, NULL);
            if (receiver == TAKE)
                CHECK_CLASS(OPI_Take(&p, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
            else
                CHECK_CLASS(MPI_Recv(p, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
            CHECK(p != NULL && p[0] == (char)i && p[BYTES - 1] == (char)i && p[BYTES / 2] == (char)i);
            if (receiver == TAKE)
                OPI_Free(&p);
            else
                free(p);
        }
        if (i % 5000 == 0 && resident_kib() > most)
            most = resident_kib();
    }
    if (most > LIMIT_KIB)
        trying("%d messages by %s to %s: %ld KiB resident", messages, send_name[sender], recv_name[receiver], most);
    CHECK(most <= LIMIT_KIB);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int messages = argc > 1 ? atoi(argv[1]) : 100000;

    start(&argc, &argv);
    stream(GIVE, TAKE, messages);
    stream(GIVE, RECV, messages);
    stream(SEND, TAKE, messages);
    stream(SEND, RECV, messages);
    return finish("stream");
}
