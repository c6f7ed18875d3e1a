/*
 * The target takes no part: while it is outside of MPI, an origin locks, puts, fetches and unlocks. It looks at its memory until the last value is there, or
 * five seconds are over. Not for fibers, of which only one runs at a time.
 */
#include "../mpi/check.h"

static double seconds(void)
{
    return MPI_Wtime(); /* a clock, not progress: libopi does not have this call */
}

static void one(const char *kind, MPI_Win win, volatile long *mine, int rank)
{
    long v = 41, got = -1;
    trying("%s", kind);
    mine[0] = mine[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        double until = seconds() + 5;
        while (!mine[1] && seconds() < until) {
        }
        CHECK(mine[1] == 7);
        CHECK(mine[0] == 42);
    } else if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        v = 1;
        MPI_Fetch_and_op(&v, &got, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        v = 7;
        MPI_Put(&v, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
        CHECK(got == 41);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    long own[2], *given; /* own: on the stack, which is private memory of a process */
    int rank, sum;
    MPI_Win win;
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(own, sizeof own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    one("create", win, own, rank);
    MPI_Win_free(&win);
    MPI_Win_allocate(2 * sizeof *given, sizeof *given, MPI_INFO_NULL, MPI_COMM_WORLD, &given, &win);
    one("allocate", win, given, rank);
    MPI_Win_free(&win);
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("late: %s, %d failures\n", sum ? "FAILED" : "ok", sum);
    MPI_Finalize();
    return sum != 0;
}
