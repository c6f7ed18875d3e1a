/* progress.c - moving envelopes, and waiting well.
 *
 * A wait first spins, then yields the processor, then sleeps on a futex that senders wake; no sleep is longer than 100 us, and the MPI below is polled all
 * the while, since its collectives and one-sided operations may depend on it.  Being woken takes as long as hundreds of messages, and the waker pays a part
 * of it.  So where every rank has a processor, a wait goes on to yield until it has lasted a hundred times as long as that. */
#include "process/base/alive.h"
#include "process/below/net.h"
#include "process/engine/deliver.h"
#include "process/engine/match.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/heap/pool.h"
#include "process/objects/request.h"
#include "process/objects/revoke.h"
#include "shared/onesided/onesided.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 50000
#define KICK_NS 400000 /* four naps, with what it takes to wake from them */

OPI_COLD void opi_new_rings(void) {
    uint32_t n = atomic_load_explicit(&opi.arena->nrings, memory_order_relaxed);
    while ((uint32_t)opi.nin < n || atomic_load_explicit(&opi.arena->rings[opi.nin], memory_order_relaxed)) {
        struct opi_ring *g = atomic_load_explicit(&opi.arena->rings[opi.nin], memory_order_acquire);
        if (!g)
            return; /* its sender has yet to store it, or has been overtaken in that */
        struct opi_in *in = &opi.in[opi.nin];
        in->ring = g;
        in->head = in->published = 0;
        in->mask = g->nslots - 1;
        in->shift = (uint32_t)__builtin_ctz(g->nslots);
        in->src = g->src;
        in->freed = 0;
        opi.nin++;
    }
}

/* Creates our ring to dst; NULL when memory is exhausted (the envelope is queued and it is tried again). */
OPI_COLD struct opi_ring *opi_ring_connect(int dst) {
    struct opi_out *o = &opi.out[dst];
    size_t bytes = sizeof(struct opi_ring) + opi.ring_slots * sizeof(struct opi_slot);
    /* Every rank's first rings would lie at the same place of its window, and run at the same pace.  Where the low 12 bits of the slot we wrote and of the one
     * we look at next are the same, the look waits for the write to reach the cache: a tenth of a small message's time. */
    size_t room = opi.ring_slots < 64 ? opi.ring_slots : 64;
    char *block = opi_pool_alloc_own(bytes + room * OPI_LINE);
    if (!block)
        return NULL;
    struct opi_ring *g = (struct opi_ring *)(block + ((size_t)opi.me * 27 + (size_t)dst * 5) % room * OPI_LINE);
    memset(g, 0, bytes);
    g->nslots = opi.ring_slots;
    g->src = opi.me;
    struct opi_arena *a = opi.peer[dst];
    for (uint32_t i = atomic_load_explicit(&a->nrings, memory_order_relaxed);; i++) { /* it counts no ring that is not there: there is room */
        struct opi_ring *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&a->rings[i], &none, g, memory_order_release, memory_order_relaxed)) /* publishes the cleared ring */
            break;
    }
    atomic_fetch_add_explicit(&a->nrings, 1, memory_order_release);
    o->ring = g;
    return g;
}

/* Puts an envelope after those that wait for room. */
void opi_queue_envelope(int dst, const struct opi_slot *e) {
    struct opi_out *o = &opi.out[dst];
    if (OPI_UNLIKELY(opi.broken) && opi_died(dst)) { /* as what lies in its ring: nobody will read it */
        o->queued++;
        o->flushed++;
        return;
    }
    struct opi_umsg *m = opi_umsg_new();
    memcpy(&m->env, e, sizeof m->env);
    m->next = NULL;
    if (o->queue_tail)
        o->queue_tail->next = m;
    else
        o->queue_head = m;
    o->queue_tail = m;
    o->queued++;
    opi.nqueued++;
    opi.slow_work = true;
    atomic_store_explicit(&opi.arena->backlog, opi.nqueued, memory_order_relaxed);
}

/* The rank has died: what waits for room in its ring goes. */
void opi_queue_drop(int dst) {
    struct opi_out *o = &opi.out[dst];
    for (struct opi_umsg *m = o->queue_head, *next; m; m = next) {
        next = m->next;
        o->flushed++;
        opi.nqueued--;
        opi_umsg_free(m);
    }
    o->queue_head = o->queue_tail = NULL;
    atomic_store_explicit(&opi.arena->backlog, opi.nqueued, memory_order_relaxed);
}

