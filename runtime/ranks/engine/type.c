/* type.c - datatypes: where their bytes lie (shared/datatypes/layout.h), and copies between them.
 *
 * A derived type is described when it is first used here, from what the MPI below says of how it was made, and the description is kept as an attribute. */
#include "ranks/engine/match.h"

#include <stdlib.h>

#define NAMED 512u

/* Predefined types, found by hash; an entry is stored once (release) and never changes.  `lock` guards the storing. */
static _Atomic(struct opir_type *) named[NAMED];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;

static size_t hash_of(MPI_Datatype t) {
    uint64_t v = 0;
    memcpy(&v, &t, sizeof t);
    return (size_t)((v * 0x9e3779b97f4a7c15u) >> 40) % NAMED;
}

void opir_type_drop(struct opir_type *t) {
    while (t && !t->named && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1) {
        struct opir_type *base = t->base;
        if (base)
            PMPI_Type_free(&t->handle);
        else
            opi_layout_free(t->layout.of);
        free(t);
        t = base;
    }
}

/* For an operation that pends: the program may free the type meanwhile.  Where the MPI below has to pack, there is a handle for this use alone. */
struct opir_type *opir_type_hold(struct opir_type *t) {
    if (OPIR_LIKELY(t->named))
        return t;
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed); /* the program's handle has one */
    if (OPIR_LIKELY(!t->opaque))
        return t;
    MPI_Datatype handle;
    struct opir_type *own = opir_alloc(sizeof *own);
    if (PMPI_Type_contiguous(1, t->handle, &handle) != MPI_SUCCESS || PMPI_Type_commit(&handle) != MPI_SUCCESS)
        opir_die("out of memory for a datatype");
    memcpy(own, t, sizeof *own);
    atomic_init(&own->refs, 1);
    own->handle = handle;
    own->base = t;
    return own;
}

static int forget(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)extra;
    opir_type_drop(value);
    return MPI_SUCCESS;
}

static bool predefined(MPI_Datatype handle) {
    int combiner = MPI_COMBINER_NAMED;
#ifdef OPIR_HAS_MPI_Type_get_envelope_c
    MPI_Count ni, na, nl, nd;
    return PMPI_Type_get_envelope_c(handle, &ni, &na, &nl, &nd, &combiner) == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED;
#else
    int ni, na, nd;
    return PMPI_Type_get_envelope(handle, &ni, &na, &nd, &combiner) == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED;
#endif
}

