/* Blocks: alignment, place, size classes, no overlap, commitment, and exhaustion that fails rather than kills. */
#include "process/heap/heap.h"

#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

static void classes(void) {
    int last = -1;
    for (size_t n = 0; n < 300000; n++) {
        int c = opi_class_of_size(n);
        CHECK(opi_class_size(c) >= n);
        CHECK(c == 0 || opi_class_size(c - 1) < n);
        CHECK(c == last || c == last + 1);
        CHECK(c == opi_class_compute(n));
        last = c;
    }
    for (int shift = 18; shift < 38; shift++)
        for (size_t d = 0; d < 3; d++) {
            size_t n = ((size_t)1 << shift) - 1 + d;
            int c = opi_class_of_size(n);
            CHECK(c < OPI_CLASSES && opi_class_size(c) >= n && opi_class_size(c - 1) < n);
            CHECK(opi_class_size(c) <= n + n / 4 + 64);
        }
}

static void blocks(void) {
    enum { N = 3000 };
    static unsigned char *p[N];
    static size_t len[N];
    unsigned x = 1;
    for (int i = 0; i < N; i++) {
        x = x * 1103515245u + 12345u;
        len[i] = i % 10 == 0 ? (x >> 8) % 400000 : (x >> 8) % 5000;
        CHECK(OPI_Alloc(&p[i], len[i]) == MPI_SUCCESS);
        CHECK(p[i] && (uintptr_t)p[i] % 64 == 0 && opi_in_region(p[i]));
        CHECK(opi_arena_of(p[i]) == opi.arena);
        CHECK(opi_class_size(opi_class_of(p[i])) >= len[i]);
        memset(p[i], i & 0xff, len[i]);
    }
    for (int i = 0; i < N; i++) {
        for (size_t k = 0; k < len[i]; k++)
            CHECK(p[i][k] == (unsigned char)i);
        CHECK(OPI_Free(&p[i]) == MPI_SUCCESS && !p[i]);
    }
    size_t before = opi_heap_committed();
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N; i++)
            CHECK(OPI_Alloc(&p[i], len[i]) == MPI_SUCCESS);
        for (int i = N - 1; i >= 0; i--)
            OPI_Free(&p[i]);
    }
    CHECK(opi_heap_committed() == before); /* reused, all of it */
}

static void misuse(void) {
    char *a, *copy, *inside, local[128], *foreign = local;
    OPI_Alloc(&a, 4096);
    copy = a;
    inside = a + 64;
    CHECK(OPI_Free(&inside) == MPI_ERR_BUFFER && inside == a + 64);
    inside = a + 1;
    CHECK(OPI_Free(&inside) == MPI_ERR_BUFFER);
    CHECK(OPI_Free(&foreign) == MPI_ERR_BUFFER && foreign == local);
    CHECK(OPI_Free(&a) == MPI_SUCCESS);
    CHECK(OPI_Free(&copy) == MPI_ERR_BUFFER);
    CHECK(OPI_Free(&a) == MPI_SUCCESS); /* NULL */
    foreign = (char *)opi.arena;
    CHECK(OPI_Free(&foreign) == MPI_ERR_BUFFER);
    CHECK((OPI_Free)(NULL) == MPI_ERR_ARG);
    CHECK((OPI_Alloc)(NULL, 1) == MPI_ERR_ARG);
}

static void exhaustion(void) {
    void *p = &p;
    CHECK(OPI_Alloc(&p, (size_t)1 << 37) == MPI_ERR_NO_MEM && p == (void *)&p);
    CHECK(OPI_Alloc(&p, SIZE_MAX) == MPI_ERR_NO_MEM && p == NULL);
    CHECK(OPI_Alloc(&p, 100) == MPI_SUCCESS);
    OPI_Free(&p);
}

/* A child works on a snapshot: neither sees what the other writes. */
static void forked(void) {
    int *shared;
    OPI_Alloc(&shared, 4096);
    shared[0] = 1;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        int *more;
        if (shared[0] != 1)
            _exit(2);
        shared[0] = 2;
        if (OPI_Alloc(&more, 1 << 20) != MPI_SUCCESS)
            _exit(3);
        memset(more, 1, 1 << 20);
        OPI_Free(&more);
        _exit(shared[0] == 2 ? 0 : 4);
    }
    int status;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(shared[0] == 1);
    OPI_Free(&shared);
}

int main(void) {
    CHECK(opi_heap_init());
    classes();
    blocks();
    misuse();
    exhaustion();
    forked();
    puts("heap: ok");
    return 0;
}
