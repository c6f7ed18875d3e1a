/* pages.c - runs of pages of the window: taken best fit, joined with free neighbours when put back, returned to the system past a bound. */
#include "malloc/shared.h"

#define GROW_PAGES ((size_t)4096)   /* 16 MiB of the window at a time: addresses only, memory comes when it is touched */
#define KEEP_PAGES ((size_t)8192)   /* free pages that may keep their memory: 32 MiB, */
#define KEEP_SHARE 8                /* or this part of what is in use, whichever is more */
#define SCAN 32                     /* candidates looked at in a bin of mixed lengths */
#define BOOK_CHUNK ((size_t)64 << 10)

pthread_mutex_t opi_pages_lock = PTHREAD_MUTEX_INITIALIZER;

/* Under opi_pages_lock. */
static struct opi_span *bin[OPI_BINS];
static uint64_t filled[OPI_BINS / 64]; /* a bit for each bin that is not empty */
static struct opi_span *spare;         /* descriptions not in use, linked through next */
static size_t used_pages, touched_free;
static char *book, *book_end;

/* Memory for books, never given back; under opi_pages_lock.  NULL when the system has none. */
void *opi_books(size_t bytes) {
    bytes = (bytes + 63) & ~(size_t)63;
    if ((size_t)(book_end - book) < bytes) {
        size_t chunk = bytes > BOOK_CHUNK ? bytes : BOOK_CHUNK;
        void *p = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return NULL;
        book = p;
        book_end = book + chunk;
    }
    void *p = book;
    book += bytes;
    return p;
}

static struct opi_span *span_new(size_t first, size_t pages) {
    struct opi_span *s = spare;
    if (s)
        spare = s->next;
    else if (!(s = opi_books(sizeof *s)))
        return NULL;
    *s = (struct opi_span){.first = first, .pages = pages};
    return s;
}

static void span_drop(struct opi_span *s) {
    s->next = spare;
    spare = s;
}

static void map_ends(struct opi_span *s) {
    atomic_store_explicit(&opi_shared.map[s->first], s, memory_order_relaxed);
    atomic_store_explicit(&opi_shared.map[s->first + s->pages - 1], s, memory_order_relaxed);
}

/* Bins 0..63 hold spans of 1..64 pages each; the later ones four lengths a doubling. */
static unsigned bin_of(size_t pages) {
    if (pages <= 64)
        return (unsigned)pages - 1;
    unsigned top = 63 - (unsigned)__builtin_clzll(pages); /* >= 6 */
    unsigned b = 64 + 4 * (top - 6) + (unsigned)((pages >> (top - 2)) & 3);
    return b < OPI_BINS ? b : OPI_BINS - 1;
}

/* Spans that hold memory stand before those that do not. */
static void link_free(struct opi_span *s) {
    unsigned b = bin_of(s->pages);
    struct opi_span *before = NULL, *after = bin[b];
    if (s->touched == 0 && after && after->touched != 0) { /* after the last that holds memory, or a few steps further in a long list */
        int n = 0;
        while (after && after->touched != 0 && n++ < SCAN) {
            before = after;
            after = after->next;
        }
    }
    s->prev = before;
    s->next = after;
    if (before)
        before->next = s;
    else
        bin[b] = s;
    if (after)
        after->prev = s;
    filled[b / 64] |= (uint64_t)1 << (b % 64);
    s->kind = OPI_SPAN_FREE;
    touched_free += s->touched;
    map_ends(s);
}

static void unlink_free(struct opi_span *s) {
    unsigned b = bin_of(s->pages);
    if (s->prev)
        s->prev->next = s->next;
    else
        bin[b] = s->next;
    if (s->next)
        s->next->prev = s->prev;
    if (!bin[b])
        filled[b / 64] &= ~((uint64_t)1 << (b % 64));
    touched_free -= s->touched;
}

/* The first bin from b on that is not empty. */
static unsigned next_bin(unsigned b) {
    for (unsigned w = b / 64; w < OPI_BINS / 64; w++) {
        uint64_t bits = filled[w];
        if (w == b / 64)
            bits &= ~(uint64_t)0 << (b % 64);
        if (bits)
            return w * 64 + (unsigned)__builtin_ctzll(bits);
    }
    return OPI_BINS;
}

