/* block.c - the buffers of opi.h.
 *
 * Each rank has a table of the buffers it owns: whatever is not in it cannot be given or freed.  A give takes a buffer out of one table, a take puts
 * it into another, so a table is only touched by its rank.  The buffer that came last is kept beside the table: mostly it is also the next to go.
 *
 * Memory comes from size classes, four to a doubling.  What a rank frees stays with it up to a bound, then half of it goes to a store of the whole
 * process, where a rank that has none looks first: in a stream of gives one rank makes all buffers and another frees all, and to free what another thread has
 * allocated is slow in the C library.  What the store has no room for goes back to the system.  Nothing is written into a buffer that stays: its lines may still
 * be in another processor's cache. */
#include "ranks/base/ranks.h"

#include <stdlib.h>

#define CLASSES 232
#define KEPT_BYTES ((size_t)32 << 20) /* of a rank; so much has the store, too */
/* Of a class.  A second-level cache holds less: so a buffer that comes round again is fetched from where it is near, not out of another processor's cache. */
#define KEPT_CLASS ((size_t)4 << 20)
#define KEPT_MOST 512 /* of a page each, these are twice what such a cache holds */
#define KEPT_FIBER 8 /* by a fiber: there may be many, and all share a cache */
#define KEPT_LEAST 2
#define STORED 1024

struct entry {
    void *block; /* NULL: free */
    size_t room;
};

/* A rank's free buffers of a class, the one freed last at the end. */
struct kept {
    int count, most;
    void *block[];
};

/* The process's free buffers of a class: they go in and out in batches, under the lock. */
struct store {
    _Alignas(64) pthread_mutex_t lock; /* no other is taken inside */
    _Atomic int count; /* changed under the lock, read without it by those who might come in vain */
    void *block[STORED];
};

