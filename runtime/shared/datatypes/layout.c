/* layout.c - making layouts of datatypes, and moving bytes along them. */
#include "shared/datatypes/layout.h"

#include <stdlib.h>
#include <string.h>

#define UNROLLED 16 /* spans that a short loop is written out as, so that neighbours may join */

static const struct opi_part nothing = {0, NULL};

void opi_layout_free(struct opi_layout *l) {
    if (!l || --l->refs)
        return;
    opi_layout_free(l->of);
    for (size_t i = 0; l->parts && i < l->n; i++)
        opi_layout_free(l->parts[i].of);
    free(l->parts);
    free(l->spans);
    free(l);
}

struct opi_part opi_layout_share(struct opi_part p) {
    if (p.of)
        p.of->refs++;
    return p;
}

static struct opi_layout *new_layout(struct opi_making *m, enum opi_layout_kind kind) {
    struct opi_layout *l = m->failed ? NULL : calloc(1, sizeof *l);
    if (!l) {
        m->failed = true;
        return NULL;
    }
    l->kind = kind;
    l->refs = 1;
    return l;
}

struct opi_part opi_layout_bytes(struct opi_making *m, size_t n) {
    struct opi_layout *l = n ? new_layout(m, OPI_L_BYTES) : NULL;
    if (!l)
        return nothing;
    l->size = n;
    l->high = (ptrdiff_t)n;
    return (struct opi_part){0, l};
}

/* ---- spans ------------------------------------------------------------------------------------------------------------------------------- */

/* Spans that are collected. */
struct spans {
    struct opi_span *of;
    size_t n, room;
};

static void add_span(struct opi_making *m, struct spans *s, ptrdiff_t offset, size_t length) {
    if (s->n && s->of[s->n - 1].offset + (ptrdiff_t)s->of[s->n - 1].length == offset) {
        s->of[s->n - 1].length += length;
        return;
    }
    if (s->n == s->room) {
        size_t more = s->room ? s->room * 2 : 8;
        struct opi_span *a = m->failed ? NULL : realloc(s->of, more * sizeof *a);
        if (!a) {
            m->failed = true;
            return;
        }
        s->of = a;
        s->room = more;
    }
    s->of[s->n++] = (struct opi_span){offset, length};
}

/* How many spans a layout is, where it is written out; 0: it stays what it is. */
static size_t flat(const struct opi_layout *l) {
    switch (l->kind) {
    case OPI_L_BYTES:
        return 1;
    case OPI_L_SPANS:
        return l->n;
    default:
        return 0;
    }
}

static void add_flat(struct opi_making *m, struct spans *s, ptrdiff_t offset, const struct opi_layout *l) {
    if (l->kind == OPI_L_BYTES)
        add_span(m, s, offset, l->size);
    for (size_t i = 0; l->kind == OPI_L_SPANS && i < l->n && !m->failed; i++)
        add_span(m, s, offset + l->spans[i].offset, l->spans[i].length);
}

/* The layout of what was collected, which is used up. */
static struct opi_part collected(struct opi_making *m, struct spans *s) {
    struct opi_part p = nothing;
    if (s->n == 1 && !m->failed) {
        p = opi_layout_bytes(m, s->of[0].length);
        p.offset = s->of[0].offset;
    } else if (s->n) {
        p.of = new_layout(m, OPI_L_SPANS);
    }
    if (!p.of || p.of->kind != OPI_L_SPANS) {
        free(s->of);
        return p;
    }
    struct opi_layout *l = p.of;
    l->spans = s->of;
    l->n = s->n;
    l->low = l->spans[0].offset;
    l->high = l->low;
    for (size_t i = 0; i < l->n; i++) {
        ptrdiff_t low = l->spans[i].offset, high = low + (ptrdiff_t)l->spans[i].length;
        l->size += l->spans[i].length;
        l->low = low < l->low ? low : l->low;
        l->high = high > l->high ? high : l->high;
    }
    return p;
}

/* Blocks of `lengths[i]` (one, where there are none) units of `unit` bytes, at first + scale * offsets[i]. */
struct opi_part opi_layout_spans(struct opi_making *m, const ptrdiff_t *offsets, ptrdiff_t scale, ptrdiff_t first, const ptrdiff_t *lengths, size_t n,
                                 size_t unit) {
    struct spans s = {NULL, 0, 0};
    for (size_t i = 0; i < n && !m->failed; i++)
        if (!lengths || lengths[i] > 0)
            add_span(m, &s, first + scale * offsets[i], unit * (lengths ? (size_t)lengths[i] : 1));
    return collected(m, &s);
}

/* ---- loops and lists ---------------------------------------------------------------------------------------------------------------------- */

struct opi_part opi_layout_repeat(struct opi_making *m, struct opi_part p, size_t n, ptrdiff_t stride) {
    ptrdiff_t reach;
    size_t size;
    if (!p.of || n == 0) {
        opi_layout_free(p.of);
        return nothing;
    }
    if (n == 1)
        return p;
    if (__builtin_mul_overflow((ptrdiff_t)n - 1, stride, &reach) || __builtin_mul_overflow(n, p.of->size, &size))
        m->failed = true;
    struct opi_part out = nothing;
    if (m->failed) {
        opi_layout_free(p.of);
        return nothing;
    }
    if (p.of->kind == OPI_L_BYTES && stride == (ptrdiff_t)p.of->size) {
        out = opi_layout_bytes(m, size);
        out.offset = p.offset;
        opi_layout_free(p.of);
        return out;
    }
    size_t spans = flat(p.of);
    if (spans && n <= UNROLLED && spans * n <= UNROLLED) {
        struct spans s = {NULL, 0, 0};
        for (size_t i = 0; i < n; i++)
            add_flat(m, &s, p.offset + (ptrdiff_t)i * stride, p.of);
        opi_layout_free(p.of);
        return collected(m, &s);
    }
    struct opi_layout *of = p.of;
    size_t inner = 1;
    if (of->kind == OPI_L_LOOP && (ptrdiff_t)of->n * of->stride == stride) { /* goes on where the one inside ends */
        inner = of->n;
        stride = of->stride;
        of = of->of;
    }
    struct opi_layout *l = new_layout(m, OPI_L_LOOP);
    if (l) {
        of->refs++;
        l->of = of;
        l->n = n * inner;
        l->stride = stride;
        l->size = size;
        l->low = p.of->low + (reach < 0 ? reach : 0);
        l->high = p.of->high + (reach > 0 ? reach : 0);
        out = (struct opi_part){p.offset, l};
    }
    opi_layout_free(p.of);
    return out;
}

