/* desc.c - messages that stay with their sender, and how it gets rid of data nobody asks for (types.h, struct opi_desc). */
#include "process/engine/deliver.h"
#include "process/engine/ring.h"
#include "process/heap/pool.h"

#include <time.h>

#define OPI_PATIENT_FROM ((size_t)32 << 10)

/* Sender: may `bytes` more be left with dst unmatched?  Counts them if so.  One message is always allowed, so that two ranks which send head to head
 * finish whatever the size. */
bool opi_account(int dst, size_t bytes) {
    if (dst == opi.me)
        return true;
    struct opi_out *o = &opi.out[dst];
    if (o->sent - o->freed_seen + bytes > opi.cap) {
        if (!o->ring && !opi_ring_connect(dst))
            return false;
        o->freed_seen = atomic_load_explicit(&o->ring->freed, memory_order_acquire);
        uint64_t open = o->sent - o->freed_seen;
        if (open != 0 && open + bytes > opi.cap)
            return false;
    }
    o->sent += bytes;
    return true;
}

struct opi_desc *opi_desc_new(void *addr, size_t size, int state) {
    struct opi_desc *d = opi_pool_alloc(sizeof *d);
    if (OPI_UNLIKELY(!d) && !(d = opi_pool_alloc_own(sizeof *d)))
        return NULL;
    d->owned = 0;
    d->remote = 0;
    d->accounted = 0;
    d->flow = 0;
    d->addr = addr;
    d->size = size;
    d->block = NULL;
    atomic_store_explicit(&d->filled, 0, memory_order_relaxed);
    atomic_store_explicit(&d->state, (uint32_t)state, memory_order_relaxed); /* the envelope publishes it */
    return d;
}

#define BYTES_PER_NS 8

static bool patience_over(struct opi_req *r, size_t bytes) {
    struct timespec t;
    if (bytes < OPI_PATIENT_FROM || r->desc->owned)
        return true;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (!r->since)
        r->since = now;
    return now - r->since >= bytes / BYTES_PER_NS;
}

/* Sender: a standard-mode message that nobody has matched is copied aside, so that the caller can go on.  False when it has to stay as it is. */
bool opi_relieve(struct opi_req *r) {
    struct opi_desc *d = r->desc;
    uint32_t s = OPI_D_OPEN;
    /* Copying it aside costs about as long as this; a receiver that comes before has saved us that. */
    if (!r->standard || !patience_over(r, d->size) || !opi_account(r->src, d->size))
        return false;
    if (!atomic_compare_exchange_strong_explicit(&d->state, &s, OPI_D_BUFFERING, memory_order_acq_rel, memory_order_acquire)) {
        opi.out[r->src].sent -= r->src == opi.me ? 0 : d->size;
        return false;
    }
    void *block = d->owned ? d->addr : opi_pool_alloc(d->size);
    if (!block) {
        opi.out[r->src].sent -= r->src == opi.me ? 0 : d->size;
        s = OPI_D_BUFFERING;
        if (!atomic_compare_exchange_strong_explicit(&d->state, &s, OPI_D_OPEN, memory_order_acq_rel, memory_order_acquire)) {
            atomic_store_explicit(&d->state, OPI_D_CLAIMED, memory_order_release); /* WANTED: the receiver has it, and copies from here */
            opi_wake(r->src);
        }
        r->standard = false;
        return false;
    }
    if (!d->owned) {
        memcpy(block, d->addr, d->size);
        opi_profile_copied(d->size);
    }
    d->block = block;
    d->accounted = 1;
    atomic_store_explicit(&d->filled, d->size, memory_order_relaxed);
    opi_lent_over(r);
    atomic_store_explicit(&d->state, OPI_D_BUFFERED, memory_order_release); /* publishes the copy; the desc is the receiver's now, who may wait for it */
    opi_wake(r->src);
    opi.stat.buffered_msgs++;
    r->desc = NULL;
    r->done = true;
    return true;
}
