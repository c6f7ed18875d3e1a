/* Nanoseconds of malloc + free: one block again and again, and a working set of 64 blocks in random order, on 1 and 2 threads.  No MPI.  Run it alone and with
 * libopi_malloc.so preloaded (make bench-malloc does both in turns). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SET 64
#define ROUNDS 20000

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct job {
    size_t size;
    int set;
    int rounds;
    double ns;
};

static void *work(void *arg) {
    struct job *j = arg;
    char *p[SET] = {0};
    uint64_t x = 88172645463325252u;
    double best = 1e30;
    for (int repeat = 0; repeat < 20; repeat++) {
        double t = now();
        for (int i = 0; i < j->rounds; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            char **at = &p[x % (unsigned)j->set];
            free(*at);
            *at = malloc(j->size);
            *(volatile char *)*at = 1;
        }
        t = (now() - t) / j->rounds;
        best = t < best ? t : best;
    }
    for (int i = 0; i < SET; i++)
        free(p[i]);
    j->ns = best;
    return NULL;
}

int main(void) {
    static const size_t sizes[] = {64, 1024, 4096, 16384, 65536, 262144, 1 << 20, 8 << 20};
    printf("%10s %14s %14s %14s\n", "bytes", "one block", "64 blocks", "2 threads");
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        int rounds = sizes[s] > 100000 ? ROUNDS / 10 : ROUNDS;
        struct job one = {sizes[s], 1, rounds, 0}, many = {sizes[s], SET, rounds, 0}, a = many, b = many;
        pthread_t t, u;
        work(&one);
        work(&many);
        pthread_create(&t, NULL, work, &a);
        pthread_create(&u, NULL, work, &b);
        pthread_join(t, NULL);
        pthread_join(u, NULL);
        printf("%10zu %11.1f ns %11.1f ns %11.1f ns\n", sizes[s], one.ns, many.ns, (a.ns + b.ns) / 2);
    }
    return 0;
}
