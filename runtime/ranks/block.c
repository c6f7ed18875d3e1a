/* block.c - the buffers of opi.h.
 *
 * Each rank has a table of the buffers it owns: whatever is not in it cannot be given or freed.  A give takes a buffer out of one table, a take puts
 * it into another, so a table is only touched by its rank.  The buffer that came last is kept beside the table: mostly it is also the next to go.  Memory comes from size classes, four to a doubling; what a rank frees stays with it up to
 * a bound, the rest goes back to the system.  Nothing is written into a buffer that stays: its lines may still be in another processor's cache. */
#include "ranks.h"

#include <stdlib.h>

#define CLASSES 232
#define KEPT_BYTES ((size_t)32 << 20)
#define KEPT_LARGE ((size_t)1 << 20) /* from here on two of a class are kept, below KEPT */
#define KEPT 8

struct entry {
    void *block; /* NULL: free */
    size_t room;
};

/* Free buffers of a class. */
struct kept {
    int count;
    void *block[KEPT];
};

struct opir_blocks {
    struct entry last; /* in no other place */
    struct entry *entry;
    size_t used, size; /* size: a power of two, at most half used */
    size_t bytes; /* of the free buffers */
    struct kept *kept[CLASSES]; /* NULL: none was ever freed */
    /* Buffers that others have freed for this rank, linked through their first word, their sizes behind the links.  Anybody puts one in, the rank takes all. */
    _Atomic(void *) home;
};

static struct opir_blocks *blocks_of(struct opir_rank *r) {
    if (!r->blocks)
        r->blocks = opir_alloc(sizeof *r->blocks);
    return r->blocks;
}

/* The class of a size, and the size of a class: 64, 80, 96, 112, 128, 160, ... */
static inline int class_of(size_t bytes, size_t *room) {
    if (bytes <= 64) {
        *room = 64;
        return 0;
    }
    int top = 63 - __builtin_clzll((unsigned long long)bytes - 1); /* 2^top < bytes <= 2^(top + 1) */
    size_t step = (size_t)1 << (top - 2);
    *room = (bytes + step - 1) & ~(step - 1);
    return (top - 6) * 4 + (int)(*room >> (top - 2)) - 4;
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
    struct kept *k = b->kept[class_of(bytes, room)];
    if (OPIR_LIKELY(k && k->count)) {
        b->bytes -= *room;
        return k->block[--k->count];
    }
    void *block;
    return posix_memalign(&block, 64, *room) ? NULL : block;
}

void opir_block_free(void *block, size_t room) {
    struct opir_blocks *b = blocks_of(opir_self);
    struct kept **at = &b->kept[class_of(room, &room)], *k = *at;
    if (OPIR_UNLIKELY(!k))
        k = *at = opir_alloc(sizeof *k);
    if (OPIR_UNLIKELY(k->count >= (room >= KEPT_LARGE ? 2 : KEPT) || b->bytes + room > KEPT_BYTES)) {
        free(block);
        return;
    }
    k->block[k->count++] = block;
    b->bytes += room;
}

/* Who answers with a message of that size has the lines in its cache.  Who only receives would soon have all blocks, and the sender none. */
void opir_block_back(struct opir_rank *r, void *block, size_t room) {
    struct opir_blocks *b = blocks_of(opir_self);
    size_t rounded;
    const struct kept *k = b->kept[class_of(room, &rounded)];
    if (!k || k->count < 2)
        opir_block_free(block, room);
    else
        opir_block_home(r, block, room);
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

/* Puts a buffer into the table. */
static void keep(struct opir_blocks *b, void *block, size_t room) {
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

void opir_block_own(struct opir_rank *r, void *block, size_t room) {
    struct opir_blocks *b = blocks_of(r);
    if (b->last.block)
        keep(b, b->last.block, b->last.room);
    b->last = (struct entry){block, room};
}

static struct entry *find(struct opir_blocks *b, const void *block) {
    if (!b || !block)
        return NULL;
    if (b->last.block == block)
        return &b->last;
    if (!b->size)
        return NULL;
    for (size_t i = slot_of(b, block); b->entry[i].block; i = (i + 1) & (b->size - 1))
        if (b->entry[i].block == block)
            return &b->entry[i];
    return NULL;
}

bool opir_block_owned(struct opir_rank *r, const void *block, size_t *room) {
    struct entry *e = find(r->blocks, block);
    if (e)
        *room = e->room;
    return e != NULL;
}

bool opir_block_let_go(struct opir_rank *r, void *block, size_t bytes, size_t *room) {
    struct opir_blocks *b = r->blocks;
    if (OPIR_LIKELY(b && b->last.block == block)) {
        *room = b->last.room;
        if (OPIR_UNLIKELY(*room < bytes))
            return false;
        b->last.block = NULL;
        return true;
    }
    if (!opir_block_owned(r, block, room) || *room < bytes)
        return false;
    opir_block_disown(r, block);
    return true;
}

void opir_block_disown(struct opir_rank *r, void *block) {
    struct opir_blocks *b = r->blocks;
    if (b->last.block == block) {
        b->last.block = NULL;
        return;
    }
    size_t i = (size_t)(find(b, block) - b->entry);
    b->used--;
    b->entry[i].block = NULL;
    for (size_t k = (i + 1) & (b->size - 1); b->entry[k].block; k = (k + 1) & (b->size - 1)) { /* those after it may have moved on because of it */
        struct entry e = b->entry[k];
        b->entry[k].block = NULL;
        insert(b, e.block, e.room);
    }
}
