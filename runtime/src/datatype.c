/* datatype.c - datatypes as lists of byte spans.
 *
 * A derived type is flattened once, when it is first used here, and kept as an attribute of the type.  The spans are found by asking the MPI itself:
 * a buffer whose bytes spell their own offset is packed, and the packed bytes tell where each came from.  That holds for every constructor there is. */
#include "internal.h"

#include <stdlib.h>

#define FLATTEN_MAX ((ptrdiff_t)1 << 28) /* larger extents go through PMPI_Pack at each use */

struct opi_type_cache opi_type_cache[OPI_TYPE_CACHE];
static int keyval = MPI_KEYVAL_INVALID;

void opi_type_release(struct opi_type *t) {
    if (t && !t->named && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1) {
        if (t->base) {
            PMPI_Type_free(&t->handle);
            opi_type_release(t->base);
        } else {
            free(t->spans);
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

static int forget(MPI_Datatype type, int key, void *value, void *extra) {
    (void)type, (void)key, (void)extra;
    opi_type_release(value);
    return MPI_SUCCESS;
}

static bool add_span(struct opi_type *t, size_t *room, ptrdiff_t offset) {
    if (t->nspans && t->spans[t->nspans - 1].offset + (ptrdiff_t)t->spans[t->nspans - 1].length == offset) {
        t->spans[t->nspans - 1].length++;
        return true;
    }
    if (t->nspans == *room) {
        size_t more = *room ? *room * 2 : 8;
        struct opi_block_span *s = realloc(t->spans, more * sizeof *s);
        if (!s)
            return false;
        t->spans = s;
        *room = more;
    }
    t->spans[t->nspans++] = (struct opi_block_span){offset, 1};
    return true;
}

/* Fills t->spans.  False when it cannot be done within memory. */
static bool flatten(struct opi_type *t) {
    size_t n = (size_t)t->true_extent, size = t->size;
    int digits = 1;
    while (digits < 8 && (n >> (8 * digits)) != 0)
        digits++;
    int bound = 0;
    if (PMPI_Pack_size(1, t->handle, MPI_COMM_SELF, &bound) != MPI_SUCCESS || (size_t)bound < size)
        return false;
    unsigned char *buf = malloc(n), *packed = malloc((size_t)bound);
    uint64_t *from = calloc(size, sizeof *from);
    bool ok = buf && packed && from;
    for (int d = 0; ok && d < digits; d++) {
        for (size_t i = 0; i < n; i++)
            buf[i] = (unsigned char)(i >> (8 * d));
        int at = 0;
        ok = PMPI_Pack((char *)buf - t->true_lb, 1, t->handle, packed, bound, &at, MPI_COMM_SELF) == MPI_SUCCESS && (size_t)at == size;
        for (size_t i = 0; ok && i < size; i++)
            from[i] |= (uint64_t)packed[i] << (8 * d);
    }
    size_t room = 0;
    for (size_t i = 0; ok && i < size; i++)
        ok = add_span(t, &room, t->true_lb + (ptrdiff_t)from[i]);
    free(buf);
    free(packed);
    free(from);
    return ok;
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
    if (t->true_extent > FLATTEN_MAX || !flatten(t)) {
        free(t->spans);
        t->spans = NULL;
        t->nspans = 0;
        t->opaque = true;
        return t;
    }
    t->contiguous = t->nspans == 1 && t->spans[0].offset == 0 && (ptrdiff_t)t->size == t->extent;
    return t;
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
    struct opi_type *t = describe(handle);
    if (!t)
        return NULL;
    if (predefined(handle)) {
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

/* PMPI_Pack and PMPI_Unpack of any number of elements; without large counts as many at a time as an int can tell the bytes of. */
static void pack_below(const struct opi_type *t, char *buf, size_t count, char *packed, bool unpack) {
#if MPI_VERSION >= 4
    MPI_Count at = 0, bytes = (MPI_Count)(t->size * count), n = (MPI_Count)count;
    int rc = unpack ? PMPI_Unpack_c(packed, bytes, &at, buf, n, t->handle, MPI_COMM_SELF) : PMPI_Pack_c(buf, n, t->handle, packed, bytes, &at, MPI_COMM_SELF);
    if (rc != MPI_SUCCESS)
        opi_die("the MPI cannot %s %zu elements of %zu bytes", unpack ? "unpack" : "pack", count, t->size);
#else
    size_t most = INT32_MAX / t->size;
    if (!most)
        opi_die("a datatype with gaps of %zu bytes is too large for the pack calls of this MPI", t->size);
    for (size_t n; count; count -= n, buf += (ptrdiff_t)n * t->extent, packed += n * t->size) {
        n = count < most ? count : most;
        int at = 0, bytes = (int)(t->size * n);
        int rc = unpack ? PMPI_Unpack(packed, bytes, &at, buf, (int)n, t->handle, MPI_COMM_SELF) : PMPI_Pack(buf, (int)n, t->handle, packed, bytes, &at, MPI_COMM_SELF);
        if (rc != MPI_SUCCESS)
            opi_die("the MPI cannot %s %zu elements of %zu bytes", unpack ? "unpack" : "pack", n, t->size);
    }
#endif
}

/* Copies `count` elements at buf, in type-map order, to `to`. */
void opi_pack(const struct opi_type *t, const void *buf, size_t count, void *to) {
    if (t->contiguous) {
        memcpy(to, buf, t->size * count);
        return;
    }
    if (t->opaque) {
        pack_below(t, (char *)(uintptr_t)buf, count, to, false);
        return;
    }
    char *out = to;
    const char *element = buf;
    for (size_t i = 0; i < count; i++, element += t->extent) {
        for (size_t k = 0; k < t->nspans; k++) {
            const struct opi_block_span *s = &t->spans[k];
            if (s->length == 8)
                memcpy(out, element + s->offset, 8);
            else
                memcpy(out, element + s->offset, s->length);
            out += s->length;
        }
    }
}

/* Spreads `bytes` packed bytes over at most `count` elements at buf; the last element may be partial. */
void opi_unpack(const struct opi_type *t, void *buf, size_t count, const void *from, size_t bytes) {
    if (t->contiguous) {
        memcpy(buf, from, bytes);
        return;
    }
    if (t->opaque) {
        pack_below(t, buf, bytes / t->size, (char *)(uintptr_t)from, true);
        return;
    }
    const char *in = from;
    char *element = buf;
    for (size_t i = 0; i < count && bytes; i++, element += t->extent) {
        for (size_t k = 0; k < t->nspans && bytes; k++) {
            const struct opi_block_span *s = &t->spans[k];
            size_t n = s->length < bytes ? s->length : bytes;
            if (n == 8)
                memcpy(element + s->offset, in, 8);
            else
                memcpy(element + s->offset, in, n);
            in += n;
            bytes -= n;
        }
    }
}

void opi_types_init(void) {
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval, NULL);
}

void opi_types_fini(void) {
    if (keyval != MPI_KEYVAL_INVALID)
        PMPI_Type_free_keyval(&keyval);
    keyval = MPI_KEYVAL_INVALID;
}
