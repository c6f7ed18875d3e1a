/*
 * The limit for opbench: the same computation, pack and unpack loops, but the message is a pointer handed through a
 * shared mailbox between two processes. No matching, no envelope, no request, no status: what remains is the hand-off of
 * one cache line and the cost of touching the data.
 *
 *   bare ITERATIONS MAX_BYTES CPU0 CPU1
 *
 * Prints opbench's lines.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIN_BYTES 8
#define MAX_BYTES (4 << 20)
#define MAX_COUNT (MAX_BYTES / (int)sizeof(double))
#define SIDES 4
#define MAX_ITERATIONS 5000
#define MIN_ITERATIONS 20
#define WARM_UP 10
#define BYTES_PER_SIZE (256 << 20)
#define BUFFERS_PER_RANK 2
#define POOL 8
#define SPINS_BEFORE_YIELD 20000

/* One per direction. The sender stores a pointer with release order after the pack, so the receiver, which loads it with
 * acquire order, sees the packed bytes; the receiver stores NULL with release order, so its reads of the slot are over
 * before the sender stores again. Each on a cache line of its own (128: adjacent lines are fetched in pairs). */
struct mailbox {
    alignas(128) _Atomic(double *) slot;
};

struct shared {
    struct mailbox to[2];
    alignas(128) atomic_int arrived; /* barrier: both ranks count up, in order of their own program */
    alignas(128) double result[3];   /* rank 1 writes before a barrier, rank 0 reads after it */
    int wrong;
};

static double field[MAX_COUNT];
static double ghost[SIDES][MAX_COUNT];
static double *pool[POOL];
static int pooled;
static int barriers;
static struct shared *shared;

static void pause_or_yield(int *spins)
{
    if (++*spins > SPINS_BEFORE_YIELD)
        sched_yield();
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void barrier(void)
{
    int spins = 0;

    barriers += 2;
    atomic_fetch_add_explicit(&shared->arrived, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&shared->arrived, memory_order_acquire) < barriers)
        pause_or_yield(&spins);
}

static void give(double *buffer, int peer)
{
    int spins = 0;
    _Atomic(double *) *slot = &shared->to[peer].slot;

    while (atomic_load_explicit(slot, memory_order_acquire) != NULL)
        pause_or_yield(&spins);
    atomic_store_explicit(slot, buffer, memory_order_release);
}

static double *take(int rank)
{
    int spins = 0;
    double *buffer;
    _Atomic(double *) *slot = &shared->to[rank].slot;

    while ((buffer = atomic_load_explicit(slot, memory_order_acquire)) == NULL)
        pause_or_yield(&spins);
    atomic_store_explicit(slot, NULL, memory_order_release);
    return buffer;
}

static double start_value(int rank, int i)
{
    return (double)(i + 1) + 0.5 * rank;
}

static void compute(int n)
{
    for (int i = 0; i < n; i++)
        field[i] = 0.25 * (ghost[0][i] + ghost[1][i] + ghost[2][i] + ghost[3][i]) + 1.0;
}

static void exchange(int n, int side, int rank)
{
    double *sendbuf = pool[--pooled];

    for (int i = 0; i < n; i++)
        sendbuf[i] = field[i];
    give(sendbuf, 1 - rank);
    double *recvbuf = take(rank);
    for (int i = 0; i < n; i++)
        ghost[side][i] = recvbuf[i];
    pool[pooled++] = recvbuf;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int iterations_for(int bytes, int most)
{
    long fit = (long)BYTES_PER_SIZE / (SIDES * (long)bytes);
    if (fit > most)
        fit = most;
    return fit < MIN_ITERATIONS ? MIN_ITERATIONS : (int)fit;
}

static int run_size(int n, int iterations, int rank, double *samples)
{
    int peer = 1 - rank;
    int steps = WARM_UP + iterations;

    for (int i = 0; i < n; i++)
        for (int side = 0; side < SIDES; side++)
            ghost[side][i] = start_value(peer, i);
    barrier();
    for (int step = 0; step < steps; step++) {
        compute(n);
        double t0 = now();
        for (int side = 0; side < SIDES; side++)
            exchange(n, side, rank);
        double t1 = now();
        if (step >= WARM_UP)
            samples[step - WARM_UP] = (t1 - t0) / SIDES;
    }
    int wrong = 0;
    int from = steps % 2 == 0 ? peer : rank;
    for (int i = 0; i < n; i++)
        for (int side = 0; side < SIDES; side++)
            if (ghost[side][i] != start_value(from, i) + steps)
                wrong++;
    return wrong;
}

static void print_size(int bytes, int iterations, double *samples, int rank)
{
    double mine[3] = {0, 0, 0};

    for (int i = 0; i < iterations; i++)
        mine[1] += samples[i] / iterations;
    qsort(samples, (size_t)iterations, sizeof samples[0], by_value);
    mine[0] = samples[iterations / 2];
    mine[2] = samples[0];
    if (rank == 1)
        for (int i = 0; i < 3; i++)
            shared->result[i] = mine[i];
    barrier();
    if (rank == 0) {
        for (int i = 0; i < 3; i++)
            mine[i] += shared->result[i];
        printf("opbench bytes=%d iterations=%d median_us=%.4f mean_us=%.4f min_us=%.4f\n", bytes, iterations,
               0.5e6 * mine[0], 0.5e6 * mine[1], 0.5e6 * mine[2]);
        fflush(stdout);
    }
    barrier();
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perror("bare: sched_setaffinity");
}

static int run_rank(int rank, int most, int max_bytes, char *buffers, size_t stride)
{
    static double samples[MAX_ITERATIONS];
    int wrong = 0;

    for (int i = 0; i < BUFFERS_PER_RANK; i++)
        pool[pooled++] = (double *)(buffers + stride * (size_t)(rank * BUFFERS_PER_RANK + i));
    for (int bytes = MIN_BYTES; bytes <= max_bytes; bytes *= 2) {
        int iterations = iterations_for(bytes, most);
        wrong += run_size(bytes / (int)sizeof(double), iterations, rank, samples);
        print_size(bytes, iterations, samples, rank);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: bare ITERATIONS MAX_BYTES CPU0 CPU1\n");
        return 2;
    }
    int most = atoi(argv[1]), max_bytes = atoi(argv[2]);
    if (most < 1 || most > MAX_ITERATIONS || max_bytes < MIN_BYTES || max_bytes > MAX_BYTES) {
        fprintf(stderr, "bare: iterations 1 to %d, bytes %d to %d\n", MAX_ITERATIONS, MIN_BYTES, MAX_BYTES);
        return 2;
    }
    /* Room beyond the largest message keeps buffers from starting at the same place in the cache. */
    size_t stride = MAX_BYTES + 4096 + 192;
    size_t length = sizeof(struct shared) + 4096 + 2 * BUFFERS_PER_RANK * stride;
    char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("bare: mmap");
        return 1;
    }
    shared = (struct shared *)memory;
    char *buffers = memory + (sizeof(struct shared) + 4095) / 4096 * 4096;

    pid_t child = fork();
    if (child < 0) {
        perror("bare: fork");
        return 1;
    }
    int rank = child == 0;
    pin(atoi(argv[3 + rank]));
    int wrong = run_rank(rank, most, max_bytes, buffers, stride);
    if (rank == 1) {
        shared->wrong = wrong;
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    wrong += shared->wrong;
    printf("opbench wrong=%d\n", wrong);
    return wrong != 0 || status != 0;
}
