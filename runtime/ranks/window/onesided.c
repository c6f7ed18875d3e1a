/* onesided.c - thread and fiber ranks' side of shared/onesided: all memory of a process is in every rank's reach, so the origin only reads and writes.  Where a
 * window's ranks are in several processes of a node, its seats and what it brings along lie in memory that these share (ground.c, create.c); the kernel copies to
 * and from all other memory of another process. */
#include "ranks/transport/net.h"
#include "ranks/window/win.h"

#include <stdlib.h>

struct opiw_win *opiw_of(MPI_Win win) {
    struct opir_win *x = opir_win_of(win);
    return x ? x->w : NULL;
}

int opiw_unknown(const char *call, MPI_Win win) {
    (void)win;
    opir_me(call);
    return opir_raise(NULL, MPI_ERR_WIN, call, "invalid window");
}

int opiw_unknown_op(const char *call, MPI_Win win, enum opiw_kind kind, MPI_Count count, MPI_Datatype type) {
    (void)kind, (void)count, (void)type;
    return opiw_unknown(call, win);
}

void opiw_begin(void) {
}

void opiw_end(void) {
}

struct opiw_win *opiw_begin_of(MPI_Win win) {
    return opiw_of(win);
}

/* Who waits for a rank of another process sleeps at last as if it waited for one of this process, so it has to be woken, by a packet.  It says in its seat that
 * it is going to sleep, and looks once more; who makes the condition true looks at the seat afterwards.  Both change the same word, always by an exchange, so one
 * comes after the other: either the second is who wakes, and finds 1, or it is who waits, and sees (acquire) what the first did before (release).  Until its packet has been taken in, the process that sent it and the one that waits are not both idle for dead.c, which counts it. */
static bool ask(_Atomic uint32_t *asks, bool (*ready)(void *), void *of) {
    (void)atomic_exchange_explicit(asks, 1, memory_order_acq_rel);
    return ready(of);
}

bool opiw_wait(const char *call, struct opiw_win *w, int on, bool (*ready)(void *), void *of) {
    (void)on;
    if (ready(of))
        return true;
    const struct opir_win *x = w->side;
    struct opir_rank *me = opir_me(call);
    struct opir_wait s = {0};
    _Atomic uint32_t *asks = x->ground ? &w->at[w->rank].seat->asks : NULL;
    me->call = call;
    while (!ready(of)) {
        if (asks && (opir.fibers || s.n >= (uint32_t)opir.spins) && ask(asks, ready, of)) /* no thread sleeps before it has looked so often */
            break;
        opir_relax(&s);
    }
    if (asks)
        (void)atomic_exchange_explicit(asks, 0, memory_order_acq_rel);
    opir_relaxed(&s);
    me->call = NULL;
    return true;
}

void opiw_wake(struct opiw_win *w, int member) {
    struct opiw_target *t = &w->at[member];
    struct opir_rank *r = opir_rank_of(t->id);
    if (OPIR_LIKELY(r != NULL)) {
        if (r != opir_self)
            opir_wake(r);
        return;
    }
    if (!atomic_exchange_explicit(&t->seat->asks, 0, memory_order_acq_rel))
        return; /* it does not sleep; or who has set it to 0 has sent a packet, after which it looks again.  To be woken in vain does no harm */
    struct opir_packet *p = opir_packet_new(OPIR_P_WAKE, 0);
    p->head.dst = t->id;
    opir_net_send(opir_process_of(t->id), p);
}

void opiw_vain(void) {
    opir_vain();
}

void opiw_turn(void) {
    if (opir.fibers)
        opir_yield();
}

/* No rank of a process dies alone. */
int opiw_lost_class(void) {
    return MPI_ERR_OTHER;
}

int opiw_raise(struct opiw_win *w, int class, const char *call, const char *why) {
    struct opir_win *x = w->side;
    MPI_Win handle;
    OPIR_PUT(&handle, x);
    return opir_win_raise(x->errh, handle, class, call, why);
}

bool opiw_shape_of(MPI_Datatype type, const void *buf, struct opiw_shape *s) {
    (void)buf;
    struct opir_type *t = opir_type_of(opir_self, type);
    if (OPIR_UNLIKELY(!t))
        return false;
    s->size = t->size;
    s->extent = t->extent;
    s->true_lb = t->true_lb;
    s->true_extent = t->true_extent;
    s->contiguous = t->contiguous;
    s->named = t->named;
    s->opaque = t->opaque;
    s->layout = t->layout;
    s->type = t;
    return true;
}

size_t opiw_plain_size(MPI_Datatype type) {
    const struct opir_type *t = opir_type_of(opir_self, type);
    return OPIR_LIKELY(t && t->named && t->contiguous) ? t->size : 0;
}

/* The MPI's errors are returned to libopi_ranks. */
bool opiw_op_fits(MPI_Op op, MPI_Datatype type) {
    (void)op, (void)type;
    return true;
}

/* Elements from the one that byte `at` is in. */
static void move(const struct opiw_shape *s, char *buf, size_t count, size_t at, size_t n, char *packed, bool unpack) {
    struct opi_stream stream = {.at = packed, .skip = at % s->size, .left = n, .unpack = unpack};
    for (size_t i = at / s->size; i < count && stream.left; i++)
        opi_layout_move(s->layout.of, buf + s->layout.offset + (ptrdiff_t)i * s->extent, &stream);
}

void opiw_pack(const struct opiw_shape *s, const void *buf, size_t count, size_t at, size_t n, void *to) {
    if (s->contiguous)
        memcpy(to, (const char *)buf + at, n);
    else if (OPIR_UNLIKELY(s->opaque))
        opir_pack(s->type, buf, n / s->size < count ? n / s->size : count, to);
    else
        move(s, (char *)(uintptr_t)buf, count, at, n, to, false);
}

void opiw_unpack(const struct opiw_shape *s, void *buf, size_t count, size_t at, size_t n, const void *from) {
    if (s->contiguous)
        memcpy((char *)buf + at, from, n);
    else if (OPIR_UNLIKELY(s->opaque))
        opir_unpack(s->type, buf, count, from, n);
    else
        move(s, buf, count, at, n, (char *)(uintptr_t)from, true);
}

bool opiw_reaches(const struct opiw_win *w, const struct opiw_target *t, const void *p, size_t n) {
    (void)w, (void)p, (void)n;
    return opir_rank_of(t->id) != NULL;
}

/* Seats alone lie in memory that processes share. */
void *opiw_common(size_t n) {
    (void)n;
    return NULL;
}

void opiw_common_free(void *p) {
    (void)p;
}

int opiw_pid(const struct opiw_target *t) {
    return opir.pid[opir_process_of(t->id)];
}

/* No rank of these has a desk. */
bool opiw_gone(const struct opiw_target *t) {
    (void)t;
    return false;
}

int *opiw_members(struct opiw_win *w, MPI_Group group, int *n) {
    struct opir_win *x = w->side;
    struct opir_group *g = group == MPI_GROUP_EMPTY ? NULL : opir_group_of(group);
    if (!g && group != MPI_GROUP_EMPTY)
        return NULL;
    *n = g ? g->size : 0;
    int *to = opir_alloc(((size_t)*n + 1) * sizeof *to);
    for (int i = 0; i < *n; i++) {
        to[i] = opir_group_rank(x->group, opir_group_world(g, i));
        if (to[i] < 0) {
            free(to);
            return NULL;
        }
    }
    return to;
}

void opiw_complete(const char *call, MPI_Request *request) {
    struct opir_req *q = opir_req_sent(opir_me(call));
    OPIR_PUT(request, q);
}