static struct opir_type *describe(MPI_Datatype handle) {
    MPI_Count size, lb, extent, tlb, textent;
    if (PMPI_Type_size_x(handle, &size) != MPI_SUCCESS || size < 0 || PMPI_Type_get_extent_x(handle, &lb, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent_x(handle, &tlb, &textent) != MPI_SUCCESS)
        return NULL;
    struct opir_type *t = opir_alloc(sizeof *t);
    t->handle = handle;
    t->size = (size_t)size;
    t->lb = (ptrdiff_t)lb;
    t->extent = (ptrdiff_t)extent;
    t->true_lb = size ? (ptrdiff_t)tlb : 0;
    t->true_extent = size ? (ptrdiff_t)textent : 0;
    atomic_init(&t->refs, 1);
    if (size == 0) {
        t->contiguous = true;
    } else {
        t->opaque = !opi_layout_of(handle, &t->layout);
        const struct opi_layout *l = t->layout.of;
        t->contiguous = l && l->kind == OPI_L_BYTES && t->layout.offset == 0 && (ptrdiff_t)t->size == t->extent;
    }
    return t;
}

/* May it be sent and received?  The MPI below says so. */
static bool committed(MPI_Datatype handle) {
    char none[1] = {0};
    int at = 0;
    return PMPI_Pack(none, 0, handle, none, 0, &at, MPI_COMM_SELF) == MPI_SUCCESS;
}

static struct opir_type *find_named(MPI_Datatype handle) {
    for (size_t i = hash_of(handle);; i = (i + 1) % NAMED) {
        struct opir_type *t = atomic_load_explicit(&named[i], memory_order_acquire);
        if (!t || t->handle == handle)
            return t;
    }
}

OPIR_COLD static struct opir_type *add_named(MPI_Datatype handle) {
    struct opir_type *t = describe(handle);
    if (!t)
        return NULL;
    t->named = true;
    opir_lock(&lock);
    size_t i = hash_of(handle);
    struct opir_type *there;
    while ((there = atomic_load_explicit(&named[i], memory_order_relaxed)) && there->handle != handle)
        i = (i + 1) % NAMED;
    if (!there)
        atomic_store_explicit(&named[i], t, memory_order_release);
    opir_unlock(&lock);
    if (!there)
        return t;
    opi_layout_free(t->layout.of);
    free(t);
    return there;
}

struct opir_type *opir_type_slow(struct opir_rank *me, MPI_Datatype handle) {
    if (handle == MPI_DATATYPE_NULL)
        return NULL;
    struct opir_type *t = find_named(handle);
    if (!t) {
        void *value;
        int found = 0;
        if (PMPI_Type_get_attr(handle, keyval, &value, &found) == MPI_SUCCESS && found)
            t = value;
        else if (predefined(handle))
            t = add_named(handle);
        else if (committed(handle) && (t = describe(handle)) && PMPI_Type_set_attr(handle, keyval, t) != MPI_SUCCESS)
            opir_die("the MPI below does not keep an attribute of a datatype");
    }
    if (t) {
        me->type_handle = handle;
        me->type = t;
    }
    return t;
}

/* A null type and no elements: MPICH takes that for point-to-point calls and MPI_Bcast, which look at a type only where there is something of it (recvnull of its
 * suite); Open MPI does not. */
OPIR_COLD struct opir_type *opir_type_none(struct opir_rank *me, MPI_Datatype type, MPI_Count count) {
#ifdef MPICH_VERSION
    if (type == MPI_DATATYPE_NULL && count == 0)
        return opir_type_of(me, MPI_BYTE);
#endif
    (void)me, (void)type, (void)count;
    return NULL;
}

EXPORT int MPI_Type_free(MPI_Datatype *type) {
    struct opir_rank *me = opir_me("MPI_Type_free");
    me->type = NULL; /* its handle may come back as another type's */
    int rc = PMPI_Type_free(type);
    return rc == MPI_SUCCESS ? rc : opir_below(rc, "MPI_Type_free");
}

void opir_types_init(void) {
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval, NULL);
}

/* ---- copies ------------------------------------------------------------------------------------------------------------------------------ */

/* The MPI below packs or unpacks; without large counts as many elements at a time as an int can tell the bytes of. */
static void pack_below(const struct opir_type *t, char *buf, size_t count, char *packed, bool unpack) {
#ifdef OPIR_HAS_MPI_Pack_c
    MPI_Count at = 0, bytes = (MPI_Count)(t->size * count), n = (MPI_Count)count;
    int rc = unpack ? PMPI_Unpack_c(packed, bytes, &at, buf, n, t->handle, MPI_COMM_SELF) : PMPI_Pack_c(buf, n, t->handle, packed, bytes, &at, MPI_COMM_SELF);
    if (rc != MPI_SUCCESS)
        opir_die("the MPI below cannot %s %zu elements of %zu bytes", unpack ? "unpack" : "pack", count, t->size);
#else
    size_t most = INT32_MAX / t->size;
    if (!most)
        opir_die("a datatype with gaps of %zu bytes is too large for the pack calls of the MPI below", t->size);
    for (size_t n; count; count -= n, buf += (ptrdiff_t)n * t->extent, packed += n * t->size) {
        n = count < most ? count : most;
        int at = 0, bytes = (int)(t->size * n);
        int rc = unpack ? PMPI_Unpack(packed, bytes, &at, buf, (int)n, t->handle, MPI_COMM_SELF) : PMPI_Pack(buf, (int)n, t->handle, packed, bytes, &at, MPI_COMM_SELF);
        if (rc != MPI_SUCCESS)
            opir_die("the MPI below cannot %s %zu elements of %zu bytes", unpack ? "unpack" : "pack", n, t->size);
    }
#endif
}

