/* progress.h - moving envelopes, and waiting (progress.c). */
#ifndef OPI_PROGRESS_H
#define OPI_PROGRESS_H

#include "process/engine/ring.h"
#include "process/engine/section.h"

#pragma GCC visibility push(hidden)

void opi_progress_slow(void);

struct opi_wait { /* zero but for `on` and `below` when it begins */
    uint32_t n, asked; /* steps, and the last one of them in which others asked for a copy (shared/onesided/ask.c) */
    uint32_t naps;
    int on; /* local index of the rank we wait for, -1 for any */
    bool below; /* for the MPI below, which nothing wakes us for: yield, do not sleep */
    uint64_t since, kicked; /* ns: when it was first time to sleep, when others were kicked last while it stayed awake */
};

void opi_relax(struct opi_wait *w);
void opi_flush(void);
void opi_kick_those(int on);
bool opi_in_vain(void);
int opi_native_poll(void);
void opi_native_poll_end(void);

/* Does something of ours need progress while the caller waits for the MPI below?  Asked inside the section. */
static inline bool opi_busy(void) {
    return opi.nposted || opi.nqueued || opi.nstreams || opi.nheld;
}

/* The same, asked outside the section, where the helper and other threads change these numbers.  Who changes one after the answer looks after it. */
static inline bool opi_busy_outside(void) {
    opi_enter();
    bool busy = opi_busy();
    opi_leave();
    return busy;
}

static inline void opi_progress(void) {
    if (OPI_UNLIKELY(!opi.ready))
        return;
    if (OPI_UNLIKELY(atomic_load_explicit(&opi.arena->nrings, memory_order_relaxed) != (uint32_t)opi.nin))
        opi_new_rings();
    for (int i = 0; i < opi.nin; i++) {
        struct opi_in *in = &opi.in[i];
        const struct opi_slot *s = &in->ring->slot[in->head & in->mask];
        uint32_t stamp = atomic_load_explicit(&((struct opi_slot *)(uintptr_t)s)->stamp, memory_order_relaxed);
        if (stamp >> 16 == (((in->head >> in->shift) + 1) & 0xffff))
            opi_progress_ring(in);
    }
    if (OPI_UNLIKELY(opi.slow_work))
        opi_progress_slow();
}

#pragma GCC visibility pop

#endif
