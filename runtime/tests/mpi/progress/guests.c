/* guests - threads that do not call MPI allocate and free, while the one that does gives and takes: MPI_THREAD_FUNNELED promises no more of them.
 *
 * Every buffer is stamped with who has it: one that two have at once shows. */
#define _GNU_SOURCE
#include "../check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORKERS = 3, HELD = 8, SLOTS = 16, WORDS = 600 };

static int rounds = 20000, messages = 2000;

static _Atomic(uint64_t *) made[SLOTS], spent[SLOTS]; /* from workers to the main thread, and back */
static _Atomic int running = WORKERS;

static void stamp(uint64_t *b, size_t words, uint64_t mark) {
    for (size_t i = 0; i < words; i += 7)
        b[i] = mark + i;
    b[words - 1] = mark;
}

static void holds(const uint64_t *b, size_t words, uint64_t mark) {
    CHECK(b[words - 1] == mark);
    for (size_t i = 0; i + 1 < words; i += 7)
        CHECK(b[i] == mark + i);
}

static void *work(void *arg) {
    uint64_t me = (uint64_t)(uintptr_t)arg + 1, count = 0;
    uint64_t *b[HELD] = {NULL}, marks[HELD] = {0};
    size_t words[HELD] = {0};
    uint32_t x = (uint32_t)me * 2654435761u;
    for (int round = 0; round < rounds; round++) {
        x = x * 1664525u + 1013904223u;
        int k = (int)(x >> 20) % HELD;
        if (b[k]) {
            holds(b[k], words[k], marks[k]);
            CHECK(OPI_Free(&b[k]) == MPI_SUCCESS && !b[k]);
        }
        words[k] = x % 97 == 0 ? 20000 : 8 + (x >> 8) % 700;
        marks[k] = me << 48 | ++count;
        CHECK(OPI_Alloc(&b[k], words[k] * sizeof *b[k]) == MPI_SUCCESS);
        stamp(b[k], words[k], marks[k]);
        if (round % 16 == 0) { /* one for the main thread to send, one that it has received to free */
            uint64_t *whole, *none = NULL;
            CHECK(OPI_Alloc(&whole, WORDS * sizeof *whole) == MPI_SUCCESS);
            stamp(whole, WORDS, 42);
            if (!atomic_compare_exchange_strong(&made[x >> 4 & (SLOTS - 1)], &none, whole))
                CHECK(OPI_Free(&whole) == MPI_SUCCESS);
            uint64_t *old = atomic_exchange(&spent[x >> 12 & (SLOTS - 1)], NULL);
            if (old) {
                holds(old, WORDS, 42);
                CHECK(OPI_Free(&old) == MPI_SUCCESS);
            }
        }
    }
    for (int k = 0; k < HELD; k++)
        if (b[k]) {
            holds(b[k], words[k], marks[k]);
            CHECK(OPI_Free(&b[k]) == MPI_SUCCESS);
        }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void exchange(int rank, int size, int k) {
    uint64_t *b = atomic_exchange(&made[k % SLOTS], NULL), *in;
    if (!b) {
        CHECK(OPI_Alloc(&b, WORDS * sizeof *b) == MPI_SUCCESS);
        stamp(b, WORDS, 42);
    }
    MPI_Request r;
    CHECK(OPI_Igive(&b, WORDS, MPI_UINT64_T, (rank + 1) % size, 1, MPI_COMM_WORLD, &r) == MPI_SUCCESS);
    CHECK(OPI_Take(&in, WORDS, MPI_UINT64_T, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    uint64_t *none = NULL;
    if (!atomic_compare_exchange_strong(&spent[k % SLOTS], &none, in)) {
        holds(in, WORDS, 42);
        CHECK(OPI_Free(&in) == MPI_SUCCESS);
    }
}

int main(int argc, char **argv) {
    int provided, rank, size;
    pthread_t early, thread[WORKERS];
    if (getenv("GUESTS_FEW")) {
        rounds = 500;
        messages = 100;
    }
    CHECK(pthread_create(&early, NULL, work, (void *)(uintptr_t)9) == 0); /* before MPI_Init, too */
    for (int k = 0; k < 1000; k++) {
        char *p;
        CHECK(OPI_Alloc(&p, 100 + (size_t)k) == MPI_SUCCESS);
        p[0] = 1;
        CHECK(OPI_Free(&p) == MPI_SUCCESS);
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    pthread_join(early, NULL);
    atomic_store(&running, WORKERS);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    world_rank = rank;
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i) == 0);
    for (int k = 0; k < messages; k++)
        exchange(rank, size, k);
    /* The main thread waits for a message that comes only when its own workers are done: they must get in meanwhile. */
    if (size > 1) {
        int token = rank;
        if (rank == 0) {
            MPI_Recv(&token, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            while (atomic_load(&running) > 0)
                nanosleep(&(struct timespec){0, 1000000}, NULL);
            MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        }
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < SLOTS; i++) {
        uint64_t *b = atomic_exchange(&made[i], NULL), *s = atomic_exchange(&spent[i], NULL);
        CHECK(OPI_Free(&b) == MPI_SUCCESS && OPI_Free(&s) == MPI_SUCCESS);
    }
    return finish("guests");
}