static struct opi_span *find(size_t pages) {
    unsigned b = bin_of(pages);
    if (b >= 64) { /* its own bin has shorter ones too */
        struct opi_span *best = NULL;
        int n = 0;
        for (struct opi_span *s = bin[b]; s && n < SCAN; s = s->next, n++)
            if (s->pages >= pages && (!best || s->pages < best->pages))
                best = s;
        if (best)
            return best;
        b++;
    }
    for (b = b < OPI_BINS ? next_bin(b) : OPI_BINS; b < OPI_BINS; b = next_bin(b + 1)) {
        struct opi_span *best = NULL;
        int n = 0;
        for (struct opi_span *s = bin[b]; s && n < SCAN; s = s->next, n++)
            if (s->pages >= pages && (!best || s->pages < best->pages))
                best = s;
        if (best)
            return best;
        if (b == OPI_BINS - 1)
            break;
    }
    return NULL;
}

/* Joins a span that is in no list with its free neighbours; the result is in no list either. */
static struct opi_span *join(struct opi_span *s) {
    size_t floor = atomic_load_explicit(&opi_shared.window.high, memory_order_relaxed) >> OPI_SPAN_SHIFT, end = opi_shared.bytes >> OPI_SPAN_SHIFT;
    if (s->first > floor) {
        struct opi_span *before = opi_span_at(s->first - 1);
        if (before->kind == OPI_SPAN_FREE) {
            unlink_free(before);
            s->first = before->first;
            s->pages += before->pages;
            s->touched += before->touched;
            span_drop(before);
        }
    }
    if (s->first + s->pages < end) {
        struct opi_span *after = opi_span_at(s->first + s->pages);
        if (after->kind == OPI_SPAN_FREE) {
            unlink_free(after);
            s->pages += after->pages;
            s->touched += after->touched;
            span_drop(after);
        }
    }
    return s;
}

/* The memory of a free span goes back to the system; it reads as zeros afterwards. */
static void release(struct opi_span *s) {
    /* MADV_REMOVE and not fallocate: libraries that register memory with a network card watch madvise. */
    if (s->touched && !opi_shared.pinned &&
        madvise(opi_span_start(s), s->pages << OPI_SPAN_SHIFT, opi_shared.alone ? MADV_DONTNEED : MADV_REMOVE) == 0)
        s->touched = 0;
}

/* Keeps the memory held by free spans bounded: the longest go first. */
static void trim(void) {
    size_t keep = used_pages / KEEP_SHARE > KEEP_PAGES ? used_pages / KEEP_SHARE : KEEP_PAGES;
    if (touched_free <= keep)
        return;
    for (unsigned b = OPI_BINS; b-- > 0 && touched_free > keep / 2;) {
        if (!(filled[b / 64] & (uint64_t)1 << (b % 64)))
            continue;
        int n = 0;
        for (struct opi_span *s = bin[b], *next; s && n < SCAN && touched_free > keep / 2; s = next, n++) {
            next = s->next;
            if (s->touched == 0)
                continue;
            unlink_free(s);
            release(s);
            link_free(s);
        }
    }
}

static void put(struct opi_span *s) {
    s = join(s);
    link_free(s);
    trim();
}

/* More of the window, as a free span. */
static bool grow(size_t pages) {
    size_t high = atomic_load_explicit(&opi_shared.window.high, memory_order_relaxed) >> OPI_SPAN_SHIFT;
    size_t step = pages > GROW_PAGES ? pages : GROW_PAGES;
    struct opi_span *s = span_new(0, 0);
    if (!s)
        return false;
    if (high < step || !opi_window_lower(&opi_shared.window, (high - step) << OPI_SPAN_SHIFT)) {
        step = pages;
        if (high < step || !opi_window_lower(&opi_shared.window, (high - step) << OPI_SPAN_SHIFT)) {
            span_drop(s);
            return false;
        }
    }
    s->first = high - step;
    s->pages = step;
    link_free(join(s));
    return true;
}

/* Cuts the tail of a span that is in no list off, and puts it among the free ones.  `touched` of it hold memory. */
static bool cut(struct opi_span *s, size_t pages, size_t touched) {
    if (s->pages == pages)
        return true;
    struct opi_span *rest = span_new(s->first + pages, s->pages - pages);
    if (!rest)
        return false;
    s->pages = pages;
    rest->touched = touched < rest->pages ? touched : rest->pages;
    map_ends(s);
    link_free(join(rest));
    return true;
}