static void flush_queue(int dst) {
    struct opi_out *o = &opi.out[dst];
    while (o->queue_head) {
        struct opi_umsg *m = o->queue_head;
        o->queue_head = NULL; /* opi_ring_slot refuses while something is queued */
        struct opi_slot *s = opi_ring_slot(dst);
        o->queue_head = m;
        if (!s)
            return;
        s->tag = m->env.tag;
        s->ctx = m->env.ctx;
        memcpy(&s->u, &m->env.u, sizeof s->u);
        opi_ring_publish(dst, s, opi_env_kind(&m->env), opi_env_len(&m->env));
        o->queue_head = m->next;
        if (!o->queue_head)
            o->queue_tail = NULL;
        o->flushed++;
        opi.nqueued--;
        atomic_store_explicit(&opi.arena->backlog, opi.nqueued, memory_order_relaxed);
        opi_umsg_free(m);
    }
}

/* The part of progress that is rarely there: envelopes that wait for room, and messages whose data are still arriving. */
OPI_COLD void opi_progress_slow(void) {
    if (opi.nqueued)
        for (int d = 0; d < opi.nlocal && opi.nqueued; d++)
            if (opi.out[d].queue_head)
                flush_queue(d);
    struct opi_req **p = &opi.streams;
    while (*p) {
        struct opi_req *r = *p;
        if (!opi_pipe_poll(r)) {
            p = &r->snext;
            continue;
        }
        *p = r->snext;
        opi.nstreams--;
        if (r->freed && !r->retired)
            opi_req_free(r);
    }
    if (opi.nlent)
        opi_lent_poll();
    opi.slow_work = opi.nqueued || opi.nstreams || opi.nlent;
}

/* A receive of the MPI below that nothing ever matches, on a communicator only we know.  To test it drives all of that MPI, one-sided operations that
 * others started included; a probe does not on every MPI (MPICH looks only where the message could be). */
static MPI_Request pulse = MPI_REQUEST_NULL;

/* Drives the MPI below once.  Only the owner thread may call it. */
int opi_native_poll(void) {
    int flag, rc;
    static uint32_t polls;
    opi_below_begin();
    if ((++polls & 63) == 0)
        opi_revoke_poll();
    if (opi.nheld)
        opi_net_poll();
    opi_net_retired_poll(false);
    if (OPI_UNLIKELY(pulse == MPI_REQUEST_NULL) && opi.node != MPI_COMM_NULL)
        PMPI_Irecv(NULL, 0, MPI_BYTE, opi.me, 0, opi.node, &pulse);
    if (OPI_LIKELY(pulse != MPI_REQUEST_NULL))
        rc = PMPI_Test(&pulse, &flag, MPI_STATUS_IGNORE);
    else
        rc = PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    opi_below_end();
    return rc;
}

void opi_native_poll_end(void) {
    if (pulse == MPI_REQUEST_NULL)
        return;
    PMPI_Cancel(&pulse);
    PMPI_Wait(&pulse, MPI_STATUS_IGNORE);
}

static long futex(_Atomic uint32_t *word, int op, uint32_t val, const struct timespec *t) {
    return syscall(SYS_futex, word, op, val, t, NULL, 0);
}

OPI_COLD void opi_wake_slow(struct opi_arena *a) {
    /* Only one of many wakers makes the call. */
    if (atomic_exchange_explicit(&a->asleep, 0, memory_order_relaxed))
        futex(&a->asleep, FUTEX_WAKE, 1, NULL);
}

bool opi_rings_ready(void) {
    if (atomic_load_explicit(&opi.arena->nrings, memory_order_relaxed) != (uint32_t)opi.nin)
        return true;
    for (int i = 0; i < opi.nin; i++) {
        struct opi_in *in = &opi.in[i];
        if (atomic_load_explicit(&in->ring->slot[in->head & in->mask].stamp, memory_order_relaxed) >> 16 == (((in->head >> in->shift) + 1) & 0xffff))
            return true;
    }
    return false;
}

/* Is there an envelope of that rank's in our rings? */
bool opi_ring_from(int src) {
    if (atomic_load_explicit(&opi.arena->nrings, memory_order_relaxed) != (uint32_t)opi.nin)
        opi_new_rings();
    for (int i = 0; i < opi.nin; i++) {
        struct opi_in *in = &opi.in[i];
        if (in->src == src)
            return atomic_load_explicit(&in->ring->slot[in->head & in->mask].stamp, memory_order_acquire) >> 16 == (((in->head >> in->shift) + 1) & 0xffff);
    }
    return false;
}

