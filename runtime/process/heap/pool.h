/* pool.h - the allocator of blocks, fast paths.  pool.c has the rest.
 *
 * A freed block stays with the rank that freed it, on a private stack of its size class: no atomics, and no touch of the block itself, whose lines may
 * still be in another cache.  What a rank owns on the user's behalf is marked in a private byte table, one byte for each 64 bytes of the region, which
 * also tells foreign pointers, interior pointers and double frees apart from good ones. */
#ifndef OPI_POOL_H
#define OPI_POOL_H

#include "process/base/types.h"

#include "process/tools/check.h"
#include "process/tools/profile.h"

#pragma GCC visibility push(hidden)

extern struct opi_class opi_classes[OPI_CLASSES];
extern struct opi_class_cold opi_cold[OPI_CLASSES];
extern uint8_t *opi_held[OPI_HELD_TABLES];

void *opi_pool_alloc_slow(int cls);
void *opi_pool_alloc_own(size_t n);
void opi_pool_free_slow(void *block, int cls);
uint8_t *opi_held_table(size_t index);

/* Bit of an ownership byte: memory of MPI_Alloc_mem, which is not owned in OPI's sense. */
#define OPI_HELD_MEM 128

#define OPI_SMALL ((size_t)32 << 10)
extern uint8_t opi_small_class[(OPI_SMALL >> 6) + 1]; /* by (n + 63) / 64 */
extern size_t opi_class_bytes[OPI_CLASSES];
extern size_t opi_pool_keep; /* bytes that libopi may hold back for uses of its own: of each class, and of what is left to targets of windows */

/* Smallest class that holds n bytes (n <= region).  Valid after opi_pool_init, which the first allocation calls. */
static inline int opi_class_compute(size_t n) {
    if (n <= 512)
        return n ? (int)((n - 1) >> 6) : 0;
    int top = 63 - __builtin_clzll(n - 1); /* 2^top <= n-1 < 2^(top+1), top >= 9 */
    int step = (int)(((n - 1) >> (top - 2)) & 3);
    return 8 + 4 * (top - 9) + step;
}

static inline int opi_class_of_size(size_t n) {
    return OPI_LIKELY(n <= OPI_SMALL) ? opi_small_class[(n + 63) >> 6] : opi_class_compute(n);
}

static inline size_t opi_class_size(int cls) {
    if (cls < 8)
        return (size_t)(cls + 1) << 6;
    int top = 9 + (cls - 8) / 4, step = (cls - 8) & 3;
    return ((size_t)1 << top) + ((size_t)(step + 1) << (top - 2));
}

/* In the region that all ranks share (or in our private window)? */
static inline bool opi_in_region(const void *p) {
    return (uintptr_t)p - opi.base < OPI_REGION && opi.arena != NULL;
}

static inline struct opi_arena *opi_arena_of(const void *p) {
    uintptr_t off = (uintptr_t)p - opi.base;
    return (struct opi_arena *)(opi.base + (off >> opi.window_shift << opi.window_shift));
}

/* Class of a block, from the map of the arena it was carved in. */
static inline int opi_class_of(const void *p) {
    uintptr_t off = (uintptr_t)p - opi.base;
    uintptr_t in = off & (((uintptr_t)1 << opi.window_shift) - 1);
    return (int)opi_arena_of(p)->class_map[in >> OPI_PAGE_SHIFT] - 1;
}

/* The ownership byte of a block; NULL when its table cannot be allocated. */
static inline uint8_t *opi_held_byte(const void *p) {
    uintptr_t off = (uintptr_t)p - opi.base;
    uint8_t *t = opi_held[off >> OPI_HELD_SHIFT];
    if (OPI_UNLIKELY(!t)) {
        t = opi_held_table(off >> OPI_HELD_SHIFT);
        if (!t)
            return NULL;
    }
    return t + ((off & (((uintptr_t)1 << OPI_HELD_SHIFT) - 1)) >> 6);
}

static inline void *opi_pool_alloc_class(int cls) {
    struct opi_class *c = &opi_classes[cls];
    opi_profile_pool(false);
    void *p = OPI_LIKELY(c->depth > 0) ? c->stack[--c->depth] : opi_pool_alloc_slow(cls);
    if (OPI_UNLIKELY(opi.check))
        opi_check_reuse(p);
    return p;
}

/* A block of at least n bytes that nobody owns yet; NULL when memory is exhausted. */
static inline void *opi_pool_alloc(size_t n) {
    if (OPI_UNLIKELY(n > OPI_REGION))
        return NULL;
    return opi_pool_alloc_class(opi_class_of_size(n));
}

static inline void opi_pool_free_class(void *block, int cls) {
    if (OPI_UNLIKELY(opi.check) && opi_check_keep(block))
        return;
    struct opi_class *c = &opi_classes[cls];
    uint32_t d = c->depth;
    if (OPI_LIKELY(d < c->limit)) {
        c->stack[d] = block;
        c->depth = d + 1;
        return;
    }
    opi_pool_free_slow(block, cls);
}

static inline void opi_pool_free(void *block) {
    opi_pool_free_class(block, opi_class_of(block));
}

/* Makes the calling rank's user the owner of a block of class cls.  False when the table cannot grow. */
static inline bool opi_hold(void *block, int cls) {
    uint8_t *h = opi_held_byte(block);
    if (OPI_UNLIKELY(!h))
        return false;
    *h = (uint8_t)(cls + 1);
    return true;
}

/* The ownership byte of p when p is the start of a block that the user owns, else NULL.  The byte is the class + 1. */
static inline uint8_t *opi_held_by_user(const void *p) {
    uintptr_t off = (uintptr_t)p - opi.base;
    if (OPI_UNLIKELY(off >= OPI_REGION) || OPI_UNLIKELY(off & (OPI_LINE - 1)))
        return NULL;
    uint8_t *t = opi_held[off >> OPI_HELD_SHIFT];
    if (OPI_UNLIKELY(!t))
        return NULL;
    t += (off & (((uintptr_t)1 << OPI_HELD_SHIFT) - 1)) >> 6;
    return OPI_LIKELY((uint8_t)(*t - 1) < OPI_HELD_MEM) ? t : NULL;
}

#pragma GCC visibility pop

#endif