static struct store stores[CLASSES] = {[0 ... CLASSES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static _Atomic size_t stored_bytes; /* of all stores, not more than KEPT_BYTES in the end */

struct opir_blocks {
    struct entry last; /* in no other place */
    struct entry *entry;
    size_t used, size; /* size: a power of two, at most half used */
    size_t bytes; /* of the free buffers */
    struct kept *kept[CLASSES]; /* NULL: none was ever freed */
    /* Buffers that others have freed for this rank, linked through their first word, their sizes after the links.  Anybody puts one in, the rank takes all. */
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

OPIR_COLD static void come_home(struct opir_blocks *b) {
    struct link link;
    for (void *block = atomic_exchange_explicit(&b->home, NULL, memory_order_acquire); block; block = link.next) {
        memcpy(&link, block, sizeof link);
        opir_block_free(block, link.room);
    }
}

OPIR_COLD static struct kept *kept_new(struct opir_blocks *b, int class, size_t room) {
    size_t fit = KEPT_CLASS / room;
    int limit = opir.threads ? KEPT_MOST : KEPT_FIBER, most = fit < KEPT_LEAST ? KEPT_LEAST : fit < (size_t)limit ? (int)fit : limit;
    struct kept *k = opir_alloc(sizeof *k + (size_t)most * sizeof *k->block);
    k->most = most;
    return b->kept[class] = k;
}

/* Frees buffers for all ranks. */
static void store(int class, size_t room, void *const *block, int n) {
    struct store *s = &stores[class];
    opir_lock(&s->lock);
    int have = atomic_load_explicit(&s->count, memory_order_relaxed), stay = n < STORED - have ? n : STORED - have;
    size_t bytes = (size_t)stay * room;
    if (atomic_fetch_add_explicit(&stored_bytes, bytes, memory_order_relaxed) + bytes > KEPT_BYTES) { /* a number, no more */
        atomic_fetch_sub_explicit(&stored_bytes, bytes, memory_order_relaxed);
        stay = 0;
    }
    if (stay)
        memcpy(s->block + have, block, (size_t)stay * sizeof *block);
    atomic_store_explicit(&s->count, have + stay, memory_order_relaxed);
    opir_unlock(&s->lock);
    for (int i = stay; i < n; i++)
        free(block[i]);
}

/* A buffer of a class of which the rank has none: it takes half of what it may keep, if the store has so many. */
OPIR_COLD static void *fetch(struct opir_blocks *b, int class, size_t room) {
    struct store *s = &stores[class];
    if (atomic_load_explicit(&s->count, memory_order_relaxed)) { /* a hint */
        struct kept *k = b->kept[class] ? b->kept[class] : kept_new(b, class, room);
        size_t fit = (KEPT_BYTES - b->bytes) / room + 1; /* one goes to the caller */
        opir_lock(&s->lock);
        int have = atomic_load_explicit(&s->count, memory_order_relaxed), n = k->most / 2 < have ? k->most / 2 : have;
        n = (size_t)n < fit ? n : (int)fit;
        memcpy(k->block, s->block + have - n, (size_t)n * sizeof *k->block);
        atomic_store_explicit(&s->count, have - n, memory_order_relaxed);
        opir_unlock(&s->lock);
        if (n) {
            atomic_fetch_sub_explicit(&stored_bytes, (size_t)n * room, memory_order_relaxed);
            k->count = n - 1;
            b->bytes += (size_t)k->count * room;
            return k->block[k->count];
        }
    }
    void *block;
    return posix_memalign(&block, 64, room) ? NULL : block;
}

/* A buffer comes for which the rank has no room: the older half of its class leaves. */
OPIR_COLD static void make_room(struct opir_blocks *b, int class, size_t room, void *block) {
    struct kept *k = b->kept[class];
    int n = (k->count + 1) / 2;
    if (n)
        store(class, room, k->block, n);
    k->count -= n;
    memmove(k->block, k->block + n, (size_t)k->count * sizeof *k->block);
    b->bytes -= (size_t)n * room;
    if (b->bytes + room > KEPT_BYTES) { /* other classes have it all */
        store(class, room, &block, 1);
        return;
    }
    k->block[k->count++] = block;
    b->bytes += room;
}

void *opir_block_new(size_t bytes, size_t *room) {
    if (bytes > (size_t)PTRDIFF_MAX / 2)
        return NULL;
    struct opir_blocks *b = blocks_of(opir_self);
    if (OPIR_UNLIKELY(atomic_load_explicit(&b->home, memory_order_relaxed) != NULL))
        come_home(b);
    int class = class_of(bytes, room);
    struct kept *k = b->kept[class];
    if (OPIR_LIKELY(k && k->count)) {
        b->bytes -= *room;
        return k->block[--k->count];
    }
    return fetch(b, class, *room);
}

void opir_block_free(void *block, size_t room) {
    struct opir_blocks *b = blocks_of(opir_self);
    int class = class_of(room, &room);
    struct kept *k = b->kept[class];
    if (OPIR_UNLIKELY(!k))
        k = kept_new(b, class, room);
    if (OPIR_UNLIKELY(k->count == k->most || b->bytes + room > KEPT_BYTES)) {
        make_room(b, class, room, block);
        return;
    }
    k->block[k->count++] = block;
    b->bytes += room;
}

/* The rank has ended: nobody else touches its table.  What it still owns is the program's. */
void opir_blocks_end(struct opir_rank *r) {
    struct opir_blocks *b = r->blocks;
    if (!b)
        return;
    struct link link;
    for (void *block = atomic_exchange_explicit(&b->home, NULL, memory_order_acquire); block; block = link.next) {
        memcpy(&link, block, sizeof link);
        free(block);
    }
    for (int class = 0; class < CLASSES; class++) {
        struct kept *k = b->kept[class];
        while (k && k->count)
            free(k->block[--k->count]);
        free(k);
        b->kept[class] = NULL;
    }
    b->bytes = 0;
}

/* All ranks have ended. */
void opir_stores_end(void) {
    for (int class = 0; class < CLASSES; class++)
        for (int i = 0; i < stores[class].count; i++)
            free(stores[class].block[i]);
}

void opir_block_drop(void *block, size_t room) {
    if (opir_self)
        opir_block_free(block, room);
    else
        free(block);
}

/* A rank has its table before any other thread has a buffer of its. */
static void send_home(struct opir_rank *r, void *block, size_t room) {
    struct opir_blocks *b = r->blocks;
    struct link link = {atomic_load_explicit(&b->home, memory_order_relaxed), room};
    do
        memcpy(block, &link, sizeof link);
    while (!atomic_compare_exchange_weak_explicit(&b->home, &link.next, block, memory_order_release, memory_order_relaxed)); /* the link comes before */
}

/* Who answers with a message of that size has the lines in its cache.  Who only receives would soon have all blocks, and the sender none. */
void opir_block_back(struct opir_rank *r, void *block, size_t room) {
    struct opir_blocks *b = blocks_of(opir_self);
    size_t rounded;
    const struct kept *k = b->kept[class_of(room, &rounded)];
    if (r == opir_self || !k || k->count < 2)
        opir_block_free(block, room);
    else
        send_home(r, block, room);
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
