/* copy.c - moving the bytes of a message that its sender lends: out of the shared heap by memcpy, out of private memory by the kernel, and by both sides
 * at once.
 *
 * A large message of one layout is copied in blocks, and the sender, which waits for it, takes blocks too (the synergistic protocol: Hybrid MPI, 4.2.2).
 * Which block is next is a counter of the desc; the receiver alone decides when all have been moved.  In the worst case the sender is elsewhere, and the
 * receiver copies all by itself. */
#include "process/engine/deliver.h"
#include "process/engine/ring.h"
#include "process/heap/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define CO_BLOCK ((size_t)64 << 10)

/* n bytes from or to the private memory of a process.  False when the kernel refuses. */
static bool by_kernel(int32_t pid, void *mine, void *theirs, size_t n, bool write) {
    while (n) {
        struct iovec here = {mine, n}, there = {theirs, n};
        ssize_t got = write ? process_vm_writev(pid, &here, 1, &there, 1, 0) : process_vm_readv(pid, &here, 1, &there, 1, 0);
        if (got <= 0) {
            if (got < 0 && errno == EINTR)
                continue;
            return false;
        }
        mine = (char *)mine + got;
        theirs = (char *)theirs + got;
        n -= (size_t)got;
    }
    return true;
}

/* Can private memory of that process be read?  `token` is what must stand at `address` there: another process of the same number will not have it. */
bool opi_copy_probe(int32_t pid, uint64_t address, uint64_t token) {
    uint64_t found = 0;
    return by_kernel(pid, &found, (void *)(uintptr_t)address, sizeof found, false) && found == token;
}

/* Receiver: n bytes from what the desc lends. */
static bool pull(const struct opi_desc *d, int src, void *to, size_t at, size_t n) {
    if (!d->remote) {
        memcpy((char *)to + at, (char *)d->addr + at, n);
        return true;
    }
    return by_kernel(opi.peer[src]->pid, (char *)to + at, (char *)d->addr + at, n, false);
}

#define SPINS 1000 /* looks at what the sender does, before others get their turn */

/* The kernel once refused to write to a peer for us: we help nobody in that way any more.  So a message has one block at most that was taken and given back. */
static bool write_refused;

/* Sender: takes blocks of a message that its receiver is copying.  d cannot go away: only the sender frees it, after DONE. */
static void co_help(struct opi_desc *d, int dst) {
    char *to = d->to;
    size_t n = d->moving;
    bool direct = opi_reachable(to, n);
    if (!direct && (!opi.kernel_copy || write_refused))
        return;
    for (;;) {
        size_t at = atomic_fetch_add_explicit(&d->next, CO_BLOCK, memory_order_relaxed); /* who takes a block; its data are ordered by `moved` */
        if (at >= n)
            return;
        size_t m = n - at < CO_BLOCK ? n - at : CO_BLOCK;
        if (direct) {
            memcpy(to + at, (char *)d->addr + at, m);
        } else if (!by_kernel(opi.peer[dst]->pid, (char *)d->addr + at, to + at, m, true)) {
            write_refused = true; /* the receiver copies this block too */
            atomic_store_explicit(&d->returned, at + 1, memory_order_release);
            return;
        }
        atomic_fetch_add_explicit(&d->moved, m, memory_order_release); /* our writes, before the receiver calls the message complete */
    }
}

/* Receiver: all blocks are taken; have those come that the sender took?  One that the kernel refuses to either of us leaves the message to be copied by the
 * sender; but only when it is known to write here no more. */
enum opi_lent opi_lent_more(struct opi_desc *d, int src) {
    size_t at = atomic_exchange_explicit(&d->returned, 0, memory_order_acquire), n = d->moving;
    if (at) {
        size_t m = n - --at < CO_BLOCK ? n - at : CO_BLOCK;
        if (d->failed || !pull(d, src, d->to, at, m))
            d->failed = 1;
        d->rest -= m;
    }
    if (atomic_load_explicit(&d->moved, memory_order_acquire) != d->rest)
        return OPI_LENT_COMING;
    return d->failed ? OPI_LENT_REFUSED : OPI_LENT_CAME;
}

/* Receiver: all n bytes, in blocks, with the sender's help when it comes.  It waits for the sender's blocks no longer than those take as a rule: whether the
 * sender goes on at all is for the wait to find out. */
