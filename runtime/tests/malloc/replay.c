/* Replays a random trace of the malloc family, with threads that free each other's blocks, and checks every block's place, alignment and contents.
 *
 *   replay SEED OPERATIONS THREADS [shared]
 *
 * The trace depends on the arguments only, so the same one runs on any allocator; threads interleave as they like.  Each thread ends and is followed by
 * another several times.  With `shared`, blocks of 1 KiB and more have to lie in the region of libopi.  Ends with the process's peak of memory in KiB.
 *
 * No MPI: the allocator under test is the C library's, or the one that is preloaded or linked. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 400
#define GENERATIONS 4
#define REGION ((uintptr_t)0x7e8000000000)
#define REGION_END (REGION + ((uintptr_t)1 << 38))
#define SHARED_FROM 1024

#define FAIL(...)                                                  \
    do {                                                           \
        fprintf(stderr, "replay.c:%d: ", __LINE__);                \
        fprintf(stderr, __VA_ARGS__);                              \
        fputc('\n', stderr);                                       \
        _exit(1);                                                  \
    } while (0)

static struct slot {
    pthread_mutex_t lock;
    unsigned char *p;
    size_t n;
    unsigned mark;
} slots[SLOTS];

static unsigned seed, operations;
static int shared;

static uint64_t next(uint64_t *x) {
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t a_size(uint64_t *x) {
    uint64_t kind = next(x) % 100, v = next(x);
    if (kind < 3)
        return v % 3; /* 0, 1, 2 */
    if (kind < 45)
        return v % 1024;
    if (kind < 80)
        return 1000 + v % 32000;
    if (kind < 97)
        return 32000 + v % 500000;
    return 500000 + v % 5000000;
}

/* What byte i of a block has to be. */
static unsigned char byte(unsigned mark, size_t i) {
    return (unsigned char)(mark * 2654435761u >> 7 ^ (unsigned)(i * 31 + (i >> 8)));
}

/* All bytes of small blocks; of others some in every page, and both ends. */
static size_t step(size_t n, size_t i) {
    return n <= 40000 || i < 64 || i + 65 > n ? 1 : i + 509 + 64 > n ? n - 64 - i : 509;
}

static void fill(const struct slot *s, size_t from) {
    for (size_t i = 0; i < s->n; i += step(s->n, i))
        if (i >= from)
            s->p[i] = byte(s->mark, i);
}

static void verify(const struct slot *s, size_t n) {
    for (size_t i = 0; i < n; i += step(s->n, i))
        if (s->p[i] != byte(s->mark, i))
            FAIL("byte %zu of %zu at %p: %u, not %u", i, s->n, (void *)s->p, s->p[i], byte(s->mark, i));
}

static void placed(const void *p, size_t n, size_t align) {
    if (!p)
        FAIL("no memory for %zu", n);
    if ((uintptr_t)p % align)
        FAIL("%p of %zu is not at a multiple of %zu", p, n, align);
    if (malloc_usable_size((void *)(uintptr_t)p) < n)
        FAIL("%p: %zu usable of %zu", p, malloc_usable_size((void *)(uintptr_t)p), n);
    if (shared && n >= SHARED_FROM && ((uintptr_t)p < REGION || (uintptr_t)p >= REGION_END))
        FAIL("%p of %zu is not shared", p, n);
}

static void allocate(struct slot *s, uint64_t *x) {
    size_t n = a_size(x), align = 16;
    void *p = NULL;
    switch (next(x) % 8) {
    case 0:
        p = calloc(n / 8 + 1, 8);
        n = (n / 8 + 1) * 8;
        placed(p, n, align);
        for (size_t i = 0; i < n; i++)
            if (((unsigned char *)p)[i])
                FAIL("calloc: byte %zu of %zu is %u", i, n, ((unsigned char *)p)[i]);
        break;
    case 1:
        align = (size_t)8 << next(x) % 16; /* up to 256 KiB */
        if (posix_memalign(&p, align, n) != 0)
            FAIL("posix_memalign(%zu, %zu)", align, n);
        break;
    case 2:
        align = (size_t)16 << next(x) % 9;
        p = next(x) % 2 ? aligned_alloc(align, n) : memalign(align, n);
        break;
    case 3:
        if (next(x) % 8 == 0) {
            align = 4096;
            p = next(x) % 2 ? valloc(n) : pvalloc(n);
        } else {
            p = reallocarray(NULL, n / 4 + 1, 4);
        }
        break;
    default:
        p = malloc(n);
    }
    placed(p, n, n ? align : 1);
    s->p = p;
    s->n = n;
    s->mark = (unsigned)next(x);
    fill(s, 0);
}

