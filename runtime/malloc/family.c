/* family.c - the functions that a program calls.  Blocks of OPI_MALLOC_MIN bytes and more are the window's where there is room, all others the C
 * library's; a pointer tells which by its address. */
#include "malloc/shared.h"

#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

/* The C library's allocator by the names it keeps when a program brings its own malloc. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* The functions that replace those of the C library, as its headers declare them. */
void *malloc(size_t n);
void free(void *p);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t n);
void *reallocarray(void *p, size_t count, size_t size);
void *memalign(size_t align, size_t n);
void *aligned_alloc(size_t align, size_t n);
int posix_memalign(void **to, size_t align, size_t n);
void *valloc(size_t n);
void *pvalloc(size_t n);
size_t malloc_usable_size(void *p);

#define COLOURS 32u /* large blocks start at one of so many lines of their first page, so that equal arrays do not all fall on the same cache sets */
#define LINE ((size_t)64)

static _Atomic uint32_t colour; /* relaxed: any spread will do */

_Noreturn OPI_COLD void opi_malloc_die(const char *what, const void *p) {
    char text[128];
    int n = snprintf(text, sizeof text, "libopi_malloc: %p: %s\n", p, what);
    if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(127);
    abort();
}

/* A span of its own; `align` is a power of two.  Blocks without a wish start at any line of their first page. */
static void *large(size_t n, size_t align, bool *zero) {
    if (n > opi_shared.most)
        return NULL;
    size_t shift = 0;
    if (align <= LINE)
        shift = atomic_fetch_add_explicit(&colour, 5, memory_order_relaxed) % COLOURS * LINE;
    struct opi_span *s = opi_pages_take((n + shift + OPI_SPAN_PAGE - 1) >> OPI_SPAN_SHIFT, align > OPI_SPAN_PAGE ? align >> OPI_SPAN_SHIFT : 1,
                                        OPI_SPAN_LARGE, zero);
    if (!s)
        return NULL;
    s->offset = (uint32_t)shift;
    return opi_span_start(s) + shift;
}

/* Shared memory, n >= OPI_MALLOC_MIN.  NULL where there is no more. */
static void *shared(size_t n) {
    if (OPI_LIKELY(n <= OPI_SLAB_MAX))
        return opi_slab_alloc(opi_slab_class(n));
    return large(n, 1, NULL);
}

static size_t span_room(const struct opi_span *s) {
    return s->kind == OPI_SPAN_SLAB ? opi_slab_size(s->cls) : (s->pages << OPI_SPAN_SHIFT) - s->offset;
}

/* The span of a block that the program says is one of ours. */
static struct opi_span *span_checked(const void *p) {
    struct opi_span *s = opi_span_of(p);
    if (OPI_UNLIKELY(!s || s->kind == OPI_SPAN_FREE))
        opi_malloc_die("no pointer that malloc returned, or freed before", p);
    if (OPI_UNLIKELY(s->kind == OPI_SPAN_LARGE && (const char *)p != opi_span_start(s) + s->offset))
        opi_malloc_die("no pointer that malloc returned", p);
    return s;
}

EXPORT void *malloc(size_t n) {
    if (opi_shared_wants(n)) {
        void *p = shared(n);
        if (OPI_LIKELY(p != NULL))
            return p;
    }
    return __libc_malloc(n);
}

EXPORT void free(void *p) {
    if (!opi_shared_has(p)) {
        __libc_free(p);
        return;
    }
    struct opi_span *s = span_checked(p);
    if (s->kind == OPI_SPAN_SLAB)
        opi_slab_free(p, s);
    else
        opi_pages_put(s);
}

EXPORT void *calloc(size_t count, size_t size) {
    size_t n;
    if (!__builtin_mul_overflow(count, size, &n) && opi_shared_wants(n)) {
        bool zero = false;
        void *p = n <= OPI_SLAB_MAX ? opi_slab_alloc(opi_slab_class(n)) : large(n, 1, &zero);
        if (OPI_LIKELY(p != NULL))
            return zero ? p : memset(p, 0, n);
    }
    return __libc_calloc(count, size);
}

