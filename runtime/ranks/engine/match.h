/* match.h - matching, and the data of a message on their way into a receive (match.c).  Who matches holds the receiver's lock (guard.h), who moves data does not
 * have to. */
#ifndef OPIR_MATCH_H
#define OPIR_MATCH_H

#include "ranks/base/ranks.h"

#pragma GCC visibility push(hidden)

static inline bool opir_fits(uint64_t ctx, int src, int tag, uint64_t m_ctx, int m_src, int m_tag) {
    return ctx == m_ctx && (src == m_src || src == MPI_ANY_SOURCE) && (tag == m_tag || tag == MPI_ANY_TAG);
}

/* Takes a receive out of the posted ones. */
static inline void opir_posted_remove(struct opir_rank *r, struct opir_req *q) {
    *(q->prev ? &q->prev->next : &r->posted_head) = q->next;
    *(q->next ? &q->next->prev : &r->posted_tail) = q->prev;
    q->posted = false;
}

/* The first posted receive that a message fits, taken out; NULL where there is none. */
static inline struct opir_req *opir_posted_for(struct opir_rank *r, uint64_t ctx, int src, int tag) {
    struct opir_req *q = r->posted_head;
    while (q && !opir_fits(q->ctx, q->peer, q->tag, ctx, src, tag))
        q = q->next;
    if (q)
        opir_posted_remove(r, q);
    return q;
}

int opir_part_of(const struct opir_type *t, size_t bytes) OPIR_COLD;

/* What a receive is told of its message. */
static inline void opir_result(struct opir_req *q, int src, int tag, size_t bytes) {
    q->r_source = src;
    q->r_tag = tag;
    q->r_bytes = bytes < q->bytes ? bytes : q->bytes;
    q->r_error = bytes <= q->bytes ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
    if (OPIR_UNLIKELY(bytes < q->bytes && q->type->size > 1 && bytes % q->type->size))
        q->r_error = opir_part_of(q->type, bytes);
}

void opir_msg_append(struct opir_rank *r, struct opir_msg *m);
void opir_msg_replace(struct opir_msg *m, struct opir_msg *by); /* takes m out and puts an EAGER one in its place */

/* The data to a receive that has its result. */
void *opir_take_into(struct opir_req *q); /* where they go: a take gets its buffer */
void opir_from_packed(struct opir_req *q, const void *packed);
void opir_from_block(struct opir_req *q, void *block, size_t room); /* the block passes itself where it can, else it is freed */
void opir_from_sender(struct opir_req *q, const struct opir_req *s); /* the result, too */

static inline void opir_finished(struct opir_req *q) {
    atomic_store_explicit(&q->done, true, memory_order_relaxed); /* the owner itself */
}

#pragma GCC visibility pop

#endif
