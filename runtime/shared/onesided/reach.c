/* reach.c - reading and writing a target's memory: by loads and stores where they reach it, else by the kernel, piece by piece of its datatype. */
#include "shared/onesided/onesided.h"

#include <stdlib.h>
#include <string.h>

#define PIECES 64
#define AT_A_TIME 8192 /* packed bytes on the stack, which is a fiber's */

/* Pieces of the target's memory that are still to be copied. */
struct gather {
    struct opiw_target *t;
    char *mine; /* where their bytes go, one after the other, or come from */
    size_t skip, left, pieces, bytes;
    bool write, refused;
    void (*see)(void *of, char *at, size_t n); /* told of the pieces instead */
    void *of;
    struct opiw_piece piece[PIECES];
};

static void copy_gathered(struct gather *g) {
    if (g->see)
        for (size_t i = 0; i < g->pieces; i++)
            g->see(g->of, g->piece[i].at, g->piece[i].n);
    else if (g->pieces && !g->refused)
        g->refused = !opiw_carry(g->t, g->mine, g->piece, g->pieces, g->bytes, g->write);
    g->mine += g->bytes;
    g->pieces = g->bytes = 0;
}

static void add(struct gather *g, char *at, size_t n) {
    if (g->skip >= n) {
        g->skip -= n;
        return;
    }
    at += g->skip;
    n -= g->skip;
    g->skip = 0;
    n = n < g->left ? n : g->left;
    if (!n)
        return;
    g->left -= n;
    g->bytes += n;
    struct opiw_piece *last = g->pieces ? &g->piece[g->pieces - 1] : NULL;
    if (last && last->at + last->n == at) {
        last->n += n;
        return;
    }
    g->piece[g->pieces++] = (struct opiw_piece){at, n};
    if (g->pieces == PIECES)
        copy_gathered(g);
}

/* As deep as the program nested its datatypes, as opi_layout_move is. */
static void walk(const struct opi_layout *l, char *base, struct gather *g) {
    if (g->skip >= l->size) {
        g->skip -= l->size;
        return;
    }
    switch (l->kind) {
    case OPI_L_BYTES:
        add(g, base, l->size);
        return;
    case OPI_L_LOOP: {
        size_t i = g->skip / l->of->size;
        for (g->skip %= l->of->size; i < l->n && g->left; i++)
            walk(l->of, base + (ptrdiff_t)i * l->stride, g);
        return;
    }
    case OPI_L_SPANS:
        for (size_t i = 0; i < l->n && g->left; i++)
            add(g, base + l->spans[i].offset, l->spans[i].length);
        return;
    case OPI_L_LIST:
        for (size_t i = 0; i < l->n && g->left; i++)
            walk(l->parts[i].of, base + l->parts[i].offset, g);
        return;
    }
}

/* An error of the kernel's: in a dynamic window the program names the address. */
int opiw_refused(struct opiw_op *o) {
    if (o->t->lost) {
        o->why = "the target has died";
        return opiw_lost_class();
    }
    o->why = "the kernel does not copy to or from the target's memory";
    return o->w->dynamic ? MPI_ERR_RMA_RANGE : MPI_ERR_OTHER;
}

/* n packed bytes of an opaque type.  The last element may be partial. */
static bool pack_opaque(const struct opiw_shape *s, const char *buf, size_t n, char *to) {
    size_t whole = n / s->size, rest = n % s->size;
    opiw_pack(s, buf, whole, 0, n - rest, to);
    if (!rest)
        return true;
    char *last = malloc(s->size);
    if (!last)
        return false;
    opiw_pack(s, buf + (ptrdiff_t)whole * s->extent, 1, 0, s->size, last);
    memcpy(to + n - rest, last, rest);
    free(last);
    return true;
}

static int no_memory(struct opiw_op *o) {
    o->why = "out of memory for packed data";
    return MPI_ERR_NO_MEM;
}

/* Elements of an opaque type in private memory of the target.  Which bytes they have is found by trying: the same data are unpacked over zeros and over ones,
 * and where the results agree an element has a byte.  The bytes between are neither read nor written: the target, or another origin, may change them. */
static int opaque_by_kernel(struct opiw_op *o, size_t n, void *packed, bool write) {
    const struct opiw_shape *s = &o->remote;
    size_t k = (n + s->size - 1) / s->size;
    ptrdiff_t far = (ptrdiff_t)(k - 1) * s->extent, low = s->true_lb + (far < 0 ? far : 0); /* `place` has seen that this is no overflow */
    size_t span = (size_t)(far < 0 ? -far : far) + (size_t)s->true_extent;
    char *over_ones = malloc(span), *image = calloc(span, 1), *zeros = write ? NULL : calloc(n, 1);
    int rc = MPI_SUCCESS;
    if (!over_ones || !image || (!write && !zeros)) {
        rc = no_memory(o);
    } else {
        memset(over_ones, 0xff, span);
        opiw_unpack(s, image - low, k, 0, n, write ? packed : zeros);
        opiw_unpack(s, over_ones - low, k, 0, n, write ? packed : zeros);
        for (size_t at = 0, end; at < span && rc == MPI_SUCCESS; at = end) {
            bool has = image[at] == over_ones[at];
            for (end = at + 1; end < span && (image[end] == over_ones[end]) == has; end++)
                ;
            struct opiw_piece run = {o->addr + low + at, end - at};
            if (has && !opiw_carry(o->t, image + at, &run, 1, run.n, write))
                rc = opiw_refused(o);
        }
        if (rc == MPI_SUCCESS && !write && !pack_opaque(s, image - low, n, packed))
            rc = no_memory(o);
    }
    free(over_ones);
    free(image);
    free(zeros);
    return rc;
}

