/* The pool: last in first out, bounded, and blocks of another arena go home. */
#include "process/heap/heap.h"

#include "unit.h"

#include <sys/mman.h>

static void lifo(void) {
    void *a = opi_pool_alloc(5000), *b = opi_pool_alloc(5000);
    CHECK(a && b && a != b);
    opi_pool_free(a);
    opi_pool_free(b);
    CHECK(opi_pool_alloc(5000) == b);
    CHECK(opi_pool_alloc(5000) == a);
    opi_pool_free(a);
    opi_pool_free(b);
}

static void bounded(void) {
    enum { N = 1000 };
    static void *p[N];
    int cls = opi_class_of_size(100000);
    for (int i = 0; i < N; i++)
        CHECK((p[i] = opi_pool_alloc(100000)) != NULL);
    for (int i = 0; i < N; i++)
        opi_pool_free(p[i]);
    CHECK(opi_classes[cls].depth <= opi_classes[cls].limit && opi_classes[cls].limit <= OPI_STACK_MAX);
    size_t before = opi_heap_committed();
    for (int i = 0; i < N; i++)
        CHECK((p[i] = opi_pool_alloc(100000)) != NULL);
    CHECK(opi_heap_committed() == before);
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N && j < i + 20; j++)
            CHECK(p[i] != p[j]);
    for (int i = 0; i < N; i++)
        opi_pool_free(p[i]);
}

/* A pretended neighbour's arena: its blocks come to us and must return to it, not stay. */
static void homecoming(void) {
    size_t window = (size_t)1 << opi.window_shift;
    struct opi_arena *other = (struct opi_arena *)((char *)opi.arena + window);
    CHECK(mmap(other, window, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == (void *)other);
    int cls = opi_class_of_size(8192);
    char *first = (char *)other + (16 << 20);
    memset(other->class_map + ((16 << 20) >> OPI_PAGE_SHIFT), cls + 1, 256);
    CHECK(opi_class_of(first) == cls && opi_arena_of(first) == other);
    int n = 0;
    for (; n < 500; n++)
        opi_pool_free(first + (size_t)n * 8192);
    CHECK(opi_classes[cls].depth <= opi_classes[cls].limit);
    int home = 0;
    for (void *p = atomic_load(&other->homecoming); p; memcpy(&p, p, sizeof p)) {
        CHECK(opi_arena_of(p) == other);
        home++;
    }
    CHECK(home + (int)opi_classes[cls].depth >= n && home > 300);

    /* And ours come back to us: what others push on our list is used before new memory. */
    opi_classes[cls].depth = 0;
    void *mine[4];
    for (int i = 0; i < 4; i++)
        mine[i] = opi_heap_carve(cls);
    void *list = NULL;
    for (int i = 0; i < 4; i++) {
        memcpy(mine[i], &list, sizeof list);
        list = mine[i];
    }
    atomic_store(&opi.arena->homecoming, list);
    opi_cold[cls].own = NULL;
    for (int i = 0; i < 4; i++) {
        void *p = opi_pool_alloc(8192);
        CHECK(p == mine[0] || p == mine[1] || p == mine[2] || p == mine[3]);
    }
}

int main(void) {
    CHECK(opi_heap_init());
    lifo();
    bounded();
    if (!opi.private_heap)
        homecoming();
    puts("pool: ok");
    return 0;
}
