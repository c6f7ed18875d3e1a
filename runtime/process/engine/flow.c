/* flow.c - a message that the heap has no room for: it goes through a small block, which its sender writes and its receiver reads, round and round.
 *
 * `filled` counts what the sender has written, `moved` what the receiver has read; each looks at the other's when progress is made. */
#include "process/engine/deliver.h"
#include "process/engine/ring.h"
#include "process/heap/pool.h"
#include "process/objects/datatype.h"

#include <stdlib.h>

#define FLOW_MOST ((size_t)256 << 10)
#define FLOW_STEP ((size_t)64 << 10)
#define FLOW_LEAST ((size_t)4 << 10)

/* Writes what there is room for. */
void opi_flow_out(struct opi_req *r) {
    struct opi_desc *d = r->desc;
    size_t filled = atomic_load_explicit(&d->filled, memory_order_relaxed), before = filled;
    size_t moved = atomic_load_explicit(&d->moved, memory_order_acquire); /* the receiver has read what lay there */
    while (filled < d->size && filled - moved < d->room) {
        size_t at = filled % d->room, n = d->size - filled, space = d->room - (filled - moved);
        n = n < space ? n : space;
        n = n < d->room - at ? n : d->room - at;
        n = n < FLOW_STEP ? n : FLOW_STEP;
        memcpy((char *)d->block + at, (char *)d->addr + filled, n);
        filled += n;
        atomic_store_explicit(&d->filled, filled, memory_order_release); /* the bytes below it */
        moved = atomic_load_explicit(&d->moved, memory_order_acquire);
    }
    if (filled != before)
        opi_wake(r->src);
}

/* The heap has no room for the message: it goes through a block of the size that is left, one beyond the heap's limit in the end. */
OPI_COLD bool opi_flow_begin(struct opi_req *r) {
    struct opi_desc *d = r->desc;
    size_t room = d->size < FLOW_MOST ? d->size : FLOW_MOST;
    while (!(d->block = opi_pool_alloc(room)) && room > FLOW_LEAST)
        room /= 4;
    if (!d->block && !(d->block = opi_pool_alloc_own(room = FLOW_LEAST)))
        return false;
    d->room = room;
    atomic_store_explicit(&d->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&d->moved, 0, memory_order_relaxed);
    atomic_store_explicit(&d->state, OPI_D_FLOWING, memory_order_release); /* the fields above */
    opi_flow_out(r);
    return true;
}

/* The message comes through a small block: n bytes of it, which stand at `from`. */
static void piece(struct opi_req *r, const char *from, size_t n) {
    size_t at = r->pipe_off;
    if (at >= r->bytes_max)
        return;
    n = n < r->bytes_max - at ? n : r->bytes_max - at;
    if (r->aside)
        memcpy((char *)r->aside + at, from, n);
    else
        opi_unpack_some(r->type, r->take ? r->block : r->buf, r->count, at, from, n);
}

/* Takes what has come; true when the message is complete. */
OPI_COLD bool opi_flow_in(struct opi_req *r, struct opi_desc *d) {
    size_t filled = atomic_load_explicit(&d->filled, memory_order_acquire); /* the bytes below it are written */
    if (r->pipe_off == 0) {
        if (r->take && !r->block)
            (void)opi_take_room(r);
        if (r->type->opaque && r->bytes_max && !r->done && !r->aside && !(r->aside = malloc(r->bytes_max))) {
            r->r_error = MPI_ERR_NO_MEM;
            r->r_bytes = 0;
            r->done = true;
        }
    }
    while (!r->done && r->pipe_off < filled) {
        size_t at = r->pipe_off % d->room, n = filled - r->pipe_off;
        n = n < d->room - at ? n : d->room - at;
        piece(r, (char *)d->block + at, n);
        r->pipe_off += n;
        atomic_store_explicit(&d->moved, r->pipe_off, memory_order_release); /* we have read them: the sender may write there again */
        opi_wake(r->src);
    }
    if (!r->done && r->pipe_off < d->size)
        return false;
    if (!r->done) {
        if (r->aside)
            opi_unpack(r->type, r->take ? r->block : r->buf, r->count, r->aside, d->size < r->bytes_max ? d->size : r->bytes_max);
        r->r_bytes = d->size < r->bytes_max ? d->size : r->bytes_max;
        r->r_error = d->size > r->bytes_max ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
        r->done = true;
    }
    free(r->aside);
    r->aside = NULL;
    r->pipe = NULL;
    atomic_store_explicit(&d->state, OPI_D_DONE, memory_order_release); /* also where there was no memory: the sender may go on */
    opi_wake(r->src);
    return true;
}
