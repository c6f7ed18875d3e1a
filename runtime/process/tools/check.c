/* check.c - OPI_CHECK: the books of the buffers that the user owned, and the protection of their pages.
 *
 * A buffer that was freed stays aside for a while before the pool gets it again, inaccessible.  A buffer that was given is inaccessible here while its
 * receiver uses it through its own mapping; when it comes back, libopi's first touch opens it (check_fault.c), and so does being handed out again.
 * A taken buffer whose message is shorter than its room is moved so that the last bytes that arrived end a page, up to the 64 bytes that buffers are
 * aligned to: what is read beyond them faults. */
#include "process/base/error.h"
#include "process/heap/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define POISON 0xff /* as doubles NaN: what did not arrive shows in results even where no page ends */
#define ASIDE_BLOCKS 1024u
#define ASIDE_BYTES ((size_t)64 << 20)

_Thread_local void *opi_check_site;
_Thread_local bool opi_in_library;

static struct opi_book *books; /* open addressing by start; a power of two */
static size_t books_room, books_used;
static size_t page = 4096;
static bool said_full;

/* Freed and inaccessible, oldest first. */
static void *aside[ASIDE_BLOCKS];
static size_t aside_first, aside_count, aside_bytes;

void opi_check_load(void) {
    const char *s = getenv("OPI_CHECK");
    opi.check = s && *s && strcmp(s, "0") != 0;
    page = (size_t)sysconf(_SC_PAGESIZE);
    if (opi.check)
        opi_check_handler();
}

static void watch_forks(void);

void opi_check_begin(void) {
    if (!opi.check)
        return;
    opi_check_handler(); /* the MPI below may have put its own in place of ours */
    watch_forks();       /* before the helper does */
}

static size_t pages(size_t n) {
    return (n + page - 1) & ~(page - 1);
}