static void resize(struct slot *s, uint64_t *x) {
    size_t n = next(x) % 3 == 0 ? s->n + next(x) % 5000 : a_size(x);
    if (n == 0)
        n = 1;
    struct slot old = *s;
    unsigned char *p = realloc(s->p, n);
    placed(p, n, 16);
    s->p = p;
    s->n = n;
    /* The pattern's places depend on the length: check those of the old one. */
    for (size_t i = 0, keep = old.n < n ? old.n : n; i < keep; i += step(old.n, i))
        if (p[i] != byte(old.mark, i))
            FAIL("realloc from %zu to %zu lost byte %zu", old.n, n, i);
    fill(s, 0);
}

static void drop(struct slot *s) {
    verify(s, s->n);
    errno = 12345;
    free(s->p);
    if (errno != 12345)
        FAIL("free changed errno");
    s->p = NULL;
}

struct job {
    uint64_t x;
    unsigned operations;
};

static void *work(void *arg) {
    struct job *j = arg;
    for (unsigned i = 0; i < j->operations; i++) {
        struct slot *s = &slots[next(&j->x) % SLOTS];
        pthread_mutex_lock(&s->lock);
        if (!s->p)
            allocate(s, &j->x);
        else if (next(&j->x) % 4 == 0)
            resize(s, &j->x);
        else
            drop(s);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

/* What must fail fails, with its error, and takes nothing along. */
static void refusals(void) {
    void *p = &p;
    volatile size_t huge = SIZE_MAX - 100, half = SIZE_MAX / 2 + 2;
    errno = 0;
    if (malloc(huge) || errno != ENOMEM)
        FAIL("malloc of all there is: errno %d", errno);
    errno = 0;
    if (calloc(half, 2) || errno != ENOMEM)
        FAIL("calloc overflow: errno %d", errno);
    errno = 0;
    if (reallocarray(NULL, half, 2) || errno != ENOMEM)
        FAIL("reallocarray overflow: errno %d", errno);
    if (posix_memalign(&p, 3, 5000) != EINVAL || posix_memalign(&p, 4, 5000) != EINVAL || p != (void *)&p)
        FAIL("posix_memalign took a bad alignment");
    if (posix_memalign(&p, 64, huge) != ENOMEM || p != (void *)&p)
        FAIL("posix_memalign of all there is");
    char *q = malloc(100000);
    memset(q, 7, 100000);
    errno = 0;
    if (realloc(q, huge) || errno != ENOMEM)
        FAIL("realloc to all there is: errno %d", errno);
    for (int i = 0; i < 100000; i++)
        if (q[i] != 7)
            FAIL("a failed realloc changed the block");
    free(q);
    free(NULL);
    if (malloc_usable_size(NULL) != 0)
        FAIL("usable size of NULL");
}

static long status(const char *key) {
    char line[200];
    long v = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            v = atol(line + strlen(key));
    if (f)
        fclose(f);
    return v;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    seed = (unsigned)atoi(argv[1]);
    operations = (unsigned)atoi(argv[2]);
    int threads = atoi(argv[3]);
    shared = argc > 4;
    for (int i = 0; i < SLOTS; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    refusals();
    pthread_t t[64];
    struct job j[64];
    if (threads > 64)
        return 2;
    for (int g = 0; g < GENERATIONS; g++) {
        for (int i = 0; i < threads; i++) {
            j[i] = (struct job){.x = (uint64_t)seed << 32 | (uint64_t)(g * 64 + i), .operations = operations / (unsigned)(threads * GENERATIONS)};
            if (pthread_create(&t[i], NULL, work, &j[i]) != 0)
                return 2;
        }
        for (int i = 0; i < threads; i++)
            pthread_join(t[i], NULL);
    }
    long live = 0;
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].p) {
            live += (long)(slots[i].n >> 10);
            drop(&slots[i]);
        }
    printf("peak %ld KiB, left %ld KiB, live before the end %ld KiB\n", status("VmHWM:"), status("VmRSS:"), live);
    return 0;
}
