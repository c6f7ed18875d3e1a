/*
 * The dynamic access oracle: every load and store of the original program, and what may not happen after a message.
 *
 * The program is compiled with -fsanitize=thread and linked with this file instead of the sanitizer's runtime, without
 * PIE.  Each byte of a message's object has a set of the message sites that it must not be read after: a send puts
 * itself into the sets of all bytes with contents, a receive into those of the bytes that it does not bring, and a
 * write empties the set.  A read of a byte whose set is not empty is the violating access of those sites.  A send of
 * bytes that a static object had from the beginning is a violating access itself; a read of such bytes is one of all
 * messages of the object that follow.  The zeros of calloc count as written: OPI_Calloc brings them.  A receive from
 * MPI_PROC_NULL brings no byte; it is told apart, since OPI_Take_replace leaves what is there then.
 *
 * OPI_ORACLE_SYMBOLS: a file of "address size rows" lines, the program's static objects (rows: 1 for an array of arrays).
 * OPI_ORACLE_OUT: lines "site access" (hexadecimal return addresses; a site has S, R or N in front, for sent, received,
 * and received from MPI_PROC_NULL) go there ("beside" after them: of bytes that the message was not in), and a line "site -" for each site that is
 * reached.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HERE ((uintptr_t)__builtin_return_address(0))
#define SITES 64
#define OBJECTS 4096

enum { SENT = 'S', RECEIVED = 'R', NOBODY = 'N' }; /* the sides of a message; NOBODY: received from MPI_PROC_NULL */

/*
 * FIRST: zeros or an initialiser, which nothing has written over yet: OPI_Alloc does not bring them.
 * EARLY, beside one of these: the first contents of the byte have been read.
 */
enum { NOTHING, FIRST, WRITTEN, CONTENTS = 3, EARLY = 4 };

typedef struct {
    uintptr_t lo, size;
    uint64_t *sites; /* per byte: the sites after which it must not be read */
    uint64_t *own; /* of these: the sites whose messages the byte was in */
    unsigned char *contents; /* per byte: NOTHING, FIRST or WRITTEN */
    uintptr_t early; /* where first contents were read */
    int stack;
    int rows; /* an array of arrays: each message's part is an object of its own, as far as anyone can see */
} Object;

static Object objects[OBJECTS];
static int object_count;
static uintptr_t sites[SITES]; /* return addresses of message calls */
static char side[SITES]; /* which of SENT, RECEIVED and NOBODY */
static int site_count;
static int started;
static FILE *out;
static int busy;

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);
void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
int __real_memcmp(const void *, const void *, size_t);
size_t __real_strlen(const char *);
size_t __real_fwrite(const void *, size_t, size_t, FILE *);

static Object *track(uintptr_t lo, uintptr_t size, int contents, int stack)
{
    if (object_count == OBJECTS) {
        fprintf(stderr, "oracle: too many objects\n");
        abort();
    }
    Object *o = &objects[object_count++];
    o->lo = lo;
    o->size = size;
    o->sites = __real_calloc(size ? size : 1, sizeof *o->sites);
    o->own = __real_calloc(size ? size : 1, sizeof *o->own);
    o->contents = __real_malloc(size ? size : 1);
    __real_memset(o->contents, contents, size);
    o->early = 0;
    o->stack = stack;
    o->rows = 0;
    return o;
}

static void start(void)
{
    if (started)
        return;
    started = 1;
    const char *path = getenv("OPI_ORACLE_SYMBOLS");
    FILE *in = path ? fopen(path, "r") : NULL;
    unsigned long lo, size;
    int rows;
    while (in && fscanf(in, "%lx %lx %d", &lo, &size, &rows) == 3)
        track(lo, size, FIRST, 0)->rows = rows;
    if (in)
        fclose(in);
    path = getenv("OPI_ORACLE_OUT");
    const char *rank = getenv("PMI_RANK");
    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    char name[4096];
    snprintf(name, sizeof name, "%s.%s", path ? path : "oracle", rank ? rank : "0");
    out = fopen(name, "w");
}

