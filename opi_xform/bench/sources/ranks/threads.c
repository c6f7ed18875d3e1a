/* threads: half the time of a ping-pong of two ranks, by giving buffers away and by copies, the time of an exchange by nonblocking calls, as the tool
 * writes it, and the time of a give of a stream that goes one way.  Every byte is written before it is sent and read after it came.  All of a rank is on its
 * stack: the same source is linked with libopi, for processes, and with libopi_ranks, for threads.
 *
 *   threads SAMPLES MAX_BYTES [CPU CPU] */
#define _GNU_SOURCE
#include <opi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1000, WARM_UP = 50 };

struct rank {
    int me, peer;
    long wrong;
    uint64_t *out, *in; /* of messages; gives have new ones */
    double sample[MOST];
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill(uint64_t *buffer, size_t bytes, uint64_t seed) {
    for (size_t i = 0; i < bytes / sizeof *buffer; i++)
        buffer[i] = seed + i;
}

static void check(struct rank *r, const uint64_t *buffer, size_t bytes, uint64_t seed) {
    uint64_t words = bytes / sizeof *buffer, sum = 0;
    for (size_t i = 0; i < words; i++)
        sum += buffer[i];
    r->wrong += sum != words * seed + words * (words - 1) / 2;
}

enum how { GIVE, EXCHANGE, MESSAGE, STREAM, WAYS };
static const char *const names[WAYS] = {"give", "exchange", "message", "stream"};
static const size_t least[WAYS] = {8, 8, 8, 1024}, largest[WAYS] = {SIZE_MAX, SIZE_MAX, SIZE_MAX, 256 << 10};

static void ping(struct rank *r, enum how how, size_t bytes, uint64_t seed) {
    if (how != MESSAGE) {
        uint64_t *out;
        OPI_Alloc(&out, bytes);
        fill(out, bytes, seed);
        OPI_Give(&out, (int)bytes, MPI_BYTE, r->peer, 1, MPI_COMM_WORLD);
    } else {
        fill(r->out, bytes, seed);
        MPI_Send(r->out, (int)bytes, MPI_BYTE, r->peer, 1, MPI_COMM_WORLD);
    }
}

static void pong(struct rank *r, enum how how, size_t bytes, uint64_t seed) {
    if (how != MESSAGE) {
        uint64_t *in;
        OPI_Take(&in, (int)bytes, MPI_BYTE, r->peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(r, in, bytes, seed);
        OPI_Free(&in);
    } else {
        MPI_Recv(r->in, (int)bytes, MPI_BYTE, r->peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(r, r->in, bytes, seed);
    }
}

static void exchange(struct rank *r, size_t bytes, uint64_t seed) {
    uint64_t *in, *out;
    MPI_Request q[2];
    OPI_Itake(&in, (int)bytes, MPI_BYTE, r->peer, 1, MPI_COMM_WORLD, &q[0]);
    OPI_Alloc(&out, bytes);
    fill(out, bytes, seed);
    OPI_Igive(&out, (int)bytes, MPI_BYTE, r->peer, 1, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    check(r, in, bytes, seed);
    OPI_Free(&in);
}

/* All gives of a stream from rank 0 to rank 1, which says in the end that it has them. */
static void stream(struct rank *r, size_t bytes, uint64_t seed, int gives) {
    int done = 0;
    for (int k = 0; k < gives; k++)
        if (r->me == 0)
            ping(r, STREAM, bytes, seed + (uint64_t)k);
        else
            pong(r, STREAM, bytes, seed + (uint64_t)k);
    if (r->me == 0)
        MPI_Recv(&done, 1, MPI_INT, r->peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&done, 1, MPI_INT, r->peer, 2, MPI_COMM_WORLD);
}

/* The median of the samples, of `batch` ping-pongs, exchanges or gives of a stream each. */
static double measure(struct rank *r, enum how how, size_t bytes, int samples) {
    int batch = bytes <= 4096 ? 20 : 1;
    if (how == STREAM)
        batch = bytes <= 32768 ? 64 : 16;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < WARM_UP + samples; i++) {
        double t = now();
        if (how == STREAM)
            stream(r, bytes, (uint64_t)i, batch);
        for (int k = 0; how != STREAM && k < batch; k++) {
            uint64_t seed = (uint64_t)(i + k);
            if (how == EXCHANGE) {
                exchange(r, bytes, seed);
            } else if (r->me == 0) {
                ping(r, how, bytes, seed);
                pong(r, how, bytes, seed + 1);
            } else {
                pong(r, how, bytes, seed);
                ping(r, how, bytes, seed + 1);
            }
        }
        if (i >= WARM_UP)
            r->sample[i - WARM_UP] = (now() - t) / (how == EXCHANGE || how == STREAM ? batch : 2.0 * batch);
    }
    qsort(r->sample, (size_t)samples, sizeof r->sample[0], by_value);
    return r->sample[samples / 2];
}

/* The launchers know nothing of threads: each rank binds itself. */
static void bind(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

int main(int argc, char **argv) {
    struct rank r = {0};
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fputs("threads: two ranks are wanted\n", stderr);
        MPI_Finalize();
        return 2;
    }
    r.peer = 1 - r.me;
    int samples = argc > 1 ? atoi(argv[1]) : 0;
    size_t most = argc > 2 ? (size_t)atol(argv[2]) : 0;
    if (samples < 1 || samples > MOST)
        samples = MOST;
    if (argc > 4)
        bind(atoi(argv[3 + r.me]));
    /* Not alike modulo a page, and each rank's on lines of its own. */
    char *memory = aligned_alloc(4096, 2 * most + 3 * 4096);
    r.out = (uint64_t *)memory;
    r.in = (uint64_t *)(memory + (most + 4095) / 4096 * 4096 + 2048);
    memset(memory, 0, 2 * most + 3 * 4096);
    for (enum how how = 0; how < WAYS; how++)
        for (size_t bytes = least[how]; bytes <= most && bytes <= largest[how]; bytes *= bytes < 256 ? 4 : 2) {
            double us = measure(&r, how, bytes, samples);
            if (r.me == 0)
                printf("threads bytes=%zu point=%s median_us=%.5f\n", bytes, names[how], us);
        }
    free(memory);
    long all = 0;
    MPI_Allreduce(&r.wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (r.me == 0)
        printf("threads wrong=%ld\n", all);
    MPI_Finalize();
    return all != 0;
}
