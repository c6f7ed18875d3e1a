/* match.h - posted receives and unexpected messages (match.c). */
#ifndef OPI_MATCH_H
#define OPI_MATCH_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

#define OPI_BUCKETS 1024u
struct opi_posted {
    struct opi_req *head, *tail;
};
extern struct opi_posted opi_posted[OPI_BUCKETS], opi_wild;
extern size_t opi_unexpected_now;

static inline uint32_t opi_bucket_of(uint64_t ctx, int src, int tag) {
    uint64_t h = (ctx ^ ((uint64_t)(uint32_t)tag << 32 | (uint32_t)src) * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 40) & (OPI_BUCKETS - 1);
}

static inline bool opi_fits(const struct opi_req *r, uint64_t ctx, int src, int tag) {
    return r->ctx == ctx && (r->any_source || r->src == src) && (r->any_tag || r->tag == tag);
}

static inline void opi_post_at(struct opi_posted *list, struct opi_req *r) {
    struct opi_req *last = list->tail;
    r->seq = ++opi.seq;
    r->next = NULL;
    r->prev = last;
    if (OPI_UNLIKELY(last != NULL))
        last->next = r;
    else
        list->head = r;
    list->tail = r;
    opi.nposted++;
}

/* Posts a receive without wildcards. */
static inline void opi_post_exact(struct opi_req *r) {
    r->bucket = opi_bucket_of(r->ctx, r->src, r->tag);
    r->posted = true;
    opi_post_at(&opi_posted[r->bucket], r);
}

static inline void opi_unpost(struct opi_req *r) {
    struct opi_posted *list = OPI_UNLIKELY(r->bucket == OPI_BUCKETS) ? &opi_wild : &opi_posted[r->bucket];
    struct opi_req *prev = r->prev, *next = r->next;
    if (OPI_UNLIKELY(prev != NULL))
        prev->next = next;
    else
        list->head = next;
    if (OPI_UNLIKELY(next != NULL))
        next->prev = prev;
    else
        list->tail = prev;
    r->posted = false;
    opi.nposted--;
}

struct opi_req *opi_match_wild(struct opi_req *r, uint64_t ctx, int src, int tag);

/* The receive that a message from local index `src` goes to; it stays posted. */
static inline struct opi_req *opi_match_posted(uint64_t ctx, int src, int tag) {
    struct opi_req *r = opi_posted[opi_bucket_of(ctx, src, tag)].head;
    while (r && !opi_fits(r, ctx, src, tag))
        r = r->next;
    return OPI_LIKELY(!opi_wild.head) ? r : opi_match_wild(r, ctx, src, tag);
}

void opi_post(struct opi_req *r);
struct opi_umsg *opi_find_unexpected(const struct opi_req *r);
void opi_add_unexpected(const struct opi_slot *e, int src);
void opi_drop_unexpected(struct opi_umsg *m);
struct opi_umsg *opi_umsg_new(void);
void opi_umsg_free(struct opi_umsg *m);

#pragma GCC visibility pop

#endif
