/* block.c - the buffers of opi.h.
 *
 * Each rank has a table of the buffers it owns: whatever is not in it cannot be given or freed.  A give takes a buffer out of one table, a take puts
 * it into another, so a table is only touched by its rank.  Memory comes from size classes, four to a doubling; what a rank frees stays with it up to
 * a bound, the rest goes back to the system. */
#include "ranks.h"

#include <stdlib.h>

#define CLASSES 232
#define KEPT_BYTES ((size_t)32 << 20)
#define KEPT_LARGE ((size_t)1 << 20) /* from here on two of a class are kept, below eight */

struct entry {
    void *block; /* NULL: free */
    size_t room;
};

struct opir_blocks {
    struct entry *entry;
    size_t used, size; /* size: a power of two, at most half used */
    size_t kept;
    void *head[CLASSES]; /* free buffers, linked through their first word */
    uint8_t count[CLASSES];
    /* Buffers that others have freed for this rank, linked in the same way, their sizes behind the links.  Anybody puts one in, the rank takes all. */
    _Atomic(void *) home;
};

static struct opir_blocks *blocks_of(struct opir_rank *r) {
    if (!r->blocks)
        r->blocks = opir_alloc(sizeof *r->blocks);
    return r->blocks;
}

/* The class of a size, and the size of a class: 64, 80, 96, 112, 128, 160, ... */
static int class_of(size_t bytes, size_t *room) {
    if (bytes < 64)
        bytes = 64;
    int top = 63 - __builtin_clzll((unsigned long long)bytes);
    size_t step = (size_t)1 << (top - 2), rounded = (bytes + step - 1) & ~(step - 1);
    top = 63 - __builtin_clzll((unsigned long long)rounded);
    *room = rounded;
    return (top - 6) * 4 + (int)(rounded >> (top - 2) & 3);
}

struct link {
    void *next;
    size_t room;
};

/* A rank has its table before any other thread has a buffer of its. */
void opir_block_home(struct opir_rank *r, void *block, size_t room) {
    struct opir_blocks *b = r->blocks;
    if (r == opir_self) {
        opir_block_free(block, room);
        return;
    }
    struct link link = {atomic_load_explicit(&b->home, memory_order_relaxed), room};
    do
        memcpy(block, &link, sizeof link);
    while (!atomic_compare_exchange_weak_explicit(&b->home, &link.next, block, memory_order_release, memory_order_relaxed)); /* the link comes before */
}

OPIR_COLD static void come_home(struct opir_blocks *b) {
    struct link link;
    for (void *block = atomic_exchange_explicit(&b->home, NULL, memory_order_acquire); block; block = link.next) {
        memcpy(&link, block, sizeof link);
        opir_block_free(block, link.room);
    }
}

void *opir_block_new(size_t bytes, size_t *room) {
    if (bytes > (size_t)PTRDIFF_MAX / 2)
        return NULL;
    struct opir_blocks *b = blocks_of(opir_self);
    if (OPIR_UNLIKELY(atomic_load_explicit(&b->home, memory_order_relaxed) != NULL))
        come_home(b);
    int class = class_of(bytes, room);
    void *block = b->head[class];
    if (block) {
        memcpy(&b->head[class], block, sizeof(void *));
        b->count[class]--;
        b->kept -= *room;
        return block;
    }
    return posix_memalign(&block, 64, *room) ? NULL : block;
}

void opir_block_free(void *block, size_t room) {
    struct opir_blocks *b = blocks_of(opir_self);
    int class = class_of(room, &room);
    if (b->count[class] >= (room >= KEPT_LARGE ? 2 : 8) || b->kept + room > KEPT_BYTES) {
        free(block);
        return;
    }
    memcpy(block, &b->head[class], sizeof(void *));
    b->head[class] = block;
    b->count[class]++;
    b->kept += room;
}

static size_t slot_of(const struct opir_blocks *b, const void *block) {
    return (size_t)(((uint64_t)(uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u >> 20) & (b->size - 1);
}

static void insert(struct opir_blocks *b, void *block, size_t room) {
    size_t i = slot_of(b, block);
    while (b->entry[i].block)
        i = (i + 1) & (b->size - 1);
    b->entry[i] = (struct entry){block, room};
}

void opir_block_own(struct opir_rank *r, void *block, size_t room) {
    struct opir_blocks *b = blocks_of(r);
    if ((b->used + 1) * 2 > b->size) {
        struct entry *old = b->entry;
        size_t n = b->size;
        b->size = n ? n * 2 : 8;
        b->entry = opir_alloc(b->size * sizeof *b->entry);
        for (size_t i = 0; i < n; i++)
            if (old[i].block)
                insert(b, old[i].block, old[i].room);
        free(old);
    }
    b->used++;
    insert(b, block, room);
}

static struct entry *find(struct opir_rank *r, const void *block) {
    struct opir_blocks *b = r->blocks;
    if (!b || !b->size || !block)
        return NULL;
    for (size_t i = slot_of(b, block); b->entry[i].block; i = (i + 1) & (b->size - 1))
        if (b->entry[i].block == block)
            return &b->entry[i];
    return NULL;
}

bool opir_block_owned(struct opir_rank *r, const void *block, size_t *room) {
    struct entry *e = find(r, block);
    if (e)
        *room = e->room;
    return e != NULL;
}

void opir_block_disown(struct opir_rank *r, void *block) {
    struct opir_blocks *b = r->blocks;
    size_t i = (size_t)(find(r, block) - b->entry);
    b->used--;
    b->entry[i].block = NULL;
    for (size_t k = (i + 1) & (b->size - 1); b->entry[k].block; k = (k + 1) & (b->size - 1)) { /* those after it may have moved on because of it */
        struct entry e = b->entry[k];
        b->entry[k].block = NULL;
        insert(b, e.block, e.room);
    }
}
