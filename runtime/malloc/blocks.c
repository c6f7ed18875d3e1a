/* blocks.c - blocks up to OPI_SLAB_MAX: slabs of at most 64 of one size, a cache for each thread in front. */
#include "malloc/shared.h"

#define SLAB_BYTES ((size_t)64 << 10) /* at least, and at least 8 blocks */
#define CACHE_BYTES ((size_t)128 << 10) /* of one class in one cache, but at least 4 blocks */

/* The slabs of one class that have vacant blocks, under `lock`.  Taken before the lock of the pages, never after it. */
struct slab_class {
    pthread_mutex_t lock;
    struct opi_span *slabs;
    unsigned whole; /* of them, those with every block vacant: one at most stays */
} __attribute__((aligned(64)));

static struct slab_class classes[OPI_SLAB_CLASSES];
static uint32_t size_of[OPI_SLAB_CLASSES], limit_of[OPI_SLAB_CLASSES];
static uint32_t part_of[OPI_SLAB_CLASSES]; /* 2^32 / size, rounded up: exact for the multiples that a slab has */

/* A thread's cache: NULL before its first block; `gone` once the thread's destructors ran, or where none can be had. */
static __thread struct opi_cache *mine __attribute__((tls_model("initial-exec")));
static struct opi_cache gone;
static pthread_key_t key;
static bool have_key;
static struct opi_cache *idle; /* caches of threads that ended, empty; under idle_lock */
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;

size_t opi_slab_size(int cls) {
    return size_of[cls];
}

/* Smallest class that holds n bytes, n <= OPI_SLAB_MAX. */
int opi_slab_class(size_t n) {
    if (n <= OPI_MALLOC_MIN)
        return 0;
    unsigned top = 63 - (unsigned)__builtin_clzll(n - 1); /* 2^top <= n-1 < 2^(top+1), top >= 10 */
    return (int)(1 + 4 * (top - 10) + (((n - 1) >> (top - 2)) & 3));
}

static void slab_list(struct slab_class *c, struct opi_span *s) {
    s->prev = NULL;
    s->next = c->slabs;
    if (c->slabs)
        c->slabs->prev = s;
    c->slabs = s;
}

static void slab_unlist(struct slab_class *c, struct opi_span *s) {
    if (s->prev)
        s->prev->next = s->next;
    else
        c->slabs = s->next;
    if (s->next)
        s->next->prev = s->prev;
}

static struct opi_span *slab_new(int cls) {
    size_t size = size_of[cls], bytes = 8 * size > SLAB_BYTES ? 8 * size : SLAB_BYTES;
    struct opi_span *s = opi_pages_take((bytes + OPI_SPAN_PAGE - 1) >> OPI_SPAN_SHIFT, 1, OPI_SPAN_SLAB, NULL);
    if (!s)
        return NULL;
    size_t blocks = (s->pages << OPI_SPAN_SHIFT) / size;
    if (blocks > OPI_SLAB_BLOCKS)
        blocks = OPI_SLAB_BLOCKS;
    s->cls = (uint8_t)cls;
    s->all = ~(uint64_t)0 >> (64 - blocks);
    s->vacant = s->all;
    return s;
}

/* Takes up to n blocks from the class's slabs. */
static uint32_t central_take(int cls, void **to, uint32_t n) {
    struct slab_class *c = &classes[cls];
    uint32_t got = 0;
    pthread_mutex_lock(&c->lock);
    while (got < n) {
        struct opi_span *s = c->slabs;
        if (!s) {
            if (got || !(s = slab_new(cls))) /* some are enough */
                break;
            slab_list(c, s);
            c->whole++;
        }
        if (s->vacant == s->all)
            c->whole--;
        while (got < n && s->vacant) {
            unsigned i = (unsigned)__builtin_ctzll(s->vacant);
            s->vacant &= s->vacant - 1;
            to[got++] = opi_span_start(s) + (size_t)i * size_of[cls];
        }
        if (!s->vacant)
            slab_unlist(c, s);
    }
    pthread_mutex_unlock(&c->lock);
    return got;
}

/* The index of a block in its slab; the end of the process where it is none. */
static inline unsigned slab_index(const void *p, const struct opi_span *s) {
    size_t off = (size_t)((const char *)p - opi_span_start(s)), i = off * part_of[s->cls] >> 32;
    if (OPI_UNLIKELY(i >= OPI_SLAB_BLOCKS || i * size_of[s->cls] != off || !(s->all >> i & 1)))
        opi_malloc_die("no pointer that malloc returned", p);
    return (unsigned)i;
}

static void central_put(int cls, void *const *blocks, uint32_t n) {
    struct slab_class *c = &classes[cls];
    pthread_mutex_lock(&c->lock);
    for (uint32_t k = 0; k < n; k++) {
        struct opi_span *s = opi_span_of(blocks[k]);
        uint64_t bit = (uint64_t)1 << slab_index(blocks[k], s);
        if (s->vacant & bit)
            opi_malloc_die("freed twice", blocks[k]);
        if (!s->vacant)
            slab_list(c, s);
        s->vacant |= bit;
        if (s->vacant == s->all) {
            if (c->whole) {
                slab_unlist(c, s);
                opi_pages_put(s);
            } else {
                c->whole++;
            }
        }
    }
    pthread_mutex_unlock(&c->lock);
}

/* ---- caches ----------------------------------------------------------------------------------------------------------------------------------- */

