/* match.c - posted receives and unexpected messages.
 *
 * MPI's rule: a message takes the earliest posted receive that fits it, a receive takes the earliest arrived message that fits it, where "earlier" among
 * messages counts only within one source and context.  Receives without wildcards hash by (context, source, tag); those with wildcards stand in one
 * list; a posting number decides between the two.  Messages hash the same way and also stand in one list in arrival order, for wildcards. */
#include "process/base/error.h"
#include "process/engine/match.h"
#include "process/engine/ring.h"
#include "process/heap/pool.h"

#include <stdlib.h>

struct opi_posted opi_posted[OPI_BUCKETS], opi_wild;
size_t opi_unexpected_now;

static struct {
    struct opi_umsg *head, *tail;
} unexpected[OPI_BUCKETS];

static struct opi_umsg *all_head, *all_tail, *umsg_pool;
static size_t umsg_pooled;

void opi_post(struct opi_req *r) {
    if (OPI_LIKELY(!r->any_source && !r->any_tag)) {
        opi_post_exact(r);
        return;
    }
    r->bucket = OPI_BUCKETS;
    r->posted = true;
    opi_post_at(&opi_wild, r);
}

/* Is there a receive with wildcards that was posted before r (or r is NULL) and fits?  Else r. */
struct opi_req *opi_match_wild(struct opi_req *r, uint64_t ctx, int src, int tag) {
    for (struct opi_req *w = opi_wild.head; w && !(r && w->seq > r->seq); w = w->next)
        if (opi_fits(w, ctx, src, tag))
            return w;
    return r;
}

struct opi_umsg *opi_umsg_new(void) {
    struct opi_umsg *m = umsg_pool;
    if (m) {
        umsg_pool = m->next;
        umsg_pooled--;
        return m;
    }
    m = aligned_alloc(OPI_LINE, sizeof *m);
    if (!m)
        opi_die("out of memory for the queue of unexpected messages (%zu waiting)", opi_unexpected_now);
    return m;
}

void opi_umsg_free(struct opi_umsg *m) {
    if (umsg_pooled >= 4096) {
        free(m);
        return;
    }
    m->next = umsg_pool;
    umsg_pool = m;
    umsg_pooled++;
}

void opi_add_unexpected(const struct opi_slot *e, int src) {
    struct opi_umsg *m = opi_umsg_new();
    memcpy(&m->env, e, sizeof m->env);
    m->src = src;
    uint32_t b = opi_bucket_of(e->ctx, src, e->tag);
    m->next = NULL;
    m->prev = unexpected[b].tail;
    if (m->prev)
        m->prev->next = m;
    else
        unexpected[b].head = m;
    unexpected[b].tail = m;
    m->anext = NULL;
    m->aprev = all_tail;
    if (all_tail)
        all_tail->anext = m;
    else
        all_head = m;
    all_tail = m;
    opi_unexpected_now++;
    opi.stat.unexpected++;
}

/* Takes a message out of the queues; the caller has used its envelope. */
void opi_drop_unexpected(struct opi_umsg *m) {
    uint32_t b = opi_bucket_of(m->env.ctx, m->src, m->env.tag);
    if (m->prev)
        m->prev->next = m->next;
    else
        unexpected[b].head = m->next;
    if (m->next)
        m->next->prev = m->prev;
    else
        unexpected[b].tail = m->prev;
    if (m->aprev)
        m->aprev->anext = m->anext;
    else
        all_head = m->anext;
    if (m->anext)
        m->anext->aprev = m->aprev;
    else
        all_tail = m->aprev;
    opi_unexpected_now--;
    opi_umsg_free(m);
}

/* A withdrawn send's envelope, met in the queue: its desc is ours to free. */
static bool withdrawn(struct opi_umsg *m) {
    if (opi_env_kind(&m->env) != OPI_K_RNDV)
        return false;
    struct opi_desc *d = m->env.u.ref.ptr;
    if (atomic_load_explicit(&d->state, memory_order_acquire) != OPI_D_CANCELLED)
        return false;
    opi_pool_free(d);
    opi_drop_unexpected(m);
    return true;
}

/* The earliest message that fits a receive (or probe); it stays queued. */
struct opi_umsg *opi_find_unexpected(const struct opi_req *r) {
    if (OPI_LIKELY(opi_unexpected_now == 0))
        return NULL;
    if (!r->any_source && !r->any_tag) {
        struct opi_umsg *m = unexpected[opi_bucket_of(r->ctx, r->src, r->tag)].head;
        while (m) {
            struct opi_umsg *next = m->next;
            if (opi_fits(r, m->env.ctx, m->src, m->env.tag) && !withdrawn(m))
                return m;
            m = next;
        }
        return NULL;
    }
    struct opi_umsg *m = all_head;
    while (m) {
        struct opi_umsg *next = m->anext;
        if (opi_fits(r, m->env.ctx, m->src, m->env.tag) && !withdrawn(m))
            return m;
        m = next;
    }
    return NULL;
}
