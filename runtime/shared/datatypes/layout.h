/* layout.h - where the bytes of a datatype lie, in the order of its type map.
 *
 * A layout is as large as what the program said when it made the type, not as what the type spans: a vector of a million elements is one loop. */
#ifndef OPI_LAYOUT_H
#define OPI_LAYOUT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

struct opi_span {
    ptrdiff_t offset;
    size_t length;
};

enum opi_layout_kind {
    OPI_L_BYTES, /* `size` bytes from the origin */
    OPI_L_LOOP,  /* `n` times `of`, its origin `stride` further each time */
    OPI_L_SPANS, /* `n` spans, one after the other */
    OPI_L_LIST   /* `n` parts, one after the other */
};

/* A layout and its origin.  Without a layout it has no bytes. */
struct opi_part {
    ptrdiff_t offset;
    struct opi_layout *of;
};

/* Constant once made, never empty, and counted: it may be part of several. */
struct opi_layout {
    enum opi_layout_kind kind;
    unsigned refs;
    size_t size, n;
    ptrdiff_t stride;
    ptrdiff_t low, high; /* the first byte, and the one after the last, from the origin */
    struct opi_layout *of;
    struct opi_span *spans;
    struct opi_part *parts;
};

/* What the makers share: whether memory ran out, or the description was not understood. */
struct opi_making {
    bool failed;
    size_t left; /* types that may still be looked at */
};

/* layout.c: the makers take over the layouts they are given, and give none where `failed` is set. */
struct opi_part opi_layout_bytes(struct opi_making *m, size_t n);
struct opi_part opi_layout_spans(struct opi_making *m, const ptrdiff_t *offsets, ptrdiff_t scale, ptrdiff_t first, const ptrdiff_t *lengths, size_t n, size_t unit);
struct opi_part opi_layout_repeat(struct opi_making *m, struct opi_part p, size_t n, ptrdiff_t stride);
struct opi_part opi_layout_list(struct opi_making *m, struct opi_part *parts, size_t n);
struct opi_part opi_layout_share(struct opi_part p);
void opi_layout_free(struct opi_layout *l);

/* The bytes of a message, one after the other. */
struct opi_stream {
    char *at;
    size_t skip; /* bytes of the layout to be passed over first */
    size_t left; /* bytes to be moved */
    bool unpack; /* from the stream to the user's buffer */
};

/* Moves bytes between a buffer with this layout, whose origin is `base`, and the stream; as many as both have. */
void opi_layout_move(const struct opi_layout *l, char *base, struct opi_stream *s);

/* describe.c: the layout of a datatype, read from what the MPI says of how it was made.  False where that is not understood, or memory is short. */
bool opi_layout_of(MPI_Datatype type, struct opi_part *out);

#pragma GCC visibility pop

#endif
