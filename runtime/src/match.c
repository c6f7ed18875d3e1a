/* match.c - posted receives and unexpected messages.
 *
 * MPI's rule: a message takes the earliest posted receive that fits it, a receive takes the earliest arrived message that fits it, where "earlier" among
 * messages counts only within one source and context.  Receives without wildcards hash by (context, source, tag); those with wildcards stand in one
 * list; a posting number decides between the two.  Messages hash the same way and also stand in one list in arrival order, for wildcards. */
#include "internal.h"

#include <stdlib.h>

#define BUCKETS 1024u

static struct {
    struct opi_req *head, *tail;
} posted[BUCKETS], wild;

static struct {
    struct opi_umsg *head, *tail;
} unexpected[BUCKETS];

static struct opi_umsg *all_head, *all_tail, *umsg_pool;
static size_t all_count, umsg_pooled;

static inline uint32_t bucket_of(uint64_t ctx, int src, int tag) {
    uint64_t h = ctx * 0x9e3779b97f4a7c15u ^ (uint64_t)(uint32_t)src * 0xc2b2ae3d27d4eb4fu ^ (uint64_t)(uint32_t)tag * 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 32) & (BUCKETS - 1);
}

static inline bool fits(const struct opi_req *r, uint64_t ctx, int src, int tag) {
    return r->ctx == ctx && (r->any_source || r->src == src) && (r->any_tag || r->tag == tag);
}

void opi_post(struct opi_req *r) {
    uint32_t b = r->any_source || r->any_tag ? BUCKETS : bucket_of(r->ctx, r->src, r->tag);
    struct opi_req **head = b == BUCKETS ? &wild.head : &posted[b].head;
    struct opi_req **tail = b == BUCKETS ? &wild.tail : &posted[b].tail;
    r->seq = ++opi.seq;
    r->next = NULL;
    r->prev = *tail;
    if (*tail)
        (*tail)->next = r;
    else
        *head = r;
    *tail = r;
    r->posted = true;
    opi.nposted++;
}

void opi_unpost(struct opi_req *r) {
    uint32_t b = r->any_source || r->any_tag ? BUCKETS : bucket_of(r->ctx, r->src, r->tag);
    struct opi_req **head = b == BUCKETS ? &wild.head : &posted[b].head;
    struct opi_req **tail = b == BUCKETS ? &wild.tail : &posted[b].tail;
    if (r->prev)
        r->prev->next = r->next;
    else
        *head = r->next;
    if (r->next)
        r->next->prev = r->prev;
    else
        *tail = r->prev;
    r->posted = false;
    opi.nposted--;
}

/* The receive that a message from local index `src` goes to; it stays posted. */
struct opi_req *opi_match_posted(uint64_t ctx, int src, int tag) {
    struct opi_req *r = posted[bucket_of(ctx, src, tag)].head;
    while (r && !fits(r, ctx, src, tag))
        r = r->next;
    struct opi_req *w = wild.head;
    if (OPI_LIKELY(!w))
        return r;
    while (w && !fits(w, ctx, src, tag) && !(r && w->seq > r->seq))
        w = w->next;
    if (!w || !fits(w, ctx, src, tag))
        return r;
    return r && r->seq < w->seq ? r : w;
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
        opi_die("out of memory for the queue of unexpected messages (%zu waiting)", all_count);
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
    uint32_t b = bucket_of(e->ctx, src, e->tag);
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
    all_count++;
    opi.stat.unexpected++;
}

/* Takes a message out of the queues; the caller has used its envelope. */
void opi_drop_unexpected(struct opi_umsg *m) {
    uint32_t b = bucket_of(m->env.ctx, m->src, m->env.tag);
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
    all_count--;
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
    if (OPI_LIKELY(all_count == 0))
        return NULL;
    if (!r->any_source && !r->any_tag) {
        struct opi_umsg *m = unexpected[bucket_of(r->ctx, r->src, r->tag)].head;
        while (m) {
            struct opi_umsg *next = m->next;
            if (fits(r, m->env.ctx, m->src, m->env.tag) && !withdrawn(m))
                return m;
            m = next;
        }
        return NULL;
    }
    struct opi_umsg *m = all_head;
    while (m) {
        struct opi_umsg *next = m->anext;
        if (fits(r, m->env.ctx, m->src, m->env.tag) && !withdrawn(m))
            return m;
        m = next;
    }
    return NULL;
}

size_t opi_unexpected_count(void) {
    return all_count;
}
