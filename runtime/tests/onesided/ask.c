/*
 * Copies to and from private memory: a target that waits in a call of MPI makes them, the kernel those of one that does not. This program counts the
 * kernel's, by a function of its own in the place of the C library's. Processes only; two or more.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "../mpi/check.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define LONGS 32768
#define WANTED 50 /* copies by a target that waits and has a processor for itself */

static long by_kernel;

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

static int rank, size;
static long *mine;
static MPI_Win win;
static uint64_t drawn;

static unsigned draw(unsigned below)
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(drawn >> 33) % below;
}

static void compute(double us)
{
    for (double until = MPI_Wtime() + 1e-6 * us; MPI_Wtime() < until;)
        ;
}

/* Some values are put and got again, each by one copy; how many of the two the kernel made. */
static long there_and_back(int target, int at, int n, long value)
{
    static long out[LONGS], in[LONGS];
    long before = by_kernel;
    for (int i = 0; i < n; i++) {
        out[i] = value * 1000 + i;
        in[i] = -1;
    }
    MPI_Put(out, n, MPI_LONG, target, at, n, MPI_LONG, win);
    MPI_Win_flush(target, win);
    MPI_Get(in, n, MPI_LONG, target, at, n, MPI_LONG, win);
    MPI_Win_flush(target, win);
    CHECK(memcmp(in, out, (size_t)n * sizeof *in) == 0);
    return by_kernel - before;
}

/* Two ranks get a processor each, for themselves. False where that is not to be had: then it may be that nobody runs to answer. */
static int apart(cpu_set_t *before)
{
    int n = 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof *before, before) != 0 || CPU_COUNT(before) < 2)
        return 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, before) && n++ == rank)
            CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 && sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){1}) == 0;
}

static void together(const cpu_set_t *before)
{
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
    sched_setaffinity(0, sizeof *before, before);
}

/* Asks until so many copies were the target's, or so many seconds are over. `more`: what it waits for is sent again and again, since it sleeps when it has waited long. */
static long until_served(const char *how, long wanted, double seconds, int more)
{
    long served = 0, value = 0;
    double until = MPI_Wtime() + seconds;
    trying("%s", how);
    while (served < wanted && MPI_Wtime() < until) {
        served += 2 - there_and_back(1, (int)draw(16), 1 + (int)draw(draw(4) ? 200 : 1000), ++value);
        if (more)
            MPI_Send(&more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    return served;
}

/* It asks again and again whether something has come, and so never sleeps: on a machine with other work, too, both may run at once now and then, but need not. */
static void a_target_that_probes(void)
{
    int more = 0, there = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        if (until_served("a probe", 1, 5, 0) == 0)
            puts("ask: the target did not answer");
        MPI_Send(&more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        while (!there)
            MPI_Iprobe(0, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Of two ranks: a third one would take their processors. */
static void a_target_that_waits(void)
{
    int more = 0, ok, all;
    cpu_set_t before;
    ok = apart(&before);
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) {
        together(&before);
        if (rank == 0)
            puts("ask: no rank has a processor for itself");
        return;
    }
    if (rank == 0)
        CHECK(until_served("a barrier", WANTED, 60, 0) >= WANTED);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK(until_served("a receive", WANTED, 60, 1) >= WANTED);
        MPI_Send(&more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1)
        do
            MPI_Recv(&more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        while (more);
    together(&before);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* It is outside of MPI until it finds in its memory what was put last. */
static void a_target_that_computes(void)
{
    volatile long *last = &mine[LONGS - 1];
    long kernels = 0, end = 7;
    double until = MPI_Wtime() + 60;
    trying("computing");
    *last = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        while (*last != end && MPI_Wtime() < until)
            ;
        CHECK(*last == end);
    } else if (rank == 0) {
        usleep(20000); /* it has left the barrier */
        there_and_back(1, 0, 8, 1);
        for (int i = 0; i < 100; i++)
            kernels += there_and_back(1, i, 1 + i, i);
        CHECK(kernels == 200);
        MPI_Put(&end, 1, MPI_LONG, 1, LONGS - 1, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Larger than a question may be: in parts, of which a target may copy some and the kernel the others. */
static void large_ones(void)
{
    trying("large");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < 200; i++)
            there_and_back(1, (int)draw(100), 1000 + (int)draw(LONGS - 1100), i);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Everybody asks everybody, with pauses in which nobody answers: questions are answered, withdrawn, and taken up while they are being withdrawn. */
static void all_at_once(int rounds)
{
    int part = LONGS / 2 / size, sum, n;
    long one = 1, old;
    trying("all at once");
    mine[LONGS - 1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        int target = (rank + 1 + (int)draw((unsigned)size - 1)) % size;
        n = 1 + (int)draw(draw(4) ? 4 : (unsigned)part);
        there_and_back(target, rank * part, n, i);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, target, LONGS - 1, MPI_SUM, win);
        MPI_Put(&one, 1, MPI_LONG, target, LONGS / 2 + rank * 2, 1, MPI_LONG, win); /* pieces with gaps, flushed by the next round */
        MPI_Put(&old, 1, MPI_LONG, target, LONGS / 2 + 2 * size + rank * 2, 1, MPI_LONG, win);
        switch (draw(4)) {
        case 0:
            compute(draw(6));
            break;
        case 1:
            MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &sum, MPI_STATUS_IGNORE);
            break;
        case 2:
            if (draw(16) == 0)
                usleep(50);
            break;
        }
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    n = (int)mine[LONGS - 1];
    MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == rounds * size);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each round in an epoch of its own, where those who wait for the others answer them. */
static void fences(int rounds)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    long out[2], in[2];
    trying("fences");
    MPI_Win_fence(0, win);
    for (int i = 0; i < rounds; i++) {
        out[0] = rank * 100000L + i;
        out[1] = ~out[0];
        MPI_Put(out, 2, MPI_LONG, next, 10, 2, MPI_LONG, win);
        MPI_Win_fence(0, win);
        CHECK(mine[10] == before * 100000L + i && mine[11] == ~mine[10]);
        MPI_Get(in, 2, MPI_LONG, next, 10, 2, MPI_LONG, win);
        if (draw(4) == 0)
            compute(draw(10));
        MPI_Win_fence(0, win);
        CHECK(in[0] == out[0] && in[1] == out[1]);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

int main(int argc, char **argv)
{
    int sum, rounds = argc > 1 ? atoi(argv[1]) : 400;
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    drawn = (uint64_t)rank + 1;
    mine = calloc(LONGS, sizeof *mine);
    for (int again = 0; again < 2; again++) {
        MPI_Win_create(mine, LONGS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_lock_all(0, win);
        a_target_that_probes();
        if (size == 2)
            a_target_that_waits();
        a_target_that_computes();
        large_ones();
        all_at_once(rounds);
        MPI_Win_unlock_all(win);
        fences(rounds / 16);
        MPI_Win_free(&win);
    }
    free(mine);
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("ask: %s, %d failures\n", sum ? "FAILED" : "ok", sum);
    MPI_Finalize();
    return sum != 0;
}
