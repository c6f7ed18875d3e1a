/* ring.h - rings between ranks: sending, and what an envelope says (progress.c). */
#ifndef OPI_RING_H
#define OPI_RING_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

bool opi_rings_ready(void);
void opi_progress_ring(struct opi_in *in);
void opi_new_rings(void);
struct opi_ring *opi_ring_connect(int dst);
void opi_queue_envelope(int dst, const struct opi_slot *e);
void opi_queue_drop(int dst);
bool opi_ring_from(int src);
void opi_wake_slow(struct opi_arena *a);

/* The line will be written soon. */
static inline void opi_prefetch_write(const void *p) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
    __builtin_prefetch(p, 1);
#endif
}

/* After giving a peer something to do.  No fence: a sleeper that misses this wakes by itself within 100 us. */
static inline void opi_wake(int local) {
    struct opi_arena *a = opi.peer[local];
    if (OPI_UNLIKELY(atomic_load_explicit(&a->asleep, memory_order_relaxed)))
        opi_wake_slow(a);
}

/* The next free slot towards dst, or NULL when the ring is full or envelopes are queued before it. */
static inline struct opi_slot *opi_ring_slot(int dst) {
    struct opi_out *o = &opi.out[dst];
    struct opi_ring *g = o->ring;
    if (OPI_UNLIKELY(!g)) {
        g = opi_ring_connect(dst);
        if (!g)
            return NULL;
    }
    if (OPI_UNLIKELY(o->queue_head != NULL))
        return NULL;
    if (OPI_UNLIKELY(o->tail - o->head_seen >= g->nslots)) {
        /* acquire: the consumer has finished reading the slots before head. */
        o->head_seen = atomic_load_explicit(&g->head, memory_order_acquire);
        if (o->tail - o->head_seen >= g->nslots)
            return NULL;
    }
    return &g->slot[o->tail & (g->nslots - 1)];
}

/* Publishes the slot that opi_ring_slot returned. */
static inline void opi_ring_publish(int dst, struct opi_slot *s, int kind, size_t len) {
    struct opi_out *o = &opi.out[dst];
    uint32_t shift = (uint32_t)__builtin_ctz(o->ring->nslots);
    uint32_t stamp = OPI_STAMP((o->tail >> shift) + 1, kind, len);
    o->tail++;
    atomic_store_explicit(&s->stamp, stamp, memory_order_release); /* publishes the body, and the data behind a pointer in it */
    opi_wake(dst);
    opi_prefetch_write(&o->ring->slot[o->tail & (o->ring->nslots - 1)]); /* ours again before the next message, unless the receiver looks there */
}

bool opi_ring_long(int dst, uint64_t ctx, int tag, const void *data, size_t n);

static inline int opi_env_kind(const struct opi_slot *e) {
    return (int)(atomic_load_explicit(&((struct opi_slot *)(uintptr_t)e)->stamp, memory_order_relaxed) >> 12 & 0xf);
}

static inline size_t opi_env_len(const struct opi_slot *e) {
    return atomic_load_explicit(&((struct opi_slot *)(uintptr_t)e)->stamp, memory_order_relaxed) & 0xfff;
}

/* Message bytes of an envelope. */
static inline size_t opi_env_bytes(const struct opi_slot *e) {
    return opi_env_kind(e) <= OPI_K_LONG ? opi_env_len(e) : (size_t)e->u.ref.size;
}

#pragma GCC visibility pop

#endif