static void drop(Object *o)
{
    __real_free(o->sites);
    __real_free(o->own);
    __real_free(o->contents);
    *o = objects[--object_count];
}

static Object *find(uintptr_t at)
{
    static int last; /* accesses come in runs */
    if (last < object_count && at - objects[last].lo < objects[last].size)
        return &objects[last];
    for (int i = 0; i < object_count; i++)
        if (at - objects[i].lo < objects[i].size) {
            last = i;
            return &objects[i];
        }
    return NULL;
}

/* The object that a message of these bytes is in; a local one is as large as the message as far as anyone can see. */
static Object *object(uintptr_t at, uintptr_t size)
{
    Object *o = find(at);
    if (o && (!o->stack || at + size <= o->lo + o->size))
        return o;
    if (o)
        drop(o);
    return track(at, size, WRITTEN, 1);
}

static int site(uintptr_t pc, char which)
{
    for (int i = 0; i < site_count; i++)
        if (sites[i] == pc && side[i] == which)
            return i;
    if (site_count == SITES) {
        fprintf(stderr, "oracle: more than %d message sites\n", SITES);
        abort();
    }
    busy = 1;
    start();
    fprintf(out, "%c%lx -\n", which, (unsigned long)pc - 1);
    fflush(out);
    busy = 0;
    sites[site_count] = pc;
    side[site_count] = which;
    return site_count++;
}

static void report(char which, uintptr_t message, uintptr_t pc, int own)
{
    busy = 1;
    start();
    fprintf(out, "%c%lx %lx%s\n", which, (unsigned long)message - 1, (unsigned long)pc - 1, own ? "" : " beside");
    fflush(out);
    busy = 0;
}

static void touch(const void *p, size_t size, int write, uintptr_t pc)
{
    uintptr_t at = (uintptr_t)p;
    if (busy)
        return;
    for (size_t i = 0; i < size;) {
        Object *o = find(at + i);
        if (!o) {
            i += size - i > 64 ? 64 : size - i; /* what is not tracked: objects are not that close and small */
            continue;
        }
        for (; i < size && at + i - o->lo < o->size; i++) {
            uintptr_t k = at + i - o->lo;
            for (uint64_t set = write ? 0 : o->sites[k]; set; set &= set - 1) {
                int s = __builtin_ctzll(set);
                report(side[s], sites[s], pc, (int)(o->own[k] >> s & 1));
            }
            o->sites[k] = o->own[k] = 0; /* written, or reported */
            if (write) {
                o->contents[k] = (unsigned char)((o->contents[k] & EARLY) | WRITTEN);
            } else if ((o->contents[k] & CONTENTS) == FIRST) {
                o->contents[k] |= EARLY;
                o->early = pc;
            }
        }
    }
}

static uintptr_t extent(int count, MPI_Datatype type)
{
    MPI_Aint lb, step;
    PMPI_Type_get_extent(type, &lb, &step);
    return count > 0 && step > 0 ? (uintptr_t)count * (uintptr_t)step : 0;
}

/* A message of some bytes of an object: were first contents read there, or anywhere in an object that is one buffer? */
static void after_early(const Object *o, uintptr_t first, uintptr_t size, uintptr_t pc, char which)
{
    int early = 0, own = 0;
    for (uintptr_t i = 0; o->early && i < o->size; i++)
        if ((o->contents[i] & EARLY) && (!o->rows || i - first < size)) {
            early = 1;
            own |= i - first < size;
        }
    if (early)
        report(which, pc, o->early, own);
}

static void sends(const void *p, int count, MPI_Datatype type, uintptr_t pc)
{
    uintptr_t size = extent(count, type);
    if (!size || p == MPI_BOTTOM)
        return;
    Object *o = object((uintptr_t)p, size);
    after_early(o, (uintptr_t)p - o->lo, size, pc, SENT);
    touch(p, size, 0, pc);
    int first_contents = 0;
    for (uintptr_t i = 0; i < size; i++)
        first_contents |= (o->contents[(uintptr_t)p - o->lo + i] & CONTENTS) == FIRST;
    if (first_contents)
        report(SENT, pc, pc, 1);
    uint64_t bit = UINT64_C(1) << site(pc, SENT);
    for (uintptr_t i = 0; i < o->size; i++)
        if ((o->contents[i] & CONTENTS) != NOTHING && (!o->rows || i - ((uintptr_t)p - o->lo) < size)) {
            o->sites[i] |= bit;
            if (i - ((uintptr_t)p - o->lo) < size)
                o->own[i] |= bit;
        }
}

