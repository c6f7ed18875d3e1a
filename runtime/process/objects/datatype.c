/* datatype.c - datatypes as libopi sees them: where their bytes lie (layout.h), and packing.
 *
 * A derived type is described once, when it is first used here, and the description is kept as an attribute of the type. */
#include "process/base/error.h"
#include "process/objects/datatype.h"

#include <limits.h>
#include <stdlib.h>

struct opi_type_cache opi_type_cache[OPI_TYPE_CACHE];
static int keyval = MPI_KEYVAL_INVALID;

void opi_type_release(struct opi_type *t) {
    if (t && !t->named && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1) {
        if (t->base) {
            PMPI_Type_free(&t->handle);
            opi_type_release(t->base);
        } else {
            opi_layout_free(t->layout.of);
            opi_type_release(t->below);
        }
        free(t);
    }
}

/* The type of a receive that pends.  The program may free it meanwhile; where the MPI below needs a handle later (`below`: it may serve the receive; or it has
 * to unpack the message), there is one for this receive alone, without the attributes of the program's, whose functions are not to be called. */
struct opi_type *opi_type_pending(struct opi_type *t, bool below) {
    opi_type_keep(t);
    if (OPI_LIKELY(t->named || !(below || t->opaque)))
        return t;
    MPI_Datatype handle;
    struct opi_type *own = malloc(sizeof *own);
    if (!own || PMPI_Type_contiguous(1, t->handle, &handle) != MPI_SUCCESS || PMPI_Type_commit(&handle) != MPI_SUCCESS)
        opi_die("out of memory for the datatype of a receive");
    memcpy(own, t, sizeof *own);
    atomic_init(&own->refs, 1);
    own->handle = handle;
    own->base = t;
    return own;
}

/* The type as one that only the MPI below packs and unpacks. */
struct opi_type *opi_type_below(struct opi_type *t) {
    if (t->opaque || t->below)
        return t->opaque ? t : t->below;
    struct opi_type *c = malloc(sizeof *c);
    if (!c)
        opi_die("out of memory for a datatype");
    memcpy(c, t, sizeof *c);
    atomic_init(&c->refs, 1);
    c->contiguous = false;
    c->opaque = true;
    c->layout = (struct opi_part){0, NULL};
    return t->below = c;
}

static int forget(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)extra;
    opi_type_release(value);
    return MPI_SUCCESS;
}

static struct opi_type *describe(MPI_Datatype handle) {
    MPI_Count size, lb, extent, tlb, textent;
    if (handle == MPI_DATATYPE_NULL || PMPI_Type_size_x(handle, &size) != MPI_SUCCESS || size < 0 ||
        PMPI_Type_get_extent_x(handle, &lb, &extent) != MPI_SUCCESS || PMPI_Type_get_true_extent_x(handle, &tlb, &textent) != MPI_SUCCESS)
        return NULL;
    struct opi_type *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->handle = handle;
    t->size = (size_t)size;
    t->lb = (ptrdiff_t)lb;
    t->extent = (ptrdiff_t)extent;
    t->true_lb = size ? (ptrdiff_t)tlb : 0;
    t->true_extent = size ? (ptrdiff_t)textent : 0;
    atomic_init(&t->refs, 1);
    if (size == 0) {
        t->contiguous = true;
        return t;
    }
    t->opaque = !opi_layout_of(handle, &t->layout);
    const struct opi_layout *l = t->layout.of;
    t->contiguous = l && l->kind == OPI_L_BYTES && t->layout.offset == 0 && (ptrdiff_t)t->size == t->extent;
    return t;
}

/* May it be sent and received?  The MPI below says so; the program's handlers are not told, it is the caller who raises the error. */
static bool committed(MPI_Datatype handle) {
    char none[1] = {0};
    int at = 0;
    return opi.all == MPI_COMM_NULL || PMPI_Pack(none, 0, handle, none, 0, &at, opi.all) == MPI_SUCCESS;
}

/* Is the type a predefined one?  The call without counts of its own refuses types that were made with large counts. */
static bool predefined(MPI_Datatype handle) {
    int combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4
    MPI_Count ni, na, nl, nd;
    return PMPI_Type_get_envelope_c(handle, &ni, &na, &nl, &nd, &combiner) == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED;
#else
    int ni, na, nd;
    return PMPI_Type_get_envelope(handle, &ni, &na, &nd, &combiner) == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED;
#endif
}

/* A type that is not in the cache of predefined ones. */
OPI_COLD struct opi_type *opi_type_slow(MPI_Datatype handle) {
    if (handle == MPI_DATATYPE_NULL || !opi.mpi_running)
        return NULL;
    void *value;
    int found = 0;
    if (keyval != MPI_KEYVAL_INVALID && PMPI_Type_get_attr(handle, keyval, &value, &found) == MPI_SUCCESS && found)
        return value;
    bool known = predefined(handle);
    struct opi_type *t = known || committed(handle) ? describe(handle) : NULL;
    if (!t)
        return NULL;
    if (known) {
        /* Predefined types live for ever.  A slot taken by another type is taken over; the descriptions stay reachable from neither, a few bytes. */
        t->named = true;
        struct opi_type_cache *c = &opi_type_cache[opi_handle_hash(&handle, sizeof handle) % OPI_TYPE_CACHE];
        if (!c->type) {
            c->handle = handle;
            c->type = t;
            return t;
        }
    }
    if (PMPI_Type_set_attr(handle, keyval, t) != MPI_SUCCESS && !t->named)
        opi_type_keep(t); /* kept for ever rather than freed under a request */
    return t;
}

