/*
 * How a job ends.
 *   ending fatal   an error under the default handler prints the call and kills the job
 *   ending abort   MPI_Abort(comm, 5)
 *   ending killed  a rank dies by SIGKILL while the others wait for it
 *   ending pending a rank leaves a Give that nobody took, and finalizes
 */
#include <signal.h>
#include <unistd.h>

#include "../forms.h"

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    char *p = NULL;

    start(&argc, &argv);
    OPI_Alloc(&p, 100000);
    memset(p, 1, 100000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "fatal") == 0 && world_rank == 1) {
        OPI_Give(&p, 1, MPI_BYTE, 9999, 0, MPI_COMM_WORLD);
    } else if (strcmp(how, "abort") == 0 && world_rank == 1) {
        MPI_Abort(MPI_COMM_WORLD, 5);
    } else if (strcmp(how, "killed") == 0 && world_rank == 1) {
        raise(SIGKILL);
    } else if (strcmp(how, "pending") == 0) {
        MPI_Request request;
        if (world_rank == 0) {
            OPI_Igive(&p, 100000, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
            CHECK(p == NULL);
            MPI_Barrier(MPI_COMM_WORLD);
            CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            if (world_rank == 1) {
                struct reception r;
                begin_receive(&r, RECV, PRIVATE, 100000, 0, 0, MPI_COMM_WORLD);
                drop_buffer(r.memory, r.buffer);
            }
            OPI_Free(&p);
        }
        return finish("ending");
    }
    OPI_Take(&p, 8, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* nobody sends this */
    return finish("ending");
}