/* Moves `bytes` bytes of the elements at buf, in type-map order; the last may be partial. */
static void move(const struct opir_type *t, char *buf, size_t count, size_t bytes, char *packed, bool unpack) {
    const struct opi_layout *l = t->layout.of;
    struct opi_stream s = {.at = packed, .left = bytes, .unpack = unpack};
    char *element = buf + t->layout.offset;
    for (size_t i = 0; i < count && s.left; i++)
        opi_layout_move(l, element + (ptrdiff_t)i * t->extent, &s);
}

void opir_pack(const struct opir_type *t, const void *buf, size_t count, void *to) {
    if (t->contiguous) {
        if (t->size && count)
            memcpy(to, buf, t->size * count);
    } else if (t->opaque) {
        pack_below(t, (char *)(uintptr_t)buf, count, to, false);
    } else if (t->size) {
        move(t, (char *)(uintptr_t)buf, count, t->size * count, to, false);
    }
}

/* Spreads `bytes` packed bytes, at most count elements; the last may be partial. */
void opir_unpack(const struct opir_type *t, void *buf, size_t count, const void *from, size_t bytes) {
    if (t->contiguous) {
        if (bytes)
            memcpy(buf, from, bytes);
    } else if (t->opaque) {
        size_t whole = bytes / t->size, rest = bytes % t->size;
        pack_below(t, buf, whole, (char *)(uintptr_t)from, true);
        if (rest) { /* of one more element its first part: the element as it is, with that part replaced */
            char *last = (char *)buf + (ptrdiff_t)whole * t->extent, *packed = malloc(t->size);
            if (!packed)
                opir_die("out of memory: %zu bytes", t->size);
            pack_below(t, last, 1, packed, false);
            memcpy(packed, (const char *)from + whole * t->size, rest);
            pack_below(t, last, 1, packed, true);
            free(packed);
        }
    } else if (t->size) {
        move(t, buf, count, bytes, (char *)(uintptr_t)from, true);
    }
}

#define PIECE ((size_t)64 << 10)

/* In pieces: a whole of a MiB or so the C library writes past the caches, from where the receiver, who is about to read it, has to fetch it. */
static void copy_bytes(char *to, const char *from, size_t n) {
    if (to < from + n && from < to + n) { /* a program may send to itself within one buffer */
        memmove(to, from, n);
        return;
    }
    for (size_t piece; n; n -= piece, to += piece, from += piece) {
        piece = n < PIECE ? n : PIECE;
        memcpy(to, from, piece);
    }
}

int opir_copy(const void *sbuf, size_t scount, const struct opir_type *st, void *rbuf, size_t rcount, const struct opir_type *rt) {
    size_t bytes = scount * st->size, room = rcount * rt->size, n = bytes < room ? bytes : room;
    if (n && !(sbuf == rbuf && st->contiguous && rt->contiguous)) {
        if (st->contiguous && rt->contiguous) {
            copy_bytes(rbuf, sbuf, n);
        } else if (st->contiguous) {
            opir_unpack(rt, rbuf, rcount, sbuf, n);
        } else if (rt->contiguous && bytes <= room) {
            opir_pack(st, sbuf, scount, rbuf);
        } else {
            void *packed = malloc(bytes);
            if (!packed)
                opir_die("out of memory: %zu bytes", bytes);
            opir_pack(st, sbuf, scount, packed);
            opir_unpack(rt, rbuf, rcount, packed, n);
            free(packed);
        }
    }
    if (OPIR_UNLIKELY(bytes < room && rt->size > 1 && bytes % rt->size))
        return opir_part_of(rt, bytes);
    return bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}