static void receives(void *p, int count, MPI_Datatype type, int source, uintptr_t pc)
{
    uintptr_t size = extent(count, type);
    if (!size || p == MPI_BOTTOM)
        return;
    Object *o = object((uintptr_t)p, size);
    uintptr_t first = (uintptr_t)p - o->lo;
    after_early(o, first, size, pc, RECEIVED);
    uint64_t bit = UINT64_C(1) << site(pc, source == MPI_PROC_NULL ? NOBODY : RECEIVED);
    for (uintptr_t i = 0; i < o->size; i++) {
        if (i - first < size && source != MPI_PROC_NULL) {
            o->sites[i] = o->own[i] = 0;
            o->contents[i] = (unsigned char)((o->contents[i] & EARLY) | WRITTEN);
        } else if ((o->contents[i] & CONTENTS) != NOTHING && (!o->rows || i - first < size)) {
            o->sites[i] |= bit;
            if (i - first < size)
                o->own[i] |= bit;
        }
    }
}

/* Another program begins in the same process: the sites of the last one are of no further use. */
void oracle_reset(void);
void oracle_reset(void)
{
    start();
    for (int i = 0; i < object_count; i++)
        for (uintptr_t k = 0; k < objects[i].size; k++)
            objects[i].sites[k] = objects[i].own[k] = 0;
    site_count = 0;
}

/* --- the program's accesses --------------------------------------------------------------------------------- */

#define ACCESS(n)                                                               \
    void __tsan_read##n(void *p);                                               \
    void __tsan_read##n(void *p) { touch(p, n, 0, HERE); }                      \
    void __tsan_write##n(void *p);                                              \
    void __tsan_write##n(void *p) { touch(p, n, 1, HERE); }                     \
    void __tsan_unaligned_read##n(void *p);                                     \
    void __tsan_unaligned_read##n(void *p) { touch(p, n, 0, HERE); }            \
    void __tsan_unaligned_write##n(void *p);                                    \
    void __tsan_unaligned_write##n(void *p) { touch(p, n, 1, HERE); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

long __tsan_atomic64_load(const volatile long *p, int order);
long __tsan_atomic64_load(const volatile long *p, int order)
{
    (void)order;
    touch((void *)(uintptr_t)p, 8, 0, HERE);
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}
void __tsan_atomic64_store(volatile long *p, long value, int order);
void __tsan_atomic64_store(volatile long *p, long value, int order)
{
    (void)order;
    touch((void *)(uintptr_t)p, 8, 1, HERE);
    __atomic_store_n(p, value, __ATOMIC_SEQ_CST);
}
void __tsan_read_range(void *p, size_t n);
void __tsan_read_range(void *p, size_t n) { touch(p, n, 0, HERE); }
void __tsan_write_range(void *p, size_t n);
void __tsan_write_range(void *p, size_t n) { touch(p, n, 1, HERE); }
void __tsan_init(void);
void __tsan_init(void) { start(); }
void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
    /* a variable length array has been given back already, and lies below this frame */
    uintptr_t high = (uintptr_t)__builtin_frame_address(1);
    for (int i = object_count - 1; i >= 0; i--)
        if (objects[i].stack && objects[i].lo < high)
            drop(&objects[i]);
}

void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    void *p = __real_malloc(n);
    if (p)
        track((uintptr_t)p, n, NOTHING, 0);
    return p;
}

void *__wrap_calloc(size_t n, size_t m);
void *__wrap_calloc(size_t n, size_t m)
{
    void *p = __real_calloc(n, m);
    if (p)
        track((uintptr_t)p, n * m, WRITTEN, 0);
    return p;
}