/* The parts are written over; the array stays the caller's. */
struct opi_part opi_layout_list(struct opi_making *m, struct opi_part *parts, size_t n) {
    size_t kept = 0;
    struct opi_part out = nothing;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && (!parts[end].of || flat(parts[end].of)))
            end++;
        if (end == i) {
            parts[kept++] = parts[i++];
            continue;
        }
        struct spans s = {NULL, 0, 0}; /* neighbours that are spans become one layout */
        for (; i < end; i++)
            if (parts[i].of) {
                add_flat(m, &s, parts[i].offset, parts[i].of);
                opi_layout_free(parts[i].of);
            }
        struct opi_part joined = collected(m, &s);
        if (joined.of)
            parts[kept++] = joined;
    }
    if (kept == 1 && !m->failed)
        return parts[0];
    struct opi_layout *l = kept ? new_layout(m, OPI_L_LIST) : NULL;
    if (l && !(l->parts = malloc(kept * sizeof *parts))) {
        m->failed = true;
        free(l);
        l = NULL;
    }
    if (!l) {
        for (size_t i = 0; i < kept; i++)
            opi_layout_free(parts[i].of);
        return nothing;
    }
    memcpy(l->parts, parts, kept * sizeof *parts);
    l->n = kept;
    l->low = parts[0].offset + parts[0].of->low;
    l->high = parts[0].offset + parts[0].of->high;
    for (size_t i = 0; i < kept; i++) {
        ptrdiff_t low = parts[i].offset + parts[i].of->low, high = parts[i].offset + parts[i].of->high;
        l->size += parts[i].of->size;
        l->low = low < l->low ? low : l->low;
        l->high = high > l->high ? high : l->high;
    }
    out.of = l;
    return out;
}

/* ---- moving bytes ------------------------------------------------------------------------------------------------------------------------- */

static void move_bytes(char *user, size_t n, struct opi_stream *s) {
    if (s->unpack)
        memcpy(user, s->at, n);
    else
        memcpy(s->at, user, n);
    s->at += n;
    s->left -= n;
}

/* Some of n bytes: without those to be passed over, and as many as are wanted. */
static void move_some(char *user, size_t n, struct opi_stream *s) {
    if (s->skip >= n) {
        s->skip -= n;
        return;
    }
    user += s->skip;
    n -= s->skip;
    s->skip = 0;
    move_bytes(user, n < s->left ? n : s->left, s);
}

#define EACH(width)                                                    \
    for (size_t i = 0; i < n; i++, user += stride, at += (width)) {    \
        if (unpack)                                                    \
            memcpy(user, at, (width));                                 \
        else                                                           \
            memcpy(at, user, (width));                                 \
    }                                                                  \
    break

/* n pieces of `width` bytes, `stride` apart.  The usual widths are copied by loads and stores. */
static void move_pieces(char *user, size_t n, size_t width, ptrdiff_t stride, struct opi_stream *s) {
    char *at = s->at;
    const bool unpack = s->unpack;
    switch (width) {
    case 1:
        EACH(1);
    case 2:
        EACH(2);
    case 4:
        EACH(4);
    case 8:
        EACH(8);
    case 16:
        EACH(16);
    default:
        EACH(width);
    }
    s->at += n * width;
    s->left -= n * width;
}

static void move_loop(const struct opi_layout *l, char *base, struct opi_stream *s) {
    const struct opi_layout *of = l->of;
    size_t i = s->skip / of->size;
    s->skip %= of->size;
    if (of->kind == OPI_L_BYTES) {
        if (s->skip && s->left) {
            move_some(base + (ptrdiff_t)i * l->stride, of->size, s);
            i++;
        }
        size_t whole = s->left / of->size;
        whole = whole < l->n - i ? whole : l->n - i;
        move_pieces(base + (ptrdiff_t)i * l->stride, whole, of->size, l->stride, s);
        i += whole;
    }
    for (; i < l->n && s->left; i++)
        opi_layout_move(of, base + (ptrdiff_t)i * l->stride, s);
}

void opi_layout_move(const struct opi_layout *l, char *base, struct opi_stream *s) {
    if (s->skip >= l->size) {
        s->skip -= l->size;
        return;
    }
    switch (l->kind) {
    case OPI_L_BYTES:
        move_some(base, l->size, s);
        return;
    case OPI_L_LOOP:
        move_loop(l, base, s);
        return;
    case OPI_L_SPANS:
        for (size_t i = 0; i < l->n && s->left; i++)
            move_some(base + l->spans[i].offset, l->spans[i].length, s);
        return;
    case OPI_L_LIST:
        for (size_t i = 0; i < l->n && s->left; i++)
            opi_layout_move(l->parts[i].of, base + l->parts[i].offset, s);
        return;
    }
}