/* To another place: of the first `old` bytes, those that fit. */
static void *moved(void *p, size_t old, size_t n) {
    void *q = malloc(n);
    if (q) {
        memcpy(q, p, old < n ? old : n);
        free(p);
    }
    return q;
}

EXPORT void *realloc(void *p, size_t n) {
    if (!p)
        return malloc(n);
    if (!opi_shared_has(p)) {
        if (!opi_shared_wants(n))
            return __libc_realloc(p, n);
        void *q = moved(p, malloc_usable_size(p), n);
        return q ? q : __libc_realloc(p, n);
    }
    if (n == 0) {
        free(p);
        return NULL;
    }
    struct opi_span *s = span_checked(p);
    size_t room = span_room(s);
    if (s->kind == OPI_SPAN_SLAB) {
        if (n <= room && (n > room / 2 || room == OPI_MALLOC_MIN))
            return p;
    } else if (n <= opi_shared.most) { /* so the sum below cannot overflow */
        size_t pages = (n + s->offset + OPI_SPAN_PAGE - 1) >> OPI_SPAN_SHIFT;
        if (n > OPI_SLAB_MAX / 2 && pages <= s->pages) {
            if (pages < s->pages - s->pages / 8)
                opi_pages_shrink(s, pages);
            return p;
        }
        if (pages > s->pages && opi_pages_grow(s, pages))
            return p;
    }
    void *q = moved(p, room, n);
    return !q && n <= room ? p : q; /* a block may always shrink */
}

EXPORT void *reallocarray(void *p, size_t count, size_t size) {
    size_t n;
    if (__builtin_mul_overflow(count, size, &n)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, n);
}

/* `align` is a power of two. */
static void *aligned(size_t align, size_t n) {
    if (opi_shared_wants(n) && align <= opi_shared.bytes / 2) {
        void *p = NULL;
        if (n <= OPI_SLAB_MAX && align <= OPI_SPAN_PAGE) {
            int cls = opi_slab_class(n);
            while (cls < OPI_SLAB_CLASSES && (opi_slab_size(cls) & (align - 1)) != 0)
                cls++;
            if (cls < OPI_SLAB_CLASSES)
                p = opi_slab_alloc(cls);
        }
        if (!p)
            p = large(n, align, NULL);
        if (OPI_LIKELY(p != NULL))
            return p;
    }
    return __libc_memalign(align, n);
}

static bool power_of_two(size_t n) {
    return n != 0 && (n & (n - 1)) == 0;
}

EXPORT void *memalign(size_t align, size_t n) {
    return power_of_two(align) ? aligned(align, n) : __libc_memalign(align, n); /* which rounds up, or refuses */
}

EXPORT void *aligned_alloc(size_t align, size_t n) {
    if (!power_of_two(align)) {
        errno = EINVAL;
        return NULL;
    }
    return aligned(align, n);
}

EXPORT int posix_memalign(void **to, size_t align, size_t n) {
    if (!power_of_two(align) || align % sizeof(void *) != 0)
        return EINVAL;
    int error = errno; /* which the function leaves alone */
    void *p = aligned(align, n);
    errno = error;
    if (!p)
        return ENOMEM;
    *to = p;
    return 0;
}

static size_t system_page(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

EXPORT void *valloc(size_t n) {
    return aligned(system_page(), n);
}

EXPORT void *pvalloc(size_t n) {
    size_t page = system_page();
    if (n > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return aligned(page, (n + page - 1) & ~(page - 1));
}

EXPORT size_t malloc_usable_size(void *p) {
    if (!opi_shared_has(p))
        return opi_libc_usable_size(p);
    return span_room(span_checked(p));
}
