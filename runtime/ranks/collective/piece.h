/* piece.h - the parts of buffers that collectives move. */
#ifndef OPIR_PIECE_H
#define OPIR_PIECE_H

#include "ranks/base/ranks.h"

/* A piece of one side's buffer. */
struct piece {
    char *at;
    size_t n;
    const struct opir_type *t;
};

static inline struct piece opir_piece(void *base, bool v, MPI_Count count, const void *counts, const void *displs, const struct opir_args *a,
                                      struct opir_type *t, struct opir_type **ts, int i) {
    struct piece p = {base, (size_t)count, ts ? ts[i] : t};
    if (v) {
        p.n = (size_t)opir_at(counts, a->csize, i);
        if (displs)
            p.at += opir_at(displs, a->dsize, i) * (ts ? 1 : t->extent);
    } else {
        p.at += (ptrdiff_t)i * (ptrdiff_t)count * t->extent;
    }
    return p;
}

/* What a rank sends to peer i, and where it receives from peer i. */
static inline struct piece to_peer(const struct opir_args *a, int i) {
    return opir_piece((void *)(uintptr_t)a->sbuf, a->v && a->scounts, a->scount, a->scounts, a->sdispls, a, a->st, a->sts, i);
}
static inline struct piece from_peer(const struct opir_args *a, int i) {
    return opir_piece(a->rbuf, a->v && a->rcounts, a->rcount, a->rcounts, a->rdispls, a, a->rt, a->rts, i);
}

static inline struct piece all_sent(const struct opir_args *a) {
    return (struct piece){(char *)(uintptr_t)a->sbuf, (size_t)a->scount, a->st};
}
static inline struct piece all_received(const struct opir_args *a) {
    return (struct piece){a->rbuf, (size_t)a->rcount, a->rt};
}

#endif