static bool commit(const struct opi_span *s) {
    if (!opi_shared.commit || opi_shared.alone)
        return true;
    int rc;
    do
        rc = fallocate(opi_shared.window.fd, FALLOC_FL_KEEP_SIZE, (off_t)(s->first << OPI_SPAN_SHIFT), (off_t)(s->pages << OPI_SPAN_SHIFT));
    while (rc != 0 && errno == EINTR);
    return rc == 0;
}

static struct opi_span *take(size_t pages, size_t align, int kind, bool *zero) {
    size_t room = pages + (align > 1 ? align - 1 : 0);
    struct opi_span *s = find(room);
    if (!s && grow(room))
        s = find(room);
    if (!s)
        return NULL;
    unlink_free(s);
    size_t skip = align > 1 ? (align - (s->first & (align - 1))) & (align - 1) : 0;
    if (skip) {
        struct opi_span *body = span_new(s->first + skip, s->pages - skip);
        if (!body) {
            link_free(s);
            return NULL;
        }
        body->touched = s->touched < body->pages ? s->touched : body->pages;
        s->pages = skip;
        s->touched = s->touched < skip ? s->touched : skip;
        link_free(s);
        s = body;
    }
    size_t touched = s->touched;
    s->kind = (uint8_t)kind;
    if (!cut(s, pages, touched) || !commit(s)) {
        put(s);
        return NULL;
    }
    if (zero) {
        *zero = touched == 0;
        if (touched != 0 && pages >= 1024) { /* 4 MiB and more: the system's zeros come when they are touched */
            s->touched = 1;
            release(s);
            *zero = s->touched == 0 && commit(s);
        }
    }
    s->touched = pages;
    used_pages += pages;
    if (kind == OPI_SPAN_SLAB)
        for (size_t i = 0; i < pages; i++)
            atomic_store_explicit(&opi_shared.map[s->first + i], s, memory_order_relaxed);
    else
        map_ends(s);
    return s;
}

/* A span of so many pages that starts at a multiple of `align` pages, a power of two.  With `zero`, that tells whether it reads as zeros.
 * NULL when the window or the system's memory is exhausted. */
struct opi_span *opi_pages_take(size_t pages, size_t align, int kind, bool *zero) {
    pthread_mutex_lock(&opi_pages_lock);
    struct opi_span *s = take(pages, align, kind, zero);
    pthread_mutex_unlock(&opi_pages_lock);
    return s;
}

void opi_pages_put(struct opi_span *s) {
    int error = errno; /* free leaves it alone */
    pthread_mutex_lock(&opi_pages_lock);
    used_pages -= s->pages;
    put(s);
    pthread_mutex_unlock(&opi_pages_lock);
    errno = error;
}

/* Makes a span longer in place, where the pages after it are free. */
bool opi_pages_grow(struct opi_span *s, size_t pages) {
    bool done = false;
    pthread_mutex_lock(&opi_pages_lock);
    size_t at = s->first + s->pages, more = pages - s->pages;
    struct opi_span *after = at < opi_shared.bytes >> OPI_SPAN_SHIFT ? opi_span_at(at) : NULL;
    if (after && after->kind == OPI_SPAN_FREE && after->pages >= more) {
        unlink_free(after);
        size_t touched = after->touched;
        after->kind = OPI_SPAN_LARGE; /* its rest must not join it */
        if (!cut(after, more, touched) || !commit(after)) {
            put(after);
        } else {
            span_drop(after);
            s->pages = pages;
            s->touched = pages;
            used_pages += more;
            map_ends(s);
            done = true;
        }
    }
    pthread_mutex_unlock(&opi_pages_lock);
    return done;
}

/* Gives the pages beyond the first so many back. */
void opi_pages_shrink(struct opi_span *s, size_t pages) {
    pthread_mutex_lock(&opi_pages_lock);
    size_t less = s->pages - pages;
    if (cut(s, pages, less)) {
        s->touched = pages;
        used_pages -= less;
        trim();
    }
    pthread_mutex_unlock(&opi_pages_lock);
}

/* Pages that hold memory, as far as the books know. */
size_t opi_pages_held(void) {
    pthread_mutex_lock(&opi_pages_lock);
    size_t n = used_pages + touched_free;
    pthread_mutex_unlock(&opi_pages_lock);
    return n;
}
