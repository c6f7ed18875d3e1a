/* pool.c - what the fast paths of pool.h fall back to. */
#include "process/heap/heap.h"

#include <sys/mman.h>

struct opi_class opi_classes[OPI_CLASSES];
struct opi_class_cold opi_cold[OPI_CLASSES];
uint8_t *opi_held[OPI_HELD_TABLES];
uint8_t opi_small_class[(OPI_SMALL >> 6) + 1];
size_t opi_class_bytes[OPI_CLASSES];
size_t opi_pool_keep;

#define POOL_BYTES ((size_t)32 << 20) /* of one class that a rank keeps for itself; larger blocks (giants) go home at once: few of them fill a window */
#define POOL_SHARE 32                 /* and no more than this part of a heap: its owner may have nothing left, and cannot ask for it back */
#define POOL_MIN 8u

void opi_pool_init(size_t heap) {
    size_t keep = opi_pool_keep = heap / POOL_SHARE < POOL_BYTES ? heap / POOL_SHARE : POOL_BYTES;
    for (size_t i = 0; i <= OPI_SMALL >> 6; i++)
        opi_small_class[i] = (uint8_t)opi_class_compute(i << 6);
    for (int i = 0; i < OPI_CLASSES; i++) {
        opi_class_bytes[i] = opi_class_size(i);
        size_t n = keep / opi_class_size(i);
        bool giant = opi_class_size(i) > keep;
        opi_classes[i].limit = giant ? 0 : n > OPI_STACK_MAX ? OPI_STACK_MAX : n < POOL_MIN ? (uint16_t)POOL_MIN : (uint16_t)n;
    }
}

/* Table of ownership bytes for one 64 MiB piece of the region: 1 MiB of address space, committed on touch. */
uint8_t *opi_held_table(size_t index) {
    void *p = mmap(NULL, (size_t)1 << (OPI_HELD_SHIFT - 6), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    opi_held[index] = p;
    return p;
}

static inline void *link_of(void *block) {
    void *next;
    memcpy(&next, block, sizeof next);
    return next;
}

static inline void set_link(void *block, void *next) {
    memcpy(block, &next, sizeof next);
}

/* Takes back what other ranks returned: all at once, each to its class. */
static bool collect(void) {
    /* acquire: the links in the blocks were written by the ranks that pushed them. */
    void *p = atomic_exchange_explicit(&opi.arena->homecoming, NULL, memory_order_acquire);
    if (!p)
        return false;
    while (p) {
        void *next = link_of(p);
        struct opi_class_cold *c = &opi_cold[opi_class_of(p)];
        set_link(p, c->own);
        c->own = p;
        p = next;
    }
    return true;
}

OPI_COLD void *opi_pool_alloc_slow(int cls) {
    if (!opi_heap_init())
        return NULL;
    struct opi_class_cold *c = &opi_cold[cls];
    if (!c->own)
        (void)collect();
    if (c->own) {
        void *p = c->own;
        c->own = link_of(p);
        return p;
    }
    void *p = opi_heap_carve(cls);
    if (p)
        return p;
    if (opi.check && opi_check_release() && opi_classes[cls].depth > 0)
        return opi_classes[cls].stack[--opi_classes[cls].depth];
    /* Exhausted: a block of any larger class is better than failing. */
    opi_classes[cls].borrowed = true;
    for (int up = cls + 1; up < OPI_CLASSES; up++) {
        if (opi_classes[up].depth > 0)
            return opi_classes[up].stack[--opi_classes[up].depth];
        if (opi_cold[up].own) {
            p = opi_cold[up].own;
            opi_cold[up].own = link_of(p);
            return p;
        }
    }
    return NULL;
}

/* Rings and descs, without which no message can travel: OPI_HEAP_LIMIT does not bound them. */
OPI_COLD void *opi_pool_alloc_own(size_t n) {
    opi_heap_lift(true);
    void *p = opi_pool_alloc(n);
    opi_heap_lift(false);
    return p;
}

/* A chain of blocks of one owner, linked from `first` to `last`. */
static void send_home(struct opi_arena *home, void *first, void *last) {
    void *seen = atomic_load_explicit(&home->homecoming, memory_order_relaxed);
    do
        set_link(last, seen);
    while (!atomic_compare_exchange_weak_explicit(&home->homecoming, &seen, first,
                                                  memory_order_release, /* publishes the links */
                                                  memory_order_relaxed));
}

/* The stack is full.  Its older half leaves: our own blocks to a private list, foreign ones home in one chain for each owner, so a one-way stream costs
 * one atomic for many messages and the warm half stays. */
OPI_COLD void opi_pool_free_slow(void *block, int cls) {
    struct opi_class *c = &opi_classes[cls];
    if (c->limit == 0) {
        struct opi_arena *owner = opi_arena_of(block);
        if (owner != opi.arena) {
            send_home(owner, block, block);
            return;
        }
        set_link(block, opi_cold[cls].own);
        opi_cold[cls].own = block;
        return;
    }
    uint32_t leave = c->limit > 1 ? c->limit / 2 : 1;
    void *leaving[OPI_STACK_MAX];
    memcpy(leaving, c->stack, leave * sizeof(void *));
    memmove(c->stack, c->stack + leave, (c->depth - leave) * sizeof(void *));
    c->depth -= leave;
    c->stack[c->depth++] = block;

    for (uint32_t i = 0; i < leave; i++) {
        if (!leaving[i])
            continue;
        struct opi_arena *home = opi_arena_of(leaving[i]);
        if (home == opi.arena) {
            set_link(leaving[i], opi_cold[cls].own);
            opi_cold[cls].own = leaving[i];
            continue;
        }
        void *first = leaving[i], *last = leaving[i];
        for (uint32_t j = i + 1; j < leave; j++) {
            if (leaving[j] && opi_arena_of(leaving[j]) == home) {
                set_link(leaving[j], first);
                first = leaving[j];
                leaving[j] = NULL;
            }
        }
        send_home(home, first, last);
    }
}
