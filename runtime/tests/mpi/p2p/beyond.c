/*
 * Point-to-point forms beyond Send, Isend, Ssend, Issend, Recv, Irecv, Sendrecv and the probes, in a program that uses
 * opi.h: each works against a Give or a Take; partitioned ones, which match nothing but themselves, against each other.
 *   beyond FORM...
 */
#include "../forms.h"

#define N 1000

static unsigned char data[N], got[N];

static void take_from(int source)
{
    struct reception r;
    begin_receive(&r, TAKE, PRIVATE, N, source, 1, MPI_COMM_WORLD);
    end_receive(&r, N, 3, source, 1);
}

static void one_side(const char *form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int peer = 1;

    fill(data, N, 3);
    if (strcmp(form, "MPI_Bsend") == 0 || strcmp(form, "MPI_Ibsend") == 0) {
        static char space[N + MPI_BSEND_OVERHEAD + 1024];
        char *detached;
        int size;
        MPI_Buffer_attach(space, sizeof space);
        if (strcmp(form, "MPI_Bsend") == 0)
            MPI_Bsend(data, N, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        else
            MPI_Ibsend(data, N, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Buffer_detach(&detached, &size);
    } else if (strcmp(form, "MPI_Rsend") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Rsend(data, N, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        return;
    } else if (strcmp(form, "MPI_Irsend") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irsend(data, N, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    } else if (strcmp(form, "MPI_Send_init") == 0 || strcmp(form, "MPI_Ssend_init") == 0) {
        if (strcmp(form, "MPI_Send_init") == 0)
            MPI_Send_init(data, N, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
        else
            MPI_Ssend_init(data, N, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else if (strcmp(form, "MPI_Recv_init") == 0) {
        MPI_Recv_init(got, N, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        MPI_Request_free(&request);
        CHECK(differs(got, N, 4) == 0);
    } else if (strcmp(form, "MPI_Sendrecv_replace") == 0) {
        MPI_Sendrecv_replace(data, N, MPI_BYTE, peer, 1, peer, 2, MPI_COMM_WORLD, &status);
        CHECK(differs(data, N, 4) == 0);
    } else if (strcmp(form, "MPI_Mprobe") == 0 || strcmp(form, "MPI_Improbe") == 0) {
        MPI_Message message;
        int flag = 0;
        if (strcmp(form, "MPI_Mprobe") == 0)
            MPI_Mprobe(peer, 2, MPI_COMM_WORLD, &message, &status);
        else
            while (!flag)
                MPI_Improbe(peer, 2, MPI_COMM_WORLD, &flag, &message, &status);
        if (strcmp(form, "MPI_Mprobe") == 0) {
            MPI_Mrecv(got, N, MPI_BYTE, &message, &status);
        } else {
            MPI_Imrecv(got, N, MPI_BYTE, &message, &request);
            MPI_Wait(&request, &status);
        }
        CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == peer && status.MPI_TAG == 2);
        CHECK(differs(got, N, 4) == 0);
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    } else if (strcmp(form, "MPI_Isendrecv") == 0) {
        MPI_Isendrecv(data, N, MPI_BYTE, peer, 1, got, N, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        CHECK(differs(got, N, 4) == 0);
    } else if (strcmp(form, "MPI_Isendrecv_replace") == 0) {
        MPI_Isendrecv_replace(data, N, MPI_BYTE, peer, 1, peer, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        CHECK(differs(data, N, 4) == 0);
    } else if (strcmp(form, "MPI_Psend_init") == 0) {
        MPI_Psend_init(data, 1, N, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
#endif
    } else {
        fprintf(stderr, "beyond: no form %s\n", form);
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
}

static int has(const char *form, const char *part)
{
    return strstr(form, part) != NULL;
}

static void other_side(const char *form)
{
    int both = has(form, "Sendrecv_replace") || has(form, "Isendrecv");
    int receives_there = has(form, "Recv_init") || has(form, "robe") || both;

    if (receives_there)
        send_by(GIVE, PRIVATE, N, 4, 0, 2, MPI_COMM_WORLD);
    if (has(form, "Rsend") || has(form, "Irsend")) {
        struct reception r;
        begin_receive(&r, ITAKE, PRIVATE, N, 0, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        end_receive(&r, N, 3, 0, 1);
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    } else if (has(form, "Psend_init")) {
        MPI_Request request;
        MPI_Precv_init(got, 1, N, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        CHECK(differs(got, N, 3) == 0);
#endif
    } else if (!receives_there || both) {
        take_from(0);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        trying("%s", argv[i]);
        if (world_rank == 0)
            one_side(argv[i]);
        else if (world_rank == 1)
            other_side(argv[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return finish("beyond");
}
