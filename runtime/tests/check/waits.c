/* Every call that waits, for a message that comes or goes a while later: OPI_PROFILE's `waiting_s` is about what the program itself measures.
 *
 * Prints `waits: SECONDS` for all calls together, as rank 0 saw them. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { KINDS = 9, NAP_MS = 150 };

static void nap(void)
{
    struct timespec t = {0, NAP_MS * 1000000L};
    nanosleep(&t, NULL);
}

/* Rank 0 waits for rank 1, which sleeps. */
static void wait_by(int kind)
{
    int value = 0, index, some, indices[2];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message message;

    if (kind == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (kind == 1)
        MPI_Ssend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else if (kind == 2)
        MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (kind == 3)
        MPI_Mprobe(1, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    else if (kind == 4)
        MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[1]);
    if (kind == 5)
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    else if (kind == 6)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    else if (kind == 7)
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    else if (kind == 8)
        MPI_Waitsome(2, requests, &some, indices, MPI_STATUSES_IGNORE);
    else if (kind == 2)
        MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (kind == 3)
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, value = 1;
    double measured = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double from = MPI_Wtime();
        if (rank == 0) {
            wait_by(kind);
            measured += MPI_Wtime() - from;
            continue;
        }
        nap();
        if (kind == 0) {
            MPI_Request request;
            MPI_Send_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
            MPI_Startall(1, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Request_free(&request);
        } else if (kind == 1)
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        printf("waits: %.6f\n", measured);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
