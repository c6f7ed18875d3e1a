/* Who tests in a loop lets others have the processor at some of the tests, where there are more ranks than processors: at each one it would wait for whatever else
 * runs on the machine.  MPIX_Yield does so whenever it is called. */
#include <mpi.h>
#include <opix.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))

enum { TESTS = 3200, YIELDS = 100 };
static const MPI_Comm world = MPI_COMM_WORLD;
static _Thread_local int given; /* how often this thread gave its processor away */

int sched_yield(void); /* in the place of the C library's */
int sched_yield(void) {
    given++;
    return (int)syscall(SYS_sched_yield);
}

static void often(int rank, int crowded, const char *what) {
    if (crowded ? given < TESTS / 100 || given > TESTS / 8 : given > 0)
        FAIL("%s: the processor was given away %d times", what, given);
    given = 0;
}

int main(int argc, char **argv) {
    int rank, size, flag, in = 0, out = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    int crowded = size > sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Request r;
    MPI_Irecv(&in, 1, MPI_INT, rank, 1, world, &r);
    given = 0;
    for (int i = 0; i < TESTS; i++) {
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        if (flag)
            FAIL("a message that nobody has sent");
    }
    often(rank, crowded, "MPI_Test");
    for (int i = 0; i < TESTS; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 2, world, &flag, MPI_STATUS_IGNORE);
        if (flag)
            FAIL("a message that nobody has sent");
    }
    often(rank, crowded, "MPI_Iprobe");
    for (int i = 0; i < YIELDS; i++)
        MPIX_Yield();
    if (given < (crowded ? YIELDS : 0))
        FAIL("MPIX_Yield: the processor was given away %d times", given);
    MPI_Send(&out, 1, MPI_INT, rank, 1, world);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (in != 1)
        FAIL("got %d", in);
    MPI_Barrier(world);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
}
