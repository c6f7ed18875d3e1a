/*
 * Windows of MPI_Win_create over buffers that are owned: allocated with OPI_Alloc, and taken from another rank. Puts, gets
 * and sums reach them by loads and stores: this program counts the kernel's copies, by functions of its own in the place
 * of the C library's. A buffer is given away when its window is freed, and what was put into it arrives.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "../mpi/check.h"

#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define WORDS 3000

static _Atomic int by_kernel;

ssize_t process_vm_readv(pid_t pid, const struct iovec *mine, unsigned long n, const struct iovec *theirs, unsigned long m, unsigned long flags)
{
    by_kernel++;
    return syscall(SYS_process_vm_readv, pid, mine, n, theirs, m, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *mine, unsigned long n, const struct iovec *theirs, unsigned long m, unsigned long flags)
{
    by_kernel++;
    return syscall(SYS_process_vm_writev, pid, mine, n, theirs, m, flags);
}

static int word(int writer, int round, int i)
{
    return writer * 1000000 + round * 10000 + i;
}

int main(int argc, char **argv)
{
    int rank, ranks, sum, *out, *in, *mine;
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    CHECK(OPI_Alloc(&mine, WORDS * sizeof *mine) == MPI_SUCCESS);
    CHECK(OPI_Alloc(&out, WORDS * sizeof *out) == MPI_SUCCESS);
    in = calloc(WORDS, sizeof *in);
    for (int round = 0; round < 6; round++) {
        MPI_Win win;
        MPI_Request given;
        trying("round %d", round);
        int here, wrong = 0, one = 1;
        for (int i = 0; i < WORDS; i++)
            out[i] = word(rank, round, i);
        MPI_Win_create(mine, WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        here = by_kernel; /* Open MPI copies so itself while it makes a window */
        MPI_Win_fence(0, win);
        MPI_Put(out, WORDS, MPI_INT, next, 0, WORDS, MPI_INT, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < WORDS; i++)
            wrong += mine[i] != word(before, round, i);
        CHECK(wrong == 0);
        MPI_Win_fence(0, win);
        MPI_Accumulate(&one, 1, MPI_INT, next, WORDS - 1, 1, MPI_INT, MPI_SUM, win);
        MPI_Get(in, WORDS - 1, MPI_INT, next, 0, WORDS - 1, MPI_INT, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        for (int i = 0; i < WORDS - 1; i++)
            wrong += in[i] != out[i];
        CHECK(wrong == 0);
        CHECK(by_kernel == here);
        MPI_Win_free(&win);
        /* Its owner is the rank before from now on, and exposes it in the next round. */
        CHECK(OPI_Igive(&mine, WORDS, MPI_INT, before, round, MPI_COMM_WORLD, &given) == MPI_SUCCESS);
        CHECK(mine == NULL);
        CHECK(OPI_Take(&mine, WORDS, MPI_INT, next, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        MPI_Wait(&given, MPI_STATUS_IGNORE);
        for (int i = 0; i < WORDS; i++)
            wrong += mine[i] != word(rank, round, i) + (i == WORDS - 1);
        CHECK(wrong == 0);
    }
    OPI_Free(&mine);
    OPI_Free(&out);
    free(in);
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("owned: %s, %d failures\n", sum ? "FAILED" : "ok", sum);
    MPI_Finalize();
    return sum != 0;
}
