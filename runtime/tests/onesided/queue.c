/*
 * Who has a shared lock of a target waits for one that wants another, while a third one waits for an exclusive lock: those who wait for exclusive ones go first for
 * a while, and not for ever. Needs four ranks.
 */
#include "../mpi/check.h"

enum { TARGET, HOLDER, WRITER, READER };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, token = 0;
    long *mine, one = 1, seen = -1;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    *mine = 40;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == HOLDER) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        MPI_Get(&seen, 1, MPI_LONG, TARGET, 0, 1, MPI_LONG, win);
        MPI_Win_flush(TARGET, win);
        MPI_Send(&token, 1, MPI_INT, WRITER, 0, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, READER, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* sent once the reader has its lock */
        MPI_Win_unlock(TARGET, win);
        wrong = seen != 40;
    } else if (rank == WRITER) {
        MPI_Recv(&token, 1, MPI_INT, HOLDER, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&token, 1, MPI_INT, READER, 0, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
        MPI_Accumulate(&one, 1, MPI_LONG, TARGET, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_unlock(TARGET, win);
    } else if (rank == READER) {
        MPI_Recv(&token, 1, MPI_INT, WRITER, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (double until = MPI_Wtime() + 0.02; MPI_Wtime() < until;) { /* the writer waits by now */
            int flag;
            MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        MPI_Get(&seen, 1, MPI_LONG, TARGET, 0, 1, MPI_LONG, win);
        MPI_Win_flush(TARGET, win);
        MPI_Send(&token, 1, MPI_INT, HOLDER, 0, MPI_COMM_WORLD);
        MPI_Win_unlock(TARGET, win);
        wrong = seen != 40;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == TARGET) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        wrong = *mine != 41;
        MPI_Win_unlock(TARGET, win);
    }
    MPI_Win_free(&win);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("queue: %s, %d failures\n", wrong ? "FAILED" : "ok", wrong);
    MPI_Finalize();
    return wrong != 0;
}
