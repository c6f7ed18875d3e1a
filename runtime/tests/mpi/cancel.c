/* MPI_Cancel and MPI_Request_free on requests of ours: a cancelled Itake leaves NULL, a cancelled receive takes nothing. */
#include "forms.h"

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled = 0, peer;
    char buffer[40], *p = NULL;

    start(&argc, &argv);
    peer = world_rank ^ 1;
    memset(buffer, CANARY, sizeof buffer);

    trying("cancelled Irecv");
    MPI_Irecv(buffer, 40, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
    CHECK_CLASS(MPI_Cancel(&request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled);
    CHECK((unsigned char)buffer[0] == CANARY);

    trying("cancelled Itake");
    OPI_Itake(&p, 40, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
    CHECK_CLASS(MPI_Cancel(&request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled && p == NULL);
    MPI_Barrier(MPI_COMM_WORLD);

    trying("the message goes to the next receive");
    struct reception r;
    begin_receive(&r, ITAKE, PRIVATE, 40, peer, 1, MPI_COMM_WORLD);
    send_by(SEND, PRIVATE, 40, 2, peer, 1, MPI_COMM_WORLD);
    end_receive(&r, 40, 2, peer, 1);
    MPI_Test_cancelled(&r.status, &cancelled);
    CHECK(!cancelled);

    trying("freed requests");
    unsigned char out[4096];
    fill(out, sizeof out, 6);
    MPI_Isend(out, 4096, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
    CHECK_CLASS(MPI_Request_free(&request), MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
    OPI_Alloc(&p, 4096);
    fill(p, 4096, 7);
    OPI_Igive(&p, 4096, MPI_BYTE, peer, 3, MPI_COMM_WORLD, &request);
    CHECK_CLASS(MPI_Request_free(&request), MPI_SUCCESS);
    begin_receive(&r, RECV, PRIVATE, 4096, peer, 2, MPI_COMM_WORLD);
    end_receive(&r, 4096, 6, peer, 2);
    begin_receive(&r, TAKE, PRIVATE, 4096, peer, 3, MPI_COMM_WORLD);
    end_receive(&r, 4096, 7, peer, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    return finish("cancel");
}
