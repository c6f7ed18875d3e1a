/* memory.c - OPI_Alloc, OPI_Malloc, OPI_Calloc and OPI_Free, MPI_Alloc_mem and MPI_Free_mem. */
#include "process/base/error.h"
#include "process/base/export.h"
#include "process/engine/section.h"
#include "process/heap/heap.h"
#include "process/objects/request.h"
#include "shared/alignment.h"

#include <errno.h>

/* Any thread may come here. */
static bool enter(void) {
    bool guest = opi_guest();
    if (guest)
        opi_guest_enter();
    else
        opi_enter();
    return guest;
}

static void leave(bool guest) {
    if (guest)
        opi_guest_leave();
    else
        opi_leave();
}

/* A block that the caller owns, or NULL where there is no memory.  fresh: set where it is memory that nobody has written to yet. */
static void *owned(size_t length, bool *fresh) {
    bool guest = enter();
    opi_heap_fresh = NULL;
    void *p = opi_pool_alloc(length);
    *fresh = p && p == opi_heap_fresh;
    if (p && !opi_hold(p, opi_class_of(p)))
        p = NULL;
    if (p && OPI_UNLIKELY(opi.check))
        opi_check_alloc(p, length);
    leave(guest);
    return p;
}

static int alloc(const char *call, void *bufp, size_t length, bool *fresh) {
    bool never = length > PTRDIFF_MAX; /* a negative number became it: malloc gives NULL, and a program that has nothing to put there goes on */
    void *p = bufp && !never ? owned(length, fresh) : NULL;
    if (bufp && never) {
        memcpy(bufp, &p, sizeof p);
        errno = ENOMEM;
        return MPI_ERR_NO_MEM;
    }
    if (!p)
        return bufp ? opi_raise_world(MPI_ERR_NO_MEM, call, "no memory for %zu bytes", length)
                    : opi_raise_world(MPI_ERR_ARG, call, "null address of a pointer");
    memcpy(bufp, &p, sizeof p);
    return MPI_SUCCESS;
}

OPI_COLD static int alloc_slow(void *bufp, size_t length) {
    bool fresh;
    return alloc("OPI_Alloc", bufp, length, &fresh);
}

API int OPI_Alloc(void *bufp, size_t length) {
    if (OPI_UNLIKELY(!bufp || length > OPI_REGION || opi.special || opi_guest())) {
        OPI_SITE();
        return alloc_slow(bufp, length);
    }
    opi_enter();
    int cls = opi_class_of_size(length);
    struct opi_class *c = &opi_classes[cls];
    uint32_t depth = c->depth;
    uint8_t *held;
    if (OPI_UNLIKELY(depth == 0 || c->borrowed || !(held = opi_held_byte(c->stack[depth - 1])))) {
        opi_leave();
        return alloc_slow(bufp, length);
    }
    void *p = c->stack[depth - 1];
    c->depth = depth - 1;
    *held = (uint8_t)(cls + 1);
    memcpy(bufp, &p, sizeof p);
    opi_leave();
    return MPI_SUCCESS;
}

API void *OPI_Malloc(size_t length) {
    OPI_SITE();
    bool fresh;
    void *p = owned(length, &fresh);
    if (!p)
        errno = ENOMEM;
    return p;
}

API void *OPI_Calloc(size_t count, size_t size) {
    OPI_SITE();
    size_t length;
    if (__builtin_mul_overflow(count, size, &length))
        length = SIZE_MAX; /* so much there never is */
    void *p = NULL;
    bool fresh;
    if (alloc("OPI_Calloc", &p, length, &fresh) != MPI_SUCCESS)
        return NULL;
    return fresh ? p : memset(p, 0, length);
}

OPI_COLD static int free_slow(void *bufp) {
    void *p, *null = NULL;
    if (!bufp)
        return opi_raise_world(MPI_ERR_ARG, "OPI_Free", "null address of a pointer");
    memcpy(&p, bufp, sizeof p);
    if (!p)
        return MPI_SUCCESS;
    bool guest = enter();
    uint8_t *held = opi_held_by_user(p);
    if (!held) {
        leave(guest);
        opi_check_bad("OPI_Free", p);
        return opi_raise_world(MPI_ERR_BUFFER, "OPI_Free", "%p is no buffer that the caller owns", p);
    }
    *held = 0;
    if (OPI_UNLIKELY(opi.check))
        opi_check_gone(p, OPI_B_FREED);
    opi_pool_free(p);
    memcpy(bufp, &null, sizeof null);
    leave(guest);
    return MPI_SUCCESS;
}

API int OPI_Free(void *bufp) {
    if (OPI_UNLIKELY(!bufp || opi.special || opi_guest())) {
        OPI_SITE();
        return free_slow(bufp);
    }
    opi_enter();
    void *p, *null = NULL;
    memcpy(&p, bufp, sizeof p);
    uint8_t *held = opi_held_by_user(p); /* NULL is outside the region */
    if (OPI_LIKELY(held != NULL)) {
        /* The class from the map, not from *held: the load that OPI_Alloc's store just fed would lengthen the chain. */
        struct opi_class *c = &opi_classes[opi_class_of(p)];
        uint32_t depth = c->depth;
        if (OPI_LIKELY(depth < c->limit)) {
            *held = 0;
            c->stack[depth] = p;
            c->depth = depth + 1;
            memcpy(bufp, &null, sizeof null);
            opi_leave();
            return MPI_SUCCESS;
        }
    }
    opi_leave();
    return free_slow(bufp);
}

/* A buffer of the caller's goes, as with OPI_Free; NULL does nothing. */
void opi_free_owned(void *p) {
    if (!p)
        return;
    opi_enter();
    uint8_t *held = opi_held_by_user(p);
    if (held) {
        *held = 0;
        if (OPI_UNLIKELY(opi.check))
            opi_check_gone(p, OPI_B_FREED);
        opi_pool_free(p);
    }
    opi_leave();
}

/* ---- memory of the MPI's own call ------------------------------------------------------------------------------------------------------------------- */

/* MPI_Alloc_mem yields reachable memory.  It is not owned in OPI's sense, so OPI_Free and the gives refuse it.  A block that is not aligned as the program asks
 * is none: the MPI makes another. */
EXPORT int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr) {
    if (opi.disabled || size < 0)
        return PMPI_Alloc_mem(size, info, baseptr);
    size_t to = opi_alignment(info);
    opi_enter();
    void *p = opi_pool_alloc((size_t)size > to ? (size_t)size : to); /* a large block is likelier to begin there */
    uint8_t *h = p ? opi_held_byte(p) : NULL;
    if (p && !opi_is_aligned(p, to)) {
        opi_pool_free(p);
        h = NULL;
    }
    if (h)
        *h = OPI_HELD_MEM;
    opi_leave();
    if (!h)
        return PMPI_Alloc_mem(size, info, baseptr);
    memcpy(baseptr, &p, sizeof p);
    return MPI_SUCCESS;
}

EXPORT int MPI_Free_mem(void *base) {
    opi_enter();
    uint8_t *h = opi_in_region(base) ? opi_held_byte(base) : NULL;
    if (!h || *h != OPI_HELD_MEM) {
        opi_leave();
        return PMPI_Free_mem(base);
    }
    *h = 0;
    opi_pool_free(base);
    opi_leave();
    return MPI_SUCCESS;
}
