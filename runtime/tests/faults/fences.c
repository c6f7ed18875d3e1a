/* fences.c FILE - three ranks; rank 1 is killed before a fence that the others come to one after the other, and no launcher ends the job.  What came of it is
 * written to FILE, of rank 0 to FILE.first: launchers lose what is printed then.
 *
 * Rank 0 is told of the death by its fence, and goes on all the same, to another fence.  Rank 2 comes to its fence afterwards: rank 0's two must not pass for one
 * of its own and one of the rank that is dead. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void say(const char *file, const char *text)
{
    FILE *f = fopen(file, "w");
    if (!f)
        abort();
    fputs(text, f);
    fclose(f);
}

int main(int argc, char **argv)
{
    MPI_Win w;
    int rank;
    double *memory;
    char first[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(first, sizeof first, "%s.first", argv[1]);
    MPI_Win_allocate(1024, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, w);
    if (rank == 1)
        raise(SIGKILL);
    for (int i = 0; rank == 2 && i < 300 && access(first, R_OK); i++)
        usleep(100000);
    int rc = MPI_Win_fence(0, w);
    if (rank == 0) {
        int again = MPI_Win_fence(0, w);
        say(first, rc != MPI_SUCCESS && again != MPI_SUCCESS ? "told" : "NOT told");
        sleep(60); /* till the launcher ends it: its own end would have others told by the MPI */
    }
    say(argv[1], rc != MPI_SUCCESS ? "told" : "NOT told");
    kill(getpid(), SIGKILL); /* the MPI below may wait for the other ranks */
    return 0;
}
