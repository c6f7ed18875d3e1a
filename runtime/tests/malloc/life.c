/* A program whose buffers all come from malloc, under the replacement allocator: allocations before MPI_Init and frees after MPI_Finalize, messages between
 * them, fork with and without exec, system, popen, vfork and posix_spawn, threads that allocate all the while, and buffers taken from another rank.
 *
 *   life [private]     with `private` the blocks need not be in the region
 *
 * Ends with `life: ok, 0 failures` on rank 0. */
#define _GNU_SOURCE
#include <mpi.h>
#include <opi.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIG 300000
#define FORKS 5

static int failures, rank, size;

#define CHECK(x)                                                              \
    do {                                                                      \
        if (!(x)) {                                                           \
            fprintf(stderr, "life.c:%d: rank %d: %s\n", __LINE__, rank, #x); \
            failures++;                                                       \
        }                                                                     \
    } while (0)

extern char **environ;
static char *earliest, *before;

__attribute__((constructor)) static void at_load(void) {
    earliest = malloc(BIG);
    memset(earliest, 1, BIG);
}

__attribute__((destructor)) static void at_exit(void) {
    free(earliest);
    free(malloc(BIG));
}

static int all(const char *p, int value, size_t n) {
    return n == 0 || (p[0] == (char)value && memcmp(p, p + 1, n - 1) == 0);
}

static int in_region(const void *p) {
    return (uintptr_t)p >= (uintptr_t)0x7e8000000000 && (uintptr_t)p < (uintptr_t)0x7ec000000000;
}

/* ---- threads that allocate while the main thread forks ------------------------------------------------------------------------------------------- */

static _Atomic int stop;

static void *churn(void *arg) {
    unsigned x = (unsigned)(uintptr_t)arg;
    char *p[50] = {0};
    size_t n[50] = {0};
    while (!stop) {
        x = x * 1103515245u + 12345u;
        unsigned i = x >> 16 & 31;
        if (p[i] && !all(p[i], (int)i, n[i]))
            _exit(77);
        free(p[i]);
        n[i] = 500 + (x >> 8) % 60000;
        p[i] = malloc(n[i]);
        memset(p[i], (int)i, n[i]);
    }
    for (int i = 0; i < 50; i++)
        free(p[i]);
    return NULL;
}

/* In a child: what the parent had is there, and whatever happens to it here stays here. */
static int child_work(char **data, int n, char *taken) {
    for (int i = 0; i < n; i++) {
        if (!all(data[i], i, BIG + (size_t)i * 1000))
            return 3;
        memset(data[i], 99, BIG);
    }
    if (taken && !all(taken, 5, BIG))
        return 4;
    if (taken)
        memset(taken, 98, BIG);
    for (int round = 0; round < 60; round++) {
        size_t bytes = 100 + (size_t)(round * 37919 % 200000);
        char *p = calloc(bytes, 1);
        if (!p || !all(p, 0, bytes))
            return 5;
        memset(p, 97, bytes);
        p = realloc(p, 2 * bytes);
        if (!p || !all(p, 97, bytes))
            return 6;
        free(p);
    }
    for (int i = 0; i < n; i++)
        free(data[i]);
    void *mine = NULL;
    if (OPI_Alloc(&mine, BIG) != MPI_SUCCESS)
        return 7;
    memset(mine, 96, BIG);
    OPI_Free(&mine);
    if (taken)
        OPI_Free(&taken);
    pid_t again = fork();
    if (again == 0)
        _exit(all(earliest, 1, BIG) && memset(earliest, 9, BIG) && malloc(BIG) ? 0 : 8);
    int status = -1;
    waitpid(again, &status, 0);
    return status != 0 ? 9 : !all(earliest, 1, BIG) ? 10 : 0;
}

static void forks(char *taken) {
    char *data[5];
    pthread_t t[2];
    for (int i = 0; i < 5; i++) {
        data[i] = malloc(BIG + (size_t)i * 1000);
        memset(data[i], i, BIG + (size_t)i * 1000);
    }
    FILE *log = tmpfile();
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, churn, (void *)(i + 1));
    for (int k = 0; k < FORKS; k++) {
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            int code = child_work(data, 5, taken);
            fprintf(log, "child %d\n", k); /* a FILE of the parent's: its lock is the C library's affair */
            _exit(fflush(log) == 0 ? code : 11);
        }
        fprintf(log, "parent %d\n", k);
        int status = -1;
        waitpid(pid, &status, 0);
        CHECK(status == 0);
        if (status != 0)
            fprintf(stderr, "life.c: child's status %#x\n", (unsigned)status);
        for (int i = 0; i < 5; i++)
            CHECK(all(data[i], i, BIG + (size_t)i * 1000));
        CHECK(!taken || all(taken, 5, BIG));
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    fclose(log);
    for (int i = 0; i < 5; i++)
        free(data[i]);
}

static void programs(void) {
    char *argument = malloc(5000), line[100] = "", *argv[] = {"sh", "-c", argument, NULL};
    int status = -1;
    strcpy(argument, "exit 7");
    CHECK(system("exit 3") == 3 << 8);
    FILE *f = popen("echo from below", "r");
    CHECK(f && fgets(line, sizeof line, f) && strcmp(line, "from below\n") == 0);
    CHECK(f && pclose(f) == 0);
    pid_t pid = vfork();
    if (pid == 0) {
        execv("/bin/sh", argv);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) == 0);
    waitpid(pid, &status, 0);
    CHECK(WEXITSTATUS(status) == 7);
    pid = fork();
    if (pid == 0) {
        execv("/bin/sh", argv);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    CHECK(WEXITSTATUS(status) == 7);
    free(argument);
}

static void messages(void) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (size_t n = 5000; n < 10000000; n *= 8) {
        char *out = malloc(n), *in = calloc(n, 1);
        MPI_Request r;
        memset(out, rank + 1, n);
        MPI_Isend(out, (int)n, MPI_BYTE, to, 1, MPI_COMM_WORLD, &r);
        MPI_Recv(in, (int)n, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK(all(in, from + 1, n));
        free(out);
        free(in);
    }
}

int main(int argc, char **argv) {
    before = malloc(BIG);
    memset(before, 2, BIG);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *inside = malloc(BIG);
    CHECK(argc > 1 || (in_region(inside) && in_region(before)));
    messages();
    /* A buffer that another rank allocated, now ours. */
    char *given = NULL, *taken = NULL;
    if (size > 1) {
        OPI_Alloc(&given, BIG);
        memset(given, 5, BIG);
        OPI_Givetake(&given, BIG, MPI_BYTE, (rank + 1) % size, 2, &taken, BIG, MPI_BYTE, (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    forks(taken);
    programs();
    if (taken)
        OPI_Free(&taken);
    messages();
    MPI_Barrier(MPI_COMM_WORLD);
    int sum = 0;
    MPI_Reduce(&failures, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    CHECK(all(earliest, 1, BIG) && all(before, 2, BIG));
    free(before);
    free(inside);
    char *late = malloc(BIG);
    memset(late, 3, BIG);
    late = realloc(late, 2 * BIG);
    CHECK(all(late, 3, BIG));
    free(late);
    sum += failures;
    if (rank == 0)
        printf("life: %s, %d failures\n", sum ? "FAILED" : "ok", sum);
    return sum != 0;
}