void __wrap_free(void *p);
void __wrap_free(void *p)
{
    Object *o = p ? find((uintptr_t)p) : NULL;
    if (o)
        drop(o);
    __real_free(p);
}

void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
    Object *o = p ? find((uintptr_t)p) : NULL;
    if (o) {
        touch(p, o->size < n ? o->size : n, 0, HERE);
        drop(o);
    }
    p = __real_realloc(p, n);
    if (p)
        track((uintptr_t)p, n, WRITTEN, 0);
    return p;
}

void *__wrap_memcpy(void *a, const void *b, size_t n);
void *__wrap_memcpy(void *a, const void *b, size_t n)
{
    touch(b, n, 0, HERE);
    touch(a, n, 1, HERE);
    return __real_memcpy(a, b, n);
}

void *__wrap_memmove(void *a, const void *b, size_t n);
void *__wrap_memmove(void *a, const void *b, size_t n)
{
    touch(b, n, 0, HERE);
    touch(a, n, 1, HERE);
    return __real_memmove(a, b, n);
}

void *__wrap_memset(void *a, int c, size_t n);
void *__wrap_memset(void *a, int c, size_t n)
{
    touch(a, n, 1, HERE);
    return __real_memset(a, c, n);
}

int __wrap_memcmp(const void *a, const void *b, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n)
{
    touch(a, n, 0, HERE);
    touch(b, n, 0, HERE);
    return __real_memcmp(a, b, n);
}

size_t __wrap_strlen(const char *a);
size_t __wrap_strlen(const char *a)
{
    size_t n = __real_strlen(a);
    touch(a, n + 1, 0, HERE);
    return n;
}

size_t __wrap_fwrite(const void *a, size_t n, size_t m, FILE *f);
size_t __wrap_fwrite(const void *a, size_t n, size_t m, FILE *f)
{
    touch(a, n * m, 0, HERE);
    return __real_fwrite(a, n, m, f);
}

/* --- messages ----------------------------------------------------------------------------------------------- */

#define SEND(name)                                                                                              \
    int MPI_##name(const void *p, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)                           \
    {                                                                                                           \
        sends(p, n, t, HERE);                                                                                   \
        return PMPI_##name(p, n, t, to, tag, c);                                                                \
    }
#define ISEND(name)                                                                                             \
    int MPI_##name(const void *p, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r)           \
    {                                                                                                           \
        sends(p, n, t, HERE);                                                                                   \
        return PMPI_##name(p, n, t, to, tag, c, r);                                                             \
    }
SEND(Send)
SEND(Rsend)
SEND(Ssend)
SEND(Bsend)
ISEND(Isend)
ISEND(Irsend)
ISEND(Issend)

int MPI_Recv(void *p, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s)
{
    receives(p, n, t, from, HERE);
    return PMPI_Recv(p, n, t, from, tag, c, s);
}

int MPI_Irecv(void *p, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
    receives(p, n, t, from, HERE);
    return PMPI_Irecv(p, n, t, from, tag, c, r);
}

int MPI_Sendrecv(const void *a, int n, MPI_Datatype t, int to, int tag, void *b, int m, MPI_Datatype u, int from,
                 int other, MPI_Comm c, MPI_Status *s)
{
    sends(a, n, t, HERE);
    receives(b, m, u, from, HERE);
    return PMPI_Sendrecv(a, n, t, to, tag, b, m, u, from, other, c, s);
}

int MPI_Bcast(void *p, int n, MPI_Datatype t, int root, MPI_Comm c)
{
    int rank;
    PMPI_Comm_rank(c, &rank);
    touch(p, extent(n, t), rank != root, HERE);
    return PMPI_Bcast(p, n, t, root, c);
}

int MPI_Reduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c)
{
    if (a != MPI_IN_PLACE)
        touch(a, extent(n, t), 0, HERE);
    return PMPI_Reduce(a, b, n, t, op, root, c);
}

int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
    touch(a != MPI_IN_PLACE ? a : b, extent(n, t), 0, HERE);
    touch(b, extent(n, t), 1, HERE);
    return PMPI_Allreduce(a, b, n, t, op, c);
}