size_t opi_check_stride(size_t size) {
    return pages(size);
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------------------ */

static size_t place_of(const struct opi_book *t, size_t room, const void *start) {
    size_t i = (size_t)(((uint64_t)(uintptr_t)start * 0x9e3779b97f4a7c15u) >> 20) & (room - 1);
    while (t[i].start && t[i].start != start)
        i = (i + 1) & (room - 1);
    return i;
}

static struct opi_book *find(const void *start) {
    if (!books_room)
        return NULL;
    struct opi_book *b = &books[place_of(books, books_room, start)];
    return b->start ? b : NULL;
}

static struct opi_book *enter(void *start) {
    struct opi_book *b = find(start);
    if (b)
        return b;
    if (books_used * 2 >= books_room) {
        size_t room = books_room ? 2 * books_room : 1024;
        /* Not malloc: it may be ours, and this runs inside. */
        struct opi_book *t = mmap(NULL, room * sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (t == MAP_FAILED)
            opi_die("no memory for OPI_CHECK");
        for (size_t i = 0; i < books_room; i++)
            if (books[i].start)
                t[place_of(t, room, books[i].start)] = books[i];
        if (books)
            munmap(books, books_room * sizeof *books);
        books = t;
        books_room = room;
    }
    b = &books[place_of(books, books_room, start)];
    b->start = start;
    books_used++;
    return b;
}

/* The book of a buffer, by its start. */
struct opi_book *opi_book_of(const void *start) {
    return find(start);
}

/* All books, one a call; *i begins with 0. */
struct opi_book *opi_book_next(size_t *i) {
    while (*i < books_room && !books[*i].start)
        ++*i;
    return *i < books_room ? &books[(*i)++] : NULL;
}

/* The buffer whose inaccessible pages hold this address. */
struct opi_book *opi_book_at(const void *address) {
    const char *a = address;
    for (size_t i = 0; i < books_room; i++)
        if (books[i].start && a >= books[i].from && a < books[i].to)
            return &books[i];
    return NULL;
}

/* ---- pages ---------------------------------------------------------------------------------------------------------------------------------- */

void opi_book_open(struct opi_book *b) {
    if (b->from != b->to)
        (void)mprotect(b->from, (size_t)(b->to - b->from), PROT_READ | PROT_WRITE);
    b->from = b->to = b->start;
}

static void before_fork(void) {
    for (size_t i = 0; i < books_room; i++)
        if (books[i].start && books[i].from != books[i].to)
            (void)mprotect(books[i].from, (size_t)(books[i].to - books[i].from), PROT_READ | PROT_WRITE);
}

static void after_fork(void) {
    for (size_t i = 0; i < books_room; i++)
        if (books[i].start && books[i].from != books[i].to)
            (void)mprotect(books[i].from, (size_t)(books[i].to - books[i].from), PROT_NONE);
}

static void in_child(void) {
    opi.check = false; /* the snapshot it works on is accessible */
}

static void watch_forks(void) {
    static bool once;
    if (!once)
        pthread_atfork(before_fork, after_fork, in_child); /* after the heap's: runs before it */
    once = true;
}

static void close_pages(struct opi_book *b, char *from, char *to) {
    if (from >= to)
        return;
    watch_forks();
    if (mprotect(from, (size_t)(to - from), PROT_NONE) != 0) {
        if (!said_full)
            opi_say("OPI_CHECK: no more pages can be made inaccessible (vm.max_map_count); touches of some buffers go unnoticed");
        said_full = true;
        return;
    }
    b->from = from;
    b->to = to;
}

static void close_whole(struct opi_book *b) {
    opi_book_open(b);
    close_pages(b, b->block, b->block + pages(opi_class_size(b->cls)));
}

/* A write to a page beyond what arrived is no fault of the program's: from there on it may read the page.  The pages before stay closed. */
bool opi_book_wrote(struct opi_book *b, const char *address) {
    char *first = b->from, *last = b->to, *at = (char *)((uintptr_t)address & ~(page - 1));
    if (mprotect(at, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    /* One run of closed pages is kept track of: the longer rest. */
    if (at - first >= last - (at + page)) {
        (void)mprotect(at, (size_t)(last - at), PROT_READ | PROT_WRITE);
        b->to = at;
    } else {
        (void)mprotect(first, (size_t)(at + page - first), PROT_READ | PROT_WRITE);
        b->from = at + page;
    }
    return true;
}

/* ---- becoming an owner ------------------------------------------------------------------------------------------------------------------------ */

static struct opi_book *born(void *p, void *block, int cls, size_t length, void *site) {
    struct opi_book *b = enter(p);
    opi_book_open(b);
    b->block = block;
    b->cls = cls;
    b->length = length;
    b->arrived = length;
    b->from = b->to = p;
    b->state = OPI_B_HELD;
    b->taken = false;
    b->born = site;
    b->gone = NULL;
    return b;
}

OPI_COLD void opi_check_alloc(void *p, size_t length) {
    born(p, p, opi_class_of(p), length, opi_check_site);
}

/* The user becomes the owner of what a take brought; returns where it lies now. */
OPI_COLD void *opi_check_taken(struct opi_req *r, void *block) {
    size_t room = r->room, got = r->r_bytes < room ? r->r_bytes : room;
    struct opi_book *b;
    if (!r->type || !r->type->contiguous || got == room) {
        b = born(block, block, opi_class_of(block), room, r->site);
        b->taken = true;
        return block;
    }
    size_t head = (got + OPI_LINE - 1) & ~(size_t)(OPI_LINE - 1), shift = pages(head) - head;
    char *wide = opi_pool_alloc(shift + head + pages(room) + page);
    if (!wide) { /* no room for checking */
        b = born(block, block, opi_class_of(block), room, r->site);
        b->taken = true;
        return block;
    }
    int cls = opi_class_of(wide);
    char *p = wide + shift;
    memcpy(p, block, got);
    memset(p + got, POISON, room - got);
    opi_pool_free(block);
    b = born(p, wide, cls, room, r->site);
    b->taken = true;
    b->arrived = got;
    close_pages(b, p + head, wide + pages(opi_class_size(cls)));
    r->block_class = opi_class_of_size(room);
    return p;
}

/* ---- ceasing to be one ------------------------------------------------------------------------------------------------------------------------ */

/* The user frees p, or starts to give it.  The pages close later, when libopi is done with them. */
OPI_COLD void opi_check_gone(void *p, int state) {
    struct opi_book *b = find(p);
    if (!b)
        return;
    b->state = state;
    b->gone = opi_check_site;
}

/* The block to give for p: one of the pool's, with the bytes that p holds. */
OPI_COLD void *opi_check_unshifted(void *p, size_t bytes) {
    struct opi_book *b = find(p);
    if (!b || b->from == b->to || b->state == OPI_B_NONE)
        return p;
    size_t open = (size_t)(b->from - b->start), keep = open < bytes ? open : bytes;
    if (bytes > open)
        opi_check_use_slow("a give", p, bytes);
    if (b->block == b->start) {
        opi_book_open(b);
        return p;
    }
    char *q = opi_pool_alloc(b->length);
    if (!q)
        return NULL;
    memset(q, POISON, b->length);
    memcpy(q, p, keep);
    return q;
}

/* The give has left; `block` is what travels.  Nothing of p may be touched any more. */
OPI_COLD void opi_check_given(void *p, void *block) {
    struct opi_book *b = find(p);
    if (!b || b->state != OPI_B_GIVEN) /* it is back already: a message to oneself */
        return;
    if (p != block)
        opi_pool_free(p);
    else if (b->from == b->to)
        close_whole(b);
}

/* The give failed: p is the user's as before. */
OPI_COLD void opi_check_still(void *p, void *block) {
    struct opi_book *b = find(p);
    if (b && b->state == OPI_B_GIVEN)
        b->state = OPI_B_HELD;
    if (block && block != p)
        opi_pool_free(block);
}

static void release_oldest(void) {
    struct opi_book *old = find(aside[aside_first]);
    aside_first = (aside_first + 1) % ASIDE_BLOCKS;
    aside_count--;
    aside_bytes -= opi_class_size(old->cls);
    opi_book_open(old);
    old->state = OPI_B_NONE;
    opi_pool_free_class(old->block, old->cls);
}

/* The heap is full: what lies aside is needed.  False when nothing does. */
OPI_COLD bool opi_check_release(void) {
    bool any = aside_count != 0;
    while (aside_count)
        release_oldest();
    return any;
}

/* A block returns to the pool.  True: it stays aside, inaccessible, since its user let go of it just now. */
OPI_COLD bool opi_check_keep(void *block) {
    struct opi_book *b = find(block);
    if (!b || (b->state != OPI_B_GIVEN && b->state != OPI_B_FREED))
        return false;
    size_t bytes = opi_class_size(b->cls);
    if (bytes > ASIDE_BYTES / 2) {
        opi_book_open(b);
        b->state = OPI_B_NONE;
        opi_pool_free_class(b->block, b->cls);
        return true;
    }
    close_whole(b);
    while (aside_count && (aside_count == ASIDE_BLOCKS || aside_bytes + bytes > ASIDE_BYTES))
        release_oldest();
    aside[(aside_first + aside_count) % ASIDE_BLOCKS] = block;
    aside_count++;
    aside_bytes += bytes;
    return true;
}

/* The pool hands a block out: whatever it was, it can be used. */
OPI_COLD void opi_check_reuse(void *block) {
    struct opi_book *b = find(block);
    if (b) {
        opi_book_open(b);
        b->state = OPI_B_NONE;
    }
}

/* ---- misuse that a call can see ------------------------------------------------------------------------------------------------------------ */

static const char *const past[] = {"made", "allocated", "given", "freed"};

/* p is not the user's to free or give: says what became of it. */
OPI_COLD void opi_check_bad(const char *call, const void *p) {
    if (!opi.check)
        return;
    char here[512], there[512];
    opi_where(opi_check_site, true, here, sizeof here);
    struct opi_book *b = find(p);
    if (b && (b->state == OPI_B_GIVEN || b->state == OPI_B_FREED)) {
        opi_where(b->gone, true, there, sizeof there);
        opi_say("buffer %s at %s, passed to %s at %s", past[b->state], there, call, here);
        return;
    }
    for (size_t i = 0; i < books_room; i++) {
        b = &books[i];
        if (b->start && b->state == OPI_B_HELD && (const char *)p > b->start && (const char *)p < b->start + b->length) {
            opi_where(b->born, true, there, sizeof there);
            opi_say("%p lies inside the buffer %s at %s, passed to %s at %s", p, b->taken ? "taken" : "allocated", there, call, here);
            return;
        }
    }
    opi_say("%p never was a buffer of OPI_Alloc or OPI_Take, passed to %s at %s", p, call, here);
}

/* A call of MPI gets memory that the user has no right to. */
OPI_COLD void opi_check_use_slow(const char *call, const void *p, size_t bytes) {
    if (!opi_in_region(p) || !bytes)
        return;
    bool reads = strstr(call, "ive") != NULL || (strstr(call, "end") != NULL && strstr(call, "recv") == NULL);
    const char *a = p;
    for (size_t i = 0; i < books_room; i++) {
        struct opi_book *b = &books[i];
        if (!b->start || b->from == b->to || a >= b->to || a + bytes <= b->from)
            continue;
        char here[512], there[512];
        opi_check_here(here, sizeof here);
        if (b->state == OPI_B_HELD) {
            if (!reads) {
                opi_book_open(b);
                return;
            }
            opi_where(b->born, true, there, sizeof there);
            opi_die("buffer taken at %s: %zu bytes arrived, read beyond them by %s at %s", there, b->arrived, call, here);
        }
        opi_where(b->gone, true, there, sizeof there);
        opi_die("buffer %s at %s, touched at %s (by %s)", past[b->state], there, here, call);
    }
}