/* Packs, or unpacks, where only the MPI below knows how: as a message of this rank to itself.  That moves what MPI_Unpack does not, parts of elements.  Without
 * large counts as many elements at a time as an int can tell the bytes of. */
static void pack_below(const struct opi_type *t, char *buf, size_t count, char *packed, size_t bytes, bool unpack) {
#if MPI_VERSION >= 4
    const size_t most = (size_t)INT64_MAX / t->size;
#else
    const size_t most = INT_MAX / t->size;
    if (!most)
        opi_die("a datatype of %zu bytes is too large for this MPI to pack", t->size);
#endif
    for (size_t n, b; count && bytes; count -= n, bytes -= b, buf += (ptrdiff_t)n * t->extent, packed += b) {
        n = count < most ? count : most;
        b = bytes / t->size < n ? bytes : n * t->size;
#if MPI_VERSION >= 4
        int rc = unpack ? PMPI_Sendrecv_c(packed, (MPI_Count)b, MPI_BYTE, 0, 1, buf, (MPI_Count)n, t->handle, 0, 1, opi.self, MPI_STATUS_IGNORE)
                        : PMPI_Sendrecv_c(buf, (MPI_Count)n, t->handle, 0, 1, packed, (MPI_Count)b, MPI_BYTE, 0, 1, opi.self, MPI_STATUS_IGNORE);
#else
        int rc = unpack ? PMPI_Sendrecv(packed, (int)b, MPI_BYTE, 0, 1, buf, (int)n, t->handle, 0, 1, opi.self, MPI_STATUS_IGNORE)
                        : PMPI_Sendrecv(buf, (int)n, t->handle, 0, 1, packed, (int)b, MPI_BYTE, 0, 1, opi.self, MPI_STATUS_IGNORE);
#endif
        if (rc != MPI_SUCCESS)
            opi_die("the MPI cannot %s %zu elements of %zu bytes", unpack ? "unpack" : "pack", n, t->size);
    }
}

/* Moves `bytes` bytes of `count` elements at buf, in type-map order, from byte `at` on. */
static void move(const struct opi_type *t, char *buf, size_t count, size_t at, size_t bytes, char *packed, bool unpack) {
    const struct opi_layout *l = t->layout.of;
    struct opi_stream s = {.at = packed, .skip = at % t->size, .left = bytes, .unpack = unpack};
    char *element = buf + t->layout.offset;
    if (l->kind == OPI_L_SPANS && !at && !unpack && bytes == t->size * count) { /* whole elements of few spans, the usual derived types */
        for (size_t i = 0; i < count; i++, element += t->extent)
            for (size_t k = 0; k < l->n; k++) {
                const struct opi_span *p = &l->spans[k];
                if (p->length == 8)
                    memcpy(packed, element + p->offset, 8);
                else
                    memcpy(packed, element + p->offset, p->length);
                packed += p->length;
            }
        return;
    }
    for (size_t i = at / t->size; i < count && s.left; i++)
        opi_layout_move(l, element + (ptrdiff_t)i * t->extent, &s);
}

/* Copies `bytes` of the `count` elements at buf, in type-map order, from byte `at` on, to `to`. */
void opi_pack_some(const struct opi_type *t, const void *buf, size_t count, size_t at, size_t bytes, void *to) {
    if (t->contiguous)
        memcpy(to, (const char *)buf + at, bytes);
    else if (bytes)
        move(t, (char *)(uintptr_t)buf, count, at, bytes, to, false);
}

void opi_pack(const struct opi_type *t, const void *buf, size_t count, void *to) {
    if (t->opaque)
        pack_below(t, (char *)(uintptr_t)buf, count, to, t->size * count, false);
    else
        opi_pack_some(t, buf, count, 0, t->size * count, to);
}

/* Spreads `bytes` packed bytes over the elements at buf, from byte `at` on. */
void opi_unpack_some(const struct opi_type *t, void *buf, size_t count, size_t at, const void *from, size_t bytes) {
    if (t->contiguous)
        memcpy((char *)buf + at, from, bytes);
    else if (bytes)
        move(t, buf, count, at, bytes, (char *)(uintptr_t)from, true);
}

/* The same from the start; the last element may be partial. */
void opi_unpack(const struct opi_type *t, void *buf, size_t count, const void *from, size_t bytes) {
    if (t->opaque)
        pack_below(t, buf, count, (char *)(uintptr_t)from, bytes, true);
    else
        opi_unpack_some(t, buf, count, 0, from, bytes);
}

void opi_types_init(void) {
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval, NULL);
}

void opi_types_fini(void) {
    if (keyval != MPI_KEYVAL_INVALID)
        PMPI_Type_free_keyval(&keyval);
    keyval = MPI_KEYVAL_INVALID;
}
