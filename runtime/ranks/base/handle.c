/* handle.c - the numbers of objects.
 *
 * Where the MPI's handles are numbers (MPICH) ours are 1 .. 0x3ffffff: the MPI's own have other bits set, its null handles too.  Where they are addresses
 * (Open MPI) ours are odd addresses, and a number is made only for Fortran. */
#include "ranks/base/ranks.h"

#include <stdlib.h>

#define CHUNK 4096u
#define CHUNKS 16384u /* x CHUNK = 0x4000000 */

/* A chunk is stored once (release) and never moves; an entry is written by its object's rank before any handle with that number exists, and cleared when
 * none is left.  A free entry holds the next free number, shifted, with bit 0 set.  `lock` guards the free list and the making of chunks. */
static _Atomic(_Atomic(uintptr_t) *) chunks[CHUNKS];
static uint32_t used = 1, free_number;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic(uintptr_t) *entry(uint32_t n) {
    _Atomic(uintptr_t) *chunk = n / CHUNK < CHUNKS ? atomic_load_explicit(&chunks[n / CHUNK], memory_order_acquire) : NULL;
    return chunk ? &chunk[n % CHUNK] : NULL;
}

void opir_obj_number(struct opir_obj *o) {
    opir_lock(&lock);
    uint32_t n = free_number;
    if (n) {
        free_number = (uint32_t)(atomic_load_explicit(entry(n), memory_order_relaxed) >> 1);
    } else {
        n = used++;
        if (n / CHUNK >= CHUNKS)
            opir_die("more than %u handles", CHUNK * CHUNKS);
        if (!entry(n))
            atomic_store_explicit(&chunks[n / CHUNK], opir_alloc(CHUNK * sizeof(uintptr_t)), memory_order_release); /* zeroed before it is seen */
    }
    atomic_store_explicit(entry(n), (uintptr_t)o, memory_order_release);
    opir_unlock(&lock);
    o->handle = n;
}

/* The object is about to be freed. */
void opir_obj_gone(struct opir_obj *o) {
    o->kind = OPIR_FREE;
    if (!o->handle)
        return;
    opir_lock(&lock);
    atomic_store_explicit(entry(o->handle), (uintptr_t)free_number << 1 | 1, memory_order_relaxed);
    free_number = o->handle;
    opir_unlock(&lock);
    o->handle = 0;
}

struct opir_obj *opir_obj_numbered(uint32_t n) {
    _Atomic(uintptr_t) *e = n ? entry(n) : NULL;
    uintptr_t v = e ? atomic_load_explicit(e, memory_order_acquire) : 0;
    return v & 1 ? NULL : (struct opir_obj *)v;
}

/* The number of an object for Fortran. */
int opir_obj_c2f(struct opir_obj *o) {
    if (!o->handle)
        opir_obj_number(o);
    return (int)o->handle;
}
