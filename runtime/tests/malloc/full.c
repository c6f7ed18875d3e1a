/* The window is full: blocks go on to come, from private memory, and are whole; what is freed is used again.  Nothing is touched but the ends of each block, so
 * the test needs address space and no memory.  Then, where the system promises no more memory than it has, a block that it refuses to commit is private too.
 *
 * Built from the allocator's sources, to reach its books.  No MPI. */
#include "malloc/shared.h"

#include <stdio.h>

#define CHECK(x)                                             \
    do {                                                     \
        if (!(x)) {                                          \
            fprintf(stderr, "full.c:%d: %s\n", __LINE__, #x); \
            return 1;                                        \
        }                                                    \
    } while (0)

#define N 24
#define PIECE ((size_t)1 << 30)

int main(void) {
    static char *p[N];
    int shared = 0, mine = 0;
    CHECK(opi_malloc_window(-1, -1) != NULL);
    size_t before = opi_pages_held(), window = opi_shared.bytes;
    opi_shared.window.base[0] = 0; /* libopi's part */
    CHECK(opi_window_raise(&opi_shared.window, 3 * PIECE));
    for (int i = 0; i < N; i++) {
        p[i] = malloc(PIECE);
        CHECK(p[i] != NULL);
        p[i][0] = p[i][PIECE - 1] = (char)i;
        shared += opi_shared_has(p[i]);
        mine += !opi_shared_has(p[i]);
        if (opi_shared_has(p[i]))
            CHECK(p[i] >= opi_shared.window.base + 3 * PIECE); /* not into libopi's part */
    }
    CHECK(shared >= 8 && mine > 0 && (size_t)shared * PIECE <= window - 3 * PIECE);
    char *q = calloc(100, 1000); /* full as it is */
    CHECK(q && q[0] == 0 && q[99999] == 0);
    free(q);
    for (int i = 0; i < N; i++) {
        CHECK(p[i][0] == (char)i && p[i][PIECE - 1] == (char)i);
        free(p[i]);
    }
    CHECK(opi_pages_held() <= before + 16384); /* given back to the system */
    q = malloc(PIECE);
    CHECK(opi_shared_has(q));
    free(q);

    /* A block that does not touch its memory is zero after calloc although its pages were used before. */
    q = malloc(PIECE / 16);
    memset(q, 1, PIECE / 16);
    free(q);
    q = calloc(PIECE / 16, 1);
    CHECK(opi_shared_has(q));
    for (size_t i = 0; i < PIECE / 16; i += 1000)
        CHECK(q[i] == 0);
    free(q);

    /* vm.overcommit_memory=2: memory is taken from the system before it is handed out. */
    opi_shared.commit = true;
    q = malloc(PIECE / 64);
    CHECK(opi_shared_has(q));
    int file = opi_shared.window.fd;
    opi_shared.window.fd = -1; /* as a system that has none left: fallocate fails */
    char *r = malloc(PIECE / 64);
    CHECK(r && !opi_shared_has(r));
    memset(r, 1, PIECE / 64);
    memset(q, 1, PIECE / 64);
    CHECK((r = realloc(r, PIECE / 32)) != NULL && !opi_shared_has(r) && r[PIECE / 64 - 1] == 1);
    CHECK((q = realloc(q, PIECE / 32)) != NULL && !opi_shared_has(q) && q[PIECE / 64 - 1] == 1);
    free(q);
    free(r);
    opi_shared.window.fd = file;
    q = malloc(PIECE / 64);
    CHECK(opi_shared_has(q));
    free(q);
    puts("full: ok");
    return 0;
}