/* Destructor of the key: the thread's blocks return, its cache is another thread's next.  Destructors after this one go to the slabs directly. */
static void thread_ends(void *value) {
    struct opi_cache *c = value;
    mine = &gone;
    for (int i = 0; i < OPI_SLAB_CLASSES; i++) {
        central_put(i, c->stack[i].block, c->stack[i].depth);
        c->stack[i].depth = 0;
    }
    pthread_mutex_lock(&idle_lock);
    c->next = idle;
    idle = c;
    pthread_mutex_unlock(&idle_lock);
}

OPI_COLD static struct opi_cache *thread_begins(void) {
    if (!have_key)
        return NULL;
    mine = &gone; /* pthread_setspecific may call malloc */
    pthread_mutex_lock(&idle_lock);
    struct opi_cache *c = idle;
    if (c)
        idle = c->next;
    pthread_mutex_unlock(&idle_lock);
    if (!c) {
        pthread_mutex_lock(&opi_pages_lock);
        c = opi_books(sizeof *c);
        pthread_mutex_unlock(&opi_pages_lock);
        if (!c)
            return NULL;
        for (int i = 0; i < OPI_SLAB_CLASSES; i++)
            c->stack[i].limit = limit_of[i]; /* the memory is fresh: depths are 0 */
    }
    if (pthread_setspecific(key, c) != 0) {
        pthread_mutex_lock(&idle_lock);
        c->next = idle;
        idle = c;
        pthread_mutex_unlock(&idle_lock);
        return NULL;
    }
    return mine = c;
}

OPI_COLD static void *alloc_slow(int cls) {
    struct opi_cache *c = mine ? mine : thread_begins();
    if (!c || c == &gone) {
        void *p;
        return central_take(cls, &p, 1) ? p : NULL;
    }
    struct opi_stack *t = &c->stack[cls];
    if (t->depth == 0 && (t->depth = central_take(cls, t->block, t->limit / 2)) == 0)
        return NULL;
    return t->block[--t->depth];
}

void *opi_slab_alloc(int cls) {
    struct opi_cache *c = mine;
    if (OPI_LIKELY(c != NULL)) {
        struct opi_stack *t = &c->stack[cls]; /* of `gone`: depth 0 */
        if (OPI_LIKELY(t->depth != 0))
            return t->block[--t->depth];
    }
    return alloc_slow(cls);
}

OPI_COLD static void free_slow(void *p, int cls) {
    struct opi_cache *c = mine ? mine : thread_begins();
    if (!c || c == &gone) {
        central_put(cls, &p, 1);
        return;
    }
    struct opi_stack *t = &c->stack[cls];
    if (t->depth == t->limit) { /* the colder half leaves */
        uint32_t leave = t->limit / 2;
        central_put(cls, t->block, leave);
        memmove(t->block, t->block + leave, (t->depth - leave) * sizeof(void *));
        t->depth -= leave;
    }
    t->block[t->depth++] = p;
}

void opi_slab_free(void *p, struct opi_span *s) {
    struct opi_cache *c = mine;
    int cls = s->cls;
    (void)slab_index(p, s);
    if (OPI_LIKELY(c != NULL)) {
        struct opi_stack *t = &c->stack[cls]; /* of `gone`: limit 0 */
        if (OPI_UNLIKELY(t->depth != 0 && t->block[t->depth - 1] == p))
            opi_malloc_die("freed twice", p);
        if (OPI_LIKELY(t->depth < t->limit)) {
            t->block[t->depth++] = p;
            return;
        }
    }
    free_slow(p, cls);
}

/* ---- start and fork ---------------------------------------------------------------------------------------------------------------------------- */

void opi_slabs_start(void) {
    for (int i = 0; i < OPI_SLAB_CLASSES; i++) {
        size_t top = i ? (size_t)1 << (10 + (i - 1) / 4) : 0;
        size_t size = i ? top + (top >> 2) * (size_t)((i - 1) % 4 + 1) : OPI_MALLOC_MIN;
        size_t limit = CACHE_BYTES / size;
        size_of[i] = (uint32_t)size;
        part_of[i] = (uint32_t)((((uint64_t)1 << 32) + size - 1) / size);
        limit_of[i] = (uint32_t)(limit > OPI_CACHE_BLOCKS ? OPI_CACHE_BLOCKS : limit < 4 ? 4 : limit);
        pthread_mutex_init(&classes[i].lock, NULL);
    }
    have_key = pthread_key_create(&key, thread_ends) == 0;
}

/* Nobody else changes the books from here on. */
void opi_slabs_lock(void) {
    pthread_mutex_lock(&idle_lock);
    for (int i = 0; i < OPI_SLAB_CLASSES; i++)
        pthread_mutex_lock(&classes[i].lock);
    pthread_mutex_lock(&opi_pages_lock);
}

/* In a child, whose caches of other threads are lost: they may have been at work on them. */
void opi_slabs_unlock(bool child) {
    if (child) { /* it may not unlock what another thread locked */
        pthread_mutex_init(&opi_pages_lock, NULL);
        for (int i = 0; i < OPI_SLAB_CLASSES; i++)
            pthread_mutex_init(&classes[i].lock, NULL);
        pthread_mutex_init(&idle_lock, NULL);
        return;
    }
    pthread_mutex_unlock(&opi_pages_lock);
    for (int i = OPI_SLAB_CLASSES; i-- > 0;)
        pthread_mutex_unlock(&classes[i].lock);
    pthread_mutex_unlock(&idle_lock);
}
