/* inbox.h - what threads leave for a thread: messages that need nothing from their sender any more, small ones and gives.
 *
 * Each thread has a ring of slots.  A sender claims the next slot, fills it and publishes its number; the owner takes the messages out in that order, under
 * its lock, whenever it is in an MPI call, and matches them.  So a message costs one cache line that goes from the sender to the receiver, and no lock that
 * they share.  Who finds the ring full, or has a message that may have to wait (sendrecv of a large one), takes the receiver's lock, takes out what is
 * there, and then matches the message itself: so messages of one sender keep their order. */
#ifndef OPIR_INBOX_H
#define OPIR_INBOX_H

#include "ranks/base/ranks.h"

#pragma GCC visibility push(hidden)

#define OPIR_SLOTS 32 /* a power of two */
#define OPIR_INSIDE 104 /* bytes of data in a slot */
#define OPIR_FIRST 40 /* of them on its first line: a give of more passes its buffer, which costs no more lines and no copy */

enum opir_slot_kind {
    OPIR_S_DATA, /* the data are here, `inside` bytes */
    OPIR_S_COPY, /* a block with a copy of the data, of the sender's */
    OPIR_S_BLOCK /* a give */
};

/* Written by the one who claimed it, then published by `seq` (release): the position and one.  Read by who holds the owner's lock.  All of a message of up
 * to OPIR_FIRST bytes is on the first line. */
struct opir_slot {
    _Atomic uint32_t seq; /* of positions the lower half is enough: no slot is more than a round behind */
    uint8_t kind, inside;
    uint64_t ctx;
    int src, tag;
    union {
        char data[OPIR_INSIDE];
        struct {
            void *block;
            size_t room, bytes;
            struct opir_rank *home; /* of a copy: where the block comes from */
        };
    };
};
_Static_assert(sizeof(struct opir_slot) == 128, "a slot is two cache lines");
_Static_assert(offsetof(struct opir_slot, data) + OPIR_FIRST == 64, "what is on the first line");

/* Positions count all messages ever.  head: the next to be claimed; tail: the next to be taken out, changed under the owner's lock; shown: tail as of some
 * time ago, for the senders; known: shown as the senders have last seen it.  So known <= shown <= tail <= head <= known + OPIR_SLOTS. */
struct opir_inbox {
    _Alignas(128) _Atomic uint64_t head; /* the senders' line */
    _Atomic uint64_t known;
    _Alignas(128) _Atomic uint64_t shown;
    _Alignas(128) _Atomic uint64_t tail; /* the owner's line */
    _Alignas(128) _Atomic uint32_t asleep; /* seldom written: the owner sleeps, or is about to (thread.c) */
    _Atomic uint32_t signal; /* counts what the sleeper may be waiting for */
    _Atomic uint32_t seen; /* the signal after which the owner looked last and went to sleep */
    _Atomic size_t eager; /* the owner's eager_bytes, for the senders */
    _Alignas(128) struct opir_slot slot[OPIR_SLOTS];
};

static inline struct opir_inbox *opir_inbox_of(const struct opir_rank *r) {
    return opir.inboxes ? &opir.inboxes[r - opir.rank] : NULL;
}

/* The line will be written soon. */
static inline void opir_prefetch_write(const void *p) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
    __builtin_prefetch(p, 1);
#endif
}

/* The slot that comes next, most likely: its line comes while the data are on their way, else the claim would wait for the one and then for the other. */
static inline void opir_inbox_prefetch(struct opir_inbox *in) {
    opir_prefetch_write(&in->slot[atomic_load_explicit(&in->head, memory_order_relaxed) % OPIR_SLOTS]);
}

/* Claims a slot; NULL when all are taken, as far as is known. */
static inline struct opir_slot *opir_inbox_claim(struct opir_inbox *in, uint64_t *position) {
    uint64_t head = atomic_load_explicit(&in->head, memory_order_relaxed);
    do {
        uint64_t known = atomic_load_explicit(&in->known, memory_order_acquire); /* whoever stored it had seen the slots read */
        if ((int64_t)(head - known) >= OPIR_SLOTS) { /* head may be old */
            known = atomic_load_explicit(&in->shown, memory_order_acquire); /* the slots below were read */
            if ((int64_t)(head - known) >= OPIR_SLOTS)
                return NULL;
            atomic_store_explicit(&in->known, known, memory_order_release);
        }
    } while (!atomic_compare_exchange_weak_explicit(&in->head, &head, head + 1, memory_order_relaxed, memory_order_relaxed));
    *position = head;
    return &in->slot[head % OPIR_SLOTS];
}

static inline void opir_inbox_publish(struct opir_slot *s, uint64_t position) {
    atomic_store_explicit(&s->seq, (uint32_t)position + 1, memory_order_release); /* what it holds comes before */
}

/* inbox.c */
bool opir_put_in(struct opir_req *q, struct opir_rank *to, struct opir_inbox *in);
void opir_take_all(struct opir_rank *r);

/* The slot at a position has been filled: it, or a later one in its place. */
static inline bool opir_inbox_filled(const struct opir_inbox *in, uint64_t position) {
    struct opir_slot *s = (struct opir_slot *)(uintptr_t)&in->slot[position % OPIR_SLOTS];
    return (int32_t)(atomic_load_explicit(&s->seq, memory_order_acquire) - (uint32_t)position - 1) >= 0;
}

#pragma GCC visibility pop

#endif