static int by_kernel(struct opiw_op *o, size_t at, size_t n, void *packed, bool write) {
    const struct opiw_shape *s = &o->remote;
    if (s->contiguous) {
        struct opiw_piece all = {o->addr + at, n};
        return opiw_carry(o->t, packed, &all, 1, n, write) ? MPI_SUCCESS : opiw_refused(o);
    }
    if (s->opaque)
        return opaque_by_kernel(o, n, packed, write); /* whole: at is 0 */
    struct gather g = {.t = o->t, .mine = packed, .skip = at % s->size, .left = n, .write = write};
    for (size_t i = at / s->size; i < o->rcount && g.left && !g.refused; i++)
        walk(s->layout.of, o->addr + s->layout.offset + (ptrdiff_t)i * s->extent, &g);
    copy_gathered(&g);
    return g.refused ? opiw_refused(o) : MPI_SUCCESS;
}

bool opiw_pieces(struct opiw_op *o, void (*see)(void *of, char *at, size_t n), void *of) {
    const struct opiw_shape *s = &o->remote;
    if (s->contiguous)
        see(of, o->addr, o->n);
    if (s->contiguous || s->opaque)
        return s->contiguous;
    struct gather g = {.t = o->t, .left = o->n, .see = see, .of = of};
    for (size_t i = 0; i < o->rcount && g.left; i++)
        walk(s->layout.of, o->addr + s->layout.offset + (ptrdiff_t)i * s->extent, &g);
    copy_gathered(&g);
    return true;
}

int opiw_store(struct opiw_op *o, size_t at, size_t n, const void *packed) {
    if (!o->direct)
        return by_kernel(o, at, n, (void *)(uintptr_t)packed, true);
    opiw_unpack(&o->remote, o->addr, o->rcount, at, n, packed);
    return MPI_SUCCESS;
}

int opiw_load(struct opiw_op *o, size_t at, size_t n, void *packed) {
    if (!o->direct)
        return by_kernel(o, at, n, packed, false);
    if (OPIW_UNLIKELY(o->remote.opaque))
        return pack_opaque(&o->remote, o->addr, n, packed) ? MPI_SUCCESS : no_memory(o);
    opiw_pack(&o->remote, o->addr, o->rcount, at, n, packed);
    return MPI_SUCCESS;
}

static int through(struct opiw_op *o, void *local, bool put, char *packed, size_t room) {
    int rc = MPI_SUCCESS;
    for (size_t at = 0; at < o->n && rc == MPI_SUCCESS; at += room) {
        size_t m = o->n - at < room ? o->n - at : room;
        if (put) {
            opiw_pack(&o->local, local, o->count, at, m, packed);
            rc = opiw_store(o, at, m, packed);
        } else {
            rc = opiw_load(o, at, m, packed);
            if (rc == MPI_SUCCESS)
                opiw_unpack(&o->local, local, o->count, at, m, packed);
        }
    }
    return rc;
}

/* Both sides have gaps, or one is packed by the MPI below, which wants the whole. */
static int by_pieces(struct opiw_op *o, void *local, bool put) {
    char few[AT_A_TIME];
    if (!o->local.opaque && !o->remote.opaque)
        return through(o, local, put, few, sizeof few);
    char *all = malloc(o->n);
    if (!all)
        return no_memory(o);
    int rc = through(o, local, put, all, o->n);
    free(all);
    return rc;
}

int opiw_put_all(struct opiw_op *o, const void *origin) {
    if (OPIW_LIKELY(o->local.contiguous)) {
        if (OPIW_LIKELY(o->direct && o->remote.contiguous)) {
            opiw_copy(o->addr, origin, o->n);
            return MPI_SUCCESS;
        }
        if (!o->remote.opaque)
            return opiw_store(o, 0, o->n, origin);
    }
    return by_pieces(o, (void *)(uintptr_t)origin, true);
}

int opiw_get_all(struct opiw_op *o, void *origin) {
    if (OPIW_LIKELY(o->local.contiguous)) {
        if (OPIW_LIKELY(o->direct && o->remote.contiguous)) {
            opiw_copy(origin, o->addr, o->n);
            return MPI_SUCCESS;
        }
        if (!o->remote.opaque)
            return opiw_load(o, 0, o->n, origin);
    }
    return by_pieces(o, origin, false);
}
