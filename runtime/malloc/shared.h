/* shared.h - the replacement allocator: the malloc family from memory that the other ranks of the node can read.
 *
 * Blocks of OPI_MALLOC_MIN bytes and more come from the rank's window (window.h), growing down from its end; smaller ones stay with the C library, whose
 * allocator is reached by its second names.  That boundary is not only for speed.  A message shorter than it never travels by reference, so sharing its
 * memory would gain nothing; the C library's own small objects (a FILE's lock, which fork() writes in the child before any handler of ours can run) must not
 * lie in memory that the child still shares with its parent; and the snapshot that a fork takes (start.c) stays small.
 *
 * Three layers, each a file:
 *   pages.c   runs of pages, one lock: best fit, joined with their neighbours when freed, returned to the system past a bound
 *   blocks.c  blocks up to OPI_SLAB_MAX in slabs of at most 64, by size class: a cache a thread without locks, after it one list a class with a lock
 *   family.c  the functions of the program, and which of the two a pointer belongs to
 * All that describes memory is private to the process and away from it, so no peer's stray write can harm the allocator, freed memory is not touched, and a
 * fork finds the books consistent by taking the locks. */
#ifndef OPI_MALLOC_SHARED_H
#define OPI_MALLOC_SHARED_H

#include "shared/window.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define OPI_LIKELY(x) __builtin_expect(!!(x), 1)
#define OPI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define OPI_COLD __attribute__((cold, noinline))

#define OPI_SPAN_SHIFT 12 /* a page of the books, whatever the system's is */
#define OPI_SPAN_PAGE ((size_t)1 << OPI_SPAN_SHIFT)
#define OPI_MALLOC_MIN ((size_t)1 << 10)
#define OPI_SLAB_MAX ((size_t)32 << 10)
#define OPI_SLAB_CLASSES 21   /* 1 KiB, then four steps a doubling up to OPI_SLAB_MAX */
#define OPI_SLAB_BLOCKS 64u   /* of one slab: a bit each */
#define OPI_CACHE_BLOCKS 64u  /* of one class in a thread's cache */
#define OPI_BINS 128u         /* lists of free spans: 64 of one length each, then four a doubling */

#pragma GCC visibility push(hidden)

enum opi_span_kind { OPI_SPAN_FREE, OPI_SPAN_SLAB, OPI_SPAN_LARGE };

/* A run of pages.  Spans tile [high, bytes) of the window without gaps, and no two free ones are neighbours.
 *
 * The map has a span at the index of its first and of its last page, of a slab at every page.  Entries between may be stale; nothing reads them, since a
 * block starts in its span's first page or in a slab, and joining looks at the page before a span and the page after it.
 *
 * `first`, `pages`, `kind` change under the lock of the pages only, and never while a block of the span is out; whoever holds a block got it through a
 * release/acquire pair, so its reads need no lock. */
struct opi_span {
    size_t first, pages; /* in pages from the window's start */
    size_t touched;      /* free: at most so many of the pages hold memory; 0: all read as zeros */
    struct opi_span *next, *prev; /* free: in its bin; a slab with vacant blocks: in its class's list */
    uint64_t vacant;     /* slab: a bit for each block that is in no thread's hands or cache; under the class's lock */
    uint64_t all;        /* slab: a bit for each block; constant */
    uint32_t offset;     /* large: where the block starts, below one page; constant while it is out */
    uint8_t kind;
    uint8_t cls;         /* slab: constant */
};

/* The cache of one thread: used by that thread only.  The warmest block leaves first. */
struct opi_cache {
    struct opi_cache *next; /* while nobody's */
    struct opi_stack {
        uint32_t depth, limit;
        void *block[OPI_CACHE_BLOCKS];
    } stack[OPI_SLAB_CLASSES];
};

/* Written by opi_shared_start and by a forked child only, which has one thread. */
struct opi_shared {
    uintptr_t base; /* [base, base + bytes) is the window; bytes is 0 as long as there is none */
    size_t bytes;
    _Atomic size_t least; /* blocks from here on are shared; SIZE_MAX as long as there is no window.  Stored last (release; malloc acquires it): a thread that
                             sees it sees the rest.  Those that only free need no more: the block's way to them ordered it. */
    size_t most;  /* the largest request that can be anything but a mistake: the machine's memory and swap */
    bool commit;  /* the system promises no more memory than it has (vm.overcommit_memory=2): take it before handing it out */
    bool alone;   /* a forked child: the window is private memory, */
    bool pinned;  /* and still backed by the file, so that dropped pages would not read as zeros */
    struct opi_window window;
    _Atomic(struct opi_span *) *map; /* by page; relaxed: see struct opi_span */
};

extern struct opi_shared opi_shared;

/* Is it a block of the window? */
static inline bool opi_shared_has(const void *p) {
    return (uintptr_t)p - opi_shared.base < opi_shared.bytes;
}

/* Is a block of n bytes one to share? */
static inline bool opi_shared_wants(size_t n) {
    return n >= atomic_load_explicit(&opi_shared.least, memory_order_acquire);
}

static inline struct opi_span *opi_span_at(size_t page) {
    return atomic_load_explicit(&opi_shared.map[page], memory_order_relaxed);
}

static inline struct opi_span *opi_span_of(const void *p) {
    return opi_span_at(((uintptr_t)p - opi_shared.base) >> OPI_SPAN_SHIFT);
}

static inline char *opi_span_start(const struct opi_span *s) {
    return (char *)opi_shared.base + (s->first << OPI_SPAN_SHIFT);
}

_Noreturn void opi_malloc_die(const char *what, const void *p);

/* pages.c */
extern pthread_mutex_t opi_pages_lock;
struct opi_span *opi_pages_take(size_t pages, size_t align, int kind, bool *zero);
void opi_pages_put(struct opi_span *s);
bool opi_pages_grow(struct opi_span *s, size_t pages);
void opi_pages_shrink(struct opi_span *s, size_t pages);
void *opi_books(size_t bytes);
size_t opi_pages_held(void);

/* blocks.c */
int opi_slab_class(size_t n);
size_t opi_slab_size(int cls);
void *opi_slab_alloc(int cls);
void opi_slab_free(void *p, struct opi_span *s);
void opi_slabs_start(void);
void opi_slabs_lock(void);
void opi_slabs_unlock(bool child);

/* start.c */
size_t opi_libc_usable_size(void *p);

#pragma GCC visibility pop

#endif