static enum opi_lent co_pull(struct opi_desc *d, int src, void *to, size_t n) {
    size_t mine = 0;
    /* The first block alone tells whether the kernel still allows it (opi_lent_to). */
    d->to = to;
    d->moving = n;
    atomic_store_explicit(&d->moved, 0, memory_order_relaxed);
    atomic_store_explicit(&d->returned, 0, memory_order_relaxed);
    atomic_store_explicit(&d->next, CO_BLOCK, memory_order_relaxed);
    d->failed = 0;
    atomic_store_explicit(&d->state, OPI_D_COPYING, memory_order_release); /* the fields above */
    opi_wake(src);
    for (;;) {
        size_t at = atomic_fetch_add_explicit(&d->next, CO_BLOCK, memory_order_relaxed);
        if (at >= n)
            break;
        size_t m = n - at < CO_BLOCK ? n - at : CO_BLOCK;
        if (!pull(d, src, to, at, m)) { /* it was allowed a moment ago: the sender is dying, or its memory is not there any more */
            size_t taken = atomic_exchange_explicit(&d->next, n, memory_order_relaxed);
            d->failed = 1;
            mine += m + (taken < n ? n - taken : 0); /* what nobody has to bring */
            break;
        }
        mine += m;
    }
    d->rest = n - CO_BLOCK - mine; /* blocks the sender took */
    if (d->rest)
        opi_profile_lent(true);
    enum opi_lent is = OPI_LENT_COMING;
    for (unsigned spins = 0; spins < SPINS && is == OPI_LENT_COMING; spins++)
        is = opi_lent_more(d, src);
    return is;
}

/* Receiver: the first n bytes of what the desc lends come to `to`.  Refused: its memory cannot be read.  Coming: the sender has yet to write some of them. */
enum opi_lent opi_lent_to(struct opi_desc *d, int src, void *to, size_t n) {
    size_t first = n < CO_BLOCK ? n : CO_BLOCK;
    bool both = n >= opi.co_min && src != opi.me && n > CO_BLOCK;
    if (!pull(d, src, to, 0, both ? first : n))
        return OPI_LENT_REFUSED;
    return both ? co_pull(d, src, to, n) : OPI_LENT_CAME;
}

/* ---- the sender's side --------------------------------------------------------------------------------------------------------------------------- */

/* From now on every call of progress looks whether the receiver of r wants something of us. */
void opi_lend(struct opi_req *r) {
    r->lent = true;
    r->hprev = NULL;
    r->hnext = opi.lent;
    if (opi.lent)
        opi.lent->hprev = r;
    opi.lent = r;
    opi.nlent++;
    opi.slow_work = true;
}

void opi_lent_over(struct opi_req *r) {
    if (OPI_LIKELY(!r->lent))
        return;
    r->lent = false;
    free(r->aside);
    r->aside = NULL;
    if (r->hprev)
        r->hprev->hnext = r->hnext;
    else
        opi.lent = r->hnext;
    if (r->hnext)
        r->hnext->hprev = r->hprev;
    opi.nlent--;
}

#define REFUSALS 8 /* after which our private memory is not lent any more */

static unsigned refusals;

/* The receiver cannot read our memory: its data go through the shared heap. */
static void refused(struct opi_req *r) {
    struct opi_desc *d = r->desc;
    void *block = opi_pool_alloc(d->size);
    if (!block && !opi_flow_begin(r))
        return; /* again at the next poll: the receiver's other messages free memory */
    opi_profile_copied(d->size);
    opi_profile_lent(false);
    if (!d->flow && ++refusals == REFUSALS)
        opi.kernel_copy = false;
    if (!block)
        return;
    memcpy(block, d->addr, d->size);
    d->block = block;
    atomic_store_explicit(&d->filled, d->size, memory_order_relaxed);
    atomic_store_explicit(&d->state, OPI_D_BUFFERED, memory_order_release); /* publishes the copy; block and desc are the receiver's now */
    opi_lent_over(r);
    r->desc = NULL;
    r->done = true;
    opi_wake(r->src);
}

void opi_lent_poll(void) {
    for (struct opi_req *r = opi.lent, *next; r; r = next) {
        next = r->hnext;
        uint32_t state = atomic_load_explicit(&r->desc->state, memory_order_acquire); /* acquire: the receiver's fields */
        if (state == OPI_D_COPYING)
            co_help(r->desc, r->src);
        else if (state == OPI_D_REFUSED)
            refused(r);
        else if (state == OPI_D_FLOWING)
            opi_flow_out(r);
    }
}
