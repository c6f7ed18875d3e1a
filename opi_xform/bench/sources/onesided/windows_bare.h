/*
 * windows_bare.h - see windows.h: the limit. Processes with shared memory; a copy is memcpy, to synchronise is to count up
 * one flag of the other side and to wait for one's own.
 */
#ifndef BENCH_WINDOWS_BARE_H
#define BENCH_WINDOWS_BARE_H

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* A number on lines of its own: adjacent lines are fetched in pairs. Who counts up stores with release order, so what that
 * rank has written before is seen by whom has loaded the number with acquire order. */
struct counted {
    atomic_uint n;
    char rest[128 - sizeof(atomic_uint)];
};

struct shared {
    struct counted posted[SIDE_RANKS] __attribute__((aligned(128)));    /* epochs opened for this origin: by its target */
    struct counted completed[SIDE_RANKS] __attribute__((aligned(128))); /* epochs of this origin over: by itself */
    struct counted arrived, turn;                                       /* barrier: by all; by the last one */
    struct counted lock;                                                /* holders: by the origins */
    int told;                                                           /* by rank 0, before all meet */
    double us[SIDE_RANKS];
    long wrong[SIDE_RANKS];
};

struct side {
    const char *name;
    int rank, size;
    int most;
    size_t max_bytes;
    long wrong;
    double begun;
    int crowded, place, origins, target;
    unsigned epochs; /* of this rank as an origin or as the target: the same number at both */
    pid_t children[SIDE_RANKS];
    struct shared *node;
    char *memory;  /* of all ranks */
    char *exposed; /* the target's */
    char *own;
};

/* Where each has a processor none gives it away: somebody else's program would have it for a time slice. */
static void side_pause(const struct side *s, int *spins)
{
    if (s->crowded && ++*spins % 100 == 0)
        sched_yield();
}

static void side_await(const struct side *s, struct counted *what, unsigned least)
{
    int spins = 0;

    while ((int)(atomic_load_explicit(&what->n, memory_order_acquire) - least) < 0)
        side_pause(s, &spins);
}

static void side_count(struct counted *what, unsigned n)
{
    atomic_store_explicit(&what->n, n, memory_order_release);
}

static void side_pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        perror("bench: sched_setaffinity");
}

/* Memory of a target for all its origins, apart from the next one's place in the cache. */
static size_t side_stride(const struct side *s)
{
    return (s->max_bytes * SIDE_DEPTH * (size_t)(s->size - 1) + 4095) / 4096 * 4096 + 4096 + 192;
}

static void side_start(struct side *s, const char *name, int argc, char **argv)
{
    memset(s, 0, sizeof *s);
    s->name = name;
    s->size = argc - 3;
    if (s->size < 2 || s->size > SIDE_RANKS) {
        fprintf(stderr, "usage: %s SAMPLES MAX_BYTES CPU0 CPU1...\n", name);
        exit(2);
    }
    s->crowded = side_shares(s->size);
    s->most = atoi(argv[1]);
    s->max_bytes = (size_t)atol(argv[2]);
    size_t head = (sizeof *s->node + 4095) / 4096 * 4096, targets = ((size_t)s->size + 1) / 2;
    char *memory = mmap(NULL, head + targets * side_stride(s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("bench: mmap");
        exit(1);
    }
    s->node = (struct shared *)memory;
    s->memory = memory + head;
    for (int i = 1; i < s->size; i++) {
        s->children[i] = fork();
        if (s->children[i] < 0) {
            perror("bench: fork");
            exit(1);
        }
        if (s->children[i] == 0) {
            s->rank = i;
            break;
        }
    }
    side_pin(atoi(argv[3 + s->rank]));
}

static int side_stop(struct side *s)
{
    int failed = 0;

    if (s->rank != 0) {
        s->node->wrong[s->rank] = s->wrong;
        _exit(0);
    }
    for (int i = 1; i < s->size; i++) {
        int status = 0;
        waitpid(s->children[i], &status, 0);
        failed |= status;
        s->wrong += s->node->wrong[i];
    }
    printf("%s wrong=%ld\n", s->name, s->wrong);
    return s->wrong != 0 || failed;
}

static void side_form(struct side *s, int in_pairs)
{
    s->place = in_pairs ? s->rank % 2 : s->rank;
    s->target = s->rank - s->place;
    s->origins = in_pairs ? 1 : s->size - 1;
    s->epochs = 0; /* nobody uses the flags: what was before is over, what comes begins with a barrier */
    s->node->posted[s->rank].n = s->node->completed[s->rank].n = 0;
}

static void side_meet(struct side *s)
{
    unsigned turn = atomic_load_explicit(&s->node->turn.n, memory_order_acquire);

    if (atomic_fetch_add_explicit(&s->node->arrived.n, 1, memory_order_acq_rel) + 1 == (unsigned)s->size) {
        atomic_store_explicit(&s->node->arrived.n, 0, memory_order_relaxed);
        side_count(&s->node->turn, turn + 1);
    } else
        side_await(s, &s->node->turn, turn + 1);
}

static void side_part(struct side *s)
{
    side_meet(s);
}

static int side_told(struct side *s, int what)
{
    if (s->rank == 0)
        s->node->told = what;
    side_meet(s);
    return s->node->told;
}

SIDE_UNUSED static double side_mean(struct side *s, double us)
{
    double sum = 0;

    s->node->us[s->rank] = us;
    side_meet(s);
    for (int i = 1; i <= s->origins; i++)
        sum += s->node->us[i];
    side_meet(s);
    return sum / s->origins;
}

static void side_open(struct side *s, enum kind kind, size_t bytes, int each)
{
    (void)kind;
    (void)each;
    s->exposed = s->memory + side_stride(s) * (size_t)(s->target / 2);
    s->own = calloc(1, bytes + 64);
    if (!s->own)
        exit(3);
}

static void side_close(struct side *s, enum kind kind)
{
    (void)kind;
    free(s->own);
}

SIDE_UNUSED static void side_post(struct side *s)
{
    s->epochs++;
    for (int i = 1; i <= s->origins; i++)
        side_count(&s->node->posted[s->target + i], s->epochs);
}

SIDE_UNUSED static void side_wait(struct side *s)
{
    for (int i = 1; i <= s->origins; i++)
        side_await(s, &s->node->completed[s->target + i], s->epochs);
}

SIDE_UNUSED static void side_begin(struct side *s)
{
    side_await(s, &s->node->posted[s->rank], ++s->epochs);
}

SIDE_UNUSED static void side_end(struct side *s)
{
    side_count(&s->node->completed[s->rank], s->epochs);
}

SIDE_UNUSED static void side_fence(struct side *s)
{
    side_meet(s);
}

SIDE_UNUSED static void side_lock_all(struct side *s)
{
    atomic_fetch_add_explicit(&s->node->lock.n, 1, memory_order_acq_rel);
}

SIDE_UNUSED static void side_unlock_all(struct side *s)
{
    atomic_fetch_sub_explicit(&s->node->lock.n, 1, memory_order_acq_rel);
}

/* Nobody waits for it. */
SIDE_UNUSED static void side_flush(struct side *s)
{
    side_count(&s->node->completed[s->rank], ++s->epochs);
}

SIDE_UNUSED static void side_put(struct side *s, size_t bytes, size_t at)
{
    memcpy(s->exposed + at, s->own, bytes);
}

SIDE_UNUSED static void side_get(struct side *s, size_t bytes, size_t at)
{
    memcpy(s->own, s->exposed + at, bytes);
}

#endif