static void nap(void) {
    struct timespec t = {0, NAP_NS};
    if (!opi.ready) {
        nanosleep(&t, NULL);
        return;
    }
    atomic_store_explicit(&opi.arena->asleep, 1, memory_order_seq_cst); /* before looking once more */
    if (!opi_rings_ready())
        futex(&opi.arena->asleep, FUTEX_WAIT, 1, &t);
    atomic_store_explicit(&opi.arena->asleep, 0, memory_order_relaxed);
}

/* Long waits: who has to act may be outside libopi, computing or inside a native call.  `on`: the rank we wait for, -1 for any. */
void opi_kick_those(int on) {
    if (!opi.ready || !opi.node_ok)
        return;
    if (on >= 0 && on != opi.me)
        opi_kick(on);
    for (int i = 0; i < opi.nlocal; i++) /* peers whose envelopes wait for room in a ring we have emptied since */
        if (i != opi.me && i != on && atomic_load_explicit(&opi.peer[i]->backlog, memory_order_relaxed))
            opi_kick(i);
    opi_look_alive();
}

/* A program may never wait, but test or probe again and again: what a wait does now and then, a call does that looked in vain.  True when it is time to
 * kick those it looked for. */
bool opi_in_vain(void) {
    static uint32_t looks;
    opiw_look(true);
    uint32_t n = ++looks;
    if ((n & 15) == 0)
        opi_native_poll();
    return (n & 1023) == 0;
}

/* Until every envelope that waits for room has left.  Its receiver may sit in a native call, with the receive posted. */
void opi_flush(void) {
    struct opi_wait w = {.on = -1};
    while (opi.ready && opi.nqueued) {
        opi_progress();
        int d = 0;
        while (d < opi.nlocal && !opi.out[d].queue_head)
            d++;
        w.on = d < opi.nlocal ? d : -1;
        opi_relax(&w);
    }
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Is it too early to sleep?  Kicks as often as one does who sleeps. */
static bool stay_awake(struct opi_wait *w) {
    if (w->naps || !opi.awake_ns)
        return false;
    uint64_t now = now_ns();
    if (!w->since)
        w->since = w->kicked = now;
    if (now - w->since >= opi.awake_ns)
        return false;
    if (now - w->kicked >= KICK_NS) {
        w->kicked = now;
        opi_kick_those(w->on);
    }
    return true;
}

/* One step of waiting; the caller polls before and after. */
void opi_relax(struct opi_wait *w) {
    uint32_t n = ++w->n;
    if (opiw_look(true)) /* others copy to and from our memory, and will again: who yields comes late for that */
        w->asked = n;
    uint32_t alone = n - w->asked;
    if (OPI_UNLIKELY(opi.threads)) {
        /* Others must get in while we wait. */
        opi_leave();
        if (alone > opi.spin_limit)
            sched_yield();
        opi_enter();
    }
    if (OPI_UNLIKELY(atomic_load_explicit(&opi_guests, memory_order_relaxed)) && !opi.threads && !opi.nested) {
        opi_leave();
        sched_yield();
        opi_enter();
    }
    if (OPI_LIKELY(alone < opi.spin_limit)) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
        if ((n & 127) == 127 || OPI_UNLIKELY(opi.nheld != 0))
            opi_native_poll();
        if (OPI_UNLIKELY((n & 8191) == 8191)) /* asked again and again; about as often as who sleeps does */
            opi_kick_those(w->on);
        return;
    }
    uint32_t over = alone - opi.spin_limit;
    if ((over & 7) == 0 || opi.nheld)
        opi_native_poll();
    if (over < opi.yield_limit || (w->below && !opi.threads)) {
        if (over >= opi.yield_limit && (over & 63) == 0) /* what a wait for the MPI below has besides may depend on others as well */
            opi_kick_those(w->on);
        sched_yield();
        return;
    }
    if (stay_awake(w)) {
        sched_yield();
        return;
    }
    opi_native_poll();
    if ((w->naps++ & 3) == 3)
        opi_kick_those(w->on);
    if (opi.threads) {
        struct timespec t = {0, NAP_NS};
        opi_leave();
        nanosleep(&t, NULL);
        opi_enter();
        return;
    }
    nap();
}
