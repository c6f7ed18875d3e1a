/*
 * bare.h - the transport of the limit: two processes, pointers handed through shared mailboxes. No matching, no envelope,
 * no request, no status: what remains is the hand-off of one cache line and the cost of touching the data.
 *
 * Arguments: ITERATIONS MAX_BYTES CPU0 CPU1.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef BENCH_DEPTH
#define BENCH_DEPTH 1
#endif
#define BENCH_SPINS_BEFORE_YIELD 20000
#define BENCH_PER_RANK (BENCH_DEPTH + 1)
#ifndef BENCH_MORE
#define BENCH_MORE 0 /* bytes of shared memory for what else a program has, zero at first */
#endif

/* One per message under way and direction. The sender stores a pointer with release order after it wrote the data, so the
 * receiver, which loads it with acquire order, sees them; the receiver stores NULL with release order, so that its reads of
 * the slot are over before the sender stores again. Each on lines of its own: adjacent lines are fetched in pairs. */
struct bench_mailbox {
    _Atomic(uint64_t *) slot;
    char rest[128 - sizeof(void *)];
};

struct bench_shared {
    struct bench_mailbox to[2][BENCH_DEPTH] __attribute__((aligned(128)));
    atomic_int arrived __attribute__((aligned(128))); /* barrier: both ranks count up, in order of their own program */
    long wrong;                                       /* of rank 1, written before it exits */
};

static struct bench_shared *bench_node;
static uint64_t *bench_pool[2 * BENCH_PER_RANK], *bench_outs[BENCH_DEPTH], *bench_ins[BENCH_DEPTH];
static int bench_pooled, bench_nposted, bench_nsent, bench_put, bench_got, bench_barriers;
static char *bench_memory_at;
BENCH_UNUSED static void *bench_more_at;
static pid_t bench_child;

static void bench_pause(int *spins)
{
    if (++*spins > BENCH_SPINS_BEFORE_YIELD)
        sched_yield();
}

BENCH_UNUSED static void bench_barrier(void)
{
    int spins = 0;

    bench_barriers += 2;
    atomic_fetch_add_explicit(&bench_node->arrived, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&bench_node->arrived, memory_order_acquire) < bench_barriers)
        bench_pause(&spins);
}

/* Room beyond the largest message keeps buffers from starting at the same place in the cache. */
static size_t bench_stride(void)
{
    return (bench_max_bytes + 4095) / 4096 * 4096 + 4096 + 192;
}

BENCH_UNUSED static void bench_buffers(size_t bytes)
{
    (void)bytes;
    bench_pooled = 0;
    for (int i = 0; i < BENCH_PER_RANK; i++)
        bench_pool[bench_pooled++] = (uint64_t *)(bench_memory_at + bench_stride() * (size_t)(bench_rank * BENCH_PER_RANK + i));
}

BENCH_UNUSED static uint64_t *bench_out(size_t bytes)
{
    (void)bytes;
    return bench_outs[bench_nsent] = bench_pool[--bench_pooled];
}

BENCH_UNUSED static void bench_put_one(uint64_t *buffer)
{
    int spins = 0;
    _Atomic(uint64_t *) *slot = &bench_node->to[1 - bench_rank][bench_put].slot;

    bench_put = (bench_put + 1) % BENCH_DEPTH;
    while (atomic_load_explicit(slot, memory_order_acquire) != NULL)
        bench_pause(&spins);
    atomic_store_explicit(slot, buffer, memory_order_release);
}

BENCH_UNUSED static uint64_t *bench_get_one(void)
{
    int spins = 0;
    uint64_t *buffer;
    _Atomic(uint64_t *) *slot = &bench_node->to[bench_rank][bench_got].slot;

    bench_got = (bench_got + 1) % BENCH_DEPTH;
    while ((buffer = atomic_load_explicit(slot, memory_order_acquire)) == NULL)
        bench_pause(&spins);
    atomic_store_explicit(slot, NULL, memory_order_release);
    return buffer;
}

BENCH_UNUSED static void bench_post(size_t bytes, int peer)
{
    (void)bytes;
    (void)peer;
    bench_nposted++;
}

BENCH_UNUSED static void bench_send(size_t bytes, int peer)
{
    (void)bytes;
    (void)peer;
    bench_put_one(bench_outs[0]);
}

BENCH_UNUSED static void bench_isend(size_t bytes, int peer)
{
    (void)bytes;
    (void)peer;
    bench_put_one(bench_outs[bench_nsent++]);
}

BENCH_UNUSED static const uint64_t *bench_recv(size_t bytes, int peer)
{
    (void)bytes;
    (void)peer;
    bench_nposted = 1;
    return bench_ins[0] = bench_get_one();
}

BENCH_UNUSED static void bench_wait(void)
{
    for (int i = 0; i < bench_nposted; i++)
        bench_ins[i] = bench_get_one();
    bench_nsent = 0;
}

BENCH_UNUSED static const uint64_t *bench_in(int i)
{
    return bench_ins[i];
}

BENCH_UNUSED static void bench_done(void)
{
    for (int i = 0; i < bench_nposted; i++)
        bench_pool[bench_pooled++] = bench_ins[i];
    bench_nposted = 0;
}

static void bench_pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perror("bench: sched_setaffinity");
}

BENCH_UNUSED static void bench_start(const char *name, int argc, char **argv)
{
    bench_name = name;
    if (argc != 5) {
        fprintf(stderr, "usage: %s ITERATIONS MAX_BYTES CPU0 CPU1\n", name);
        exit(2);
    }
    bench_most = atoi(argv[1]);
    bench_max_bytes = (size_t)atol(argv[2]);
    size_t head = (sizeof *bench_node + 4095) / 4096 * 4096, length = head + 2 * BENCH_PER_RANK * bench_stride() + BENCH_MORE;
    char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("bench: mmap");
        exit(1);
    }
    bench_node = (struct bench_shared *)memory;
    bench_memory_at = memory + head;
    bench_more_at = memory + length - BENCH_MORE;
    bench_child = fork();
    if (bench_child < 0) {
        perror("bench: fork");
        exit(1);
    }
    bench_rank = bench_child == 0;
    bench_size = 2;
    bench_pin(atoi(argv[3 + bench_rank]));
}

BENCH_UNUSED static int bench_stop(void)
{
    int status = 0;

    if (bench_rank == 1) {
        bench_node->wrong = bench_wrong;
        _exit(0);
    }
    waitpid(bench_child, &status, 0);
    bench_wrong += bench_node->wrong;
    printf("%s wrong=%ld\n", bench_name, bench_wrong);
    return bench_wrong != 0 || status != 0;
}

#endif
