/* op.c - the calls that move data.  All are complete when they return: what MPI lets a program wait for has happened. */
#include "shared/onesided/onesided.h"

#include <string.h>

#define NOTHING (-2) /* to be done: MPI_PROC_NULL, or no bytes */

static int bad(struct opiw_op *o, int class, const char *why) {
    o->why = why;
    return class;
}

/* Where the elements lie in the target's memory, and whether they lie inside of what it exposes. */
static int place(struct opiw_op *o, MPI_Aint disp) {
    const struct opiw_shape *s = &o->remote;
    struct opiw_target *t = o->t;
    ptrdiff_t from, far, low = s->true_lb, high;
    if (__builtin_mul_overflow((ptrdiff_t)o->rcount - 1, s->extent, &far) || __builtin_add_overflow(s->true_lb, s->true_extent, &high) ||
        __builtin_add_overflow(far < 0 ? low : high, far, far < 0 ? &low : &high))
        return bad(o, MPI_ERR_COUNT, "more bytes than there are addresses");
    if (o->w->dynamic) {
        o->addr = (char *)(uintptr_t)disp;
        o->direct = opiw_reaches(o->w, t, (char *)((uintptr_t)disp + (uintptr_t)low), (size_t)(high - low));
        return MPI_SUCCESS;
    }
    if (OPIW_UNLIKELY(disp < 0))
        return bad(o, MPI_ERR_DISP, "negative displacement");
    if (OPIW_UNLIKELY(__builtin_mul_overflow((ptrdiff_t)disp, t->unit, &from) || __builtin_add_overflow(low, from, &low) ||
                      __builtin_add_overflow(high, from, &high) || low < 0 || (size_t)high > t->size))
        return bad(o, MPI_ERR_RMA_RANGE, "beyond the target's part of the window");
    o->addr = t->base + from;
    o->direct = t->direct;
    return MPI_SUCCESS;
}

/* The target and the types, looked up and checked; inside begin and end. */
static int prepare(struct opiw_op *o, const void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype) {
    struct opiw_win *w = o->w;
    if (OPIW_UNLIKELY(count < 0 || rcount < 0))
        return bad(o, MPI_ERR_COUNT, "negative count");
    if (OPIW_UNLIKELY(!opiw_shape_of(type, count ? origin : NULL, &o->local) || !opiw_shape_of(rtype, NULL, &o->remote)))
        return bad(o, MPI_ERR_TYPE, "null or invalid datatype");
    if (OPIW_UNLIKELY(target == MPI_PROC_NULL))
        return NOTHING;
    if (OPIW_UNLIKELY(target < 0 || target >= w->size))
        return bad(o, MPI_ERR_RANK, "invalid rank of a target");
    o->t = &w->at[target];
    const char *no = opiw_no_epoch(w, o->t);
    if (OPIW_UNLIKELY(no != NULL))
        return bad(o, MPI_ERR_RMA_SYNC, no);
    size_t room;
    if (__builtin_mul_overflow((size_t)count, o->local.size, &o->n) || __builtin_mul_overflow((size_t)rcount, o->remote.size, &room))
        return bad(o, MPI_ERR_COUNT, "more bytes than there are addresses");
    o->count = (size_t)count;
    o->rcount = (size_t)rcount;
    if (OPIW_UNLIKELY(o->n > room))
        return bad(o, MPI_ERR_TRUNCATE, "more data than the target's datatypes have room for");
    if (OPIW_UNLIKELY(!room))
        return NOTHING;
    int rc = place(o, disp);
    if (OPIW_UNLIKELY(rc != MPI_SUCCESS))
        return rc;
    if (OPIW_UNLIKELY(!o->n))
        return NOTHING;
    return OPIW_UNLIKELY(!origin && o->local.named) ? bad(o, MPI_ERR_BUFFER, "null buffer") : MPI_SUCCESS;
}

/* What is put and got most: elements of one predefined type at both ends, where loads and stores reach the target.  True: `at` has room for `n` bytes, and an epoch
 * allows it.  False: `prepare` finds out what to do, or what is wrong. */
static inline bool plain(struct opiw_win *w, const void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype,
                         char **at, size_t *n) {
    if (type != rtype || count != rcount || count <= 0 || !origin || (unsigned)target >= (unsigned)w->size || disp < 0 || w->spans || w->dynamic || w->watched)
        return false;
    struct opiw_target *t = &w->at[target];
    size_t size, from, end;
    if (!t->direct || !(size = opiw_plain_size(type)) || __builtin_mul_overflow((size_t)count, size, n) ||
        __builtin_mul_overflow((size_t)disp, (size_t)t->unit, &from) || __builtin_add_overflow(from, *n, &end) || end > t->size || !opiw_may(w, t))
        return false;
    *at = t->base + from;
    return true;
}

/* A put or a get whose bytes only the kernel reaches.  One with a request is done at once, after what is kept: the request ends when it returns. */
static int by_kernel(struct opiw_op *o, void *local, bool put, bool requested) {
    int rc;
    if (!requested && opiw_keep(o, local, put, &rc))
        return rc;
    if (!opiw_settle(o->w, o->t))
        return opiw_refused(o);
    return put ? opiw_put_all(o, local) : opiw_get_all(o, local);
}

/* The end of every operation. */
static int over(struct opiw_op *o, int rc, MPI_Request *request) {
    opiw_end();
    if (OPIW_UNLIKELY(rc != MPI_SUCCESS && rc != NOTHING))
        return opiw_raise(o->w, rc, o->call, o->why);
    if (request)
        opiw_complete(o->call, request);
    return MPI_SUCCESS;
}

/* Inside begin and end: a window of ours, and an operation that libopi makes. */
#define OURS(kind, count, type, target)                                                                           \
    if (OPIW_UNLIKELY(!w || (w->spans && opiw_leaves(w, target, (kind) != OPIW_PUT && (kind) != OPIW_GET)))) {    \
        opiw_end();                                                                                              \
        return opiw_unknown_op(call, win, kind, count, type);                                                    \
    }                                                                                                            \
    struct opiw_op o;                                                                                            \
    o.call = call;                                                                                               \
    o.w = w
#define WINDOW(kind, count, type, target)    \
    struct opiw_win *w = opiw_begin_of(win); \
    OURS(kind, count, type, target)

/* Of a put or get in a window that spans nodes, before it touches its target. */
#define UNDER_LOCK(kind, count, type)                                                               \
    do {                                                                                            \
        int under = OPIW_UNLIKELY(w->spans) ? opiw_under_lock(&o, win) : MPI_SUCCESS;                \
        if (OPIW_UNLIKELY(under != MPI_SUCCESS)) {                                                  \
            opiw_end();                                                                             \
            return under == OPIW_NATIVE ? opiw_unknown_op(call, win, kind, count, type) : under;    \
        }                                                                                           \
    } while (0)

/* Before an operation touches its target. */
#define WATCH(kind, op, requested)       \
    do {                                 \
        if (OPIW_UNLIKELY(w->watched))   \
            opiw_watch(&o, kind, op, requested); \
    } while (0)

__attribute__((noinline)) static int any_put(const char *call, struct opiw_win *w, const void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp,
                                                MPI_Count rcount, MPI_Datatype rtype, MPI_Win win, MPI_Request *request) {
    OURS(OPIW_PUT, count, type, target);
    int rc = prepare(&o, origin, count, type, target, disp, rcount, rtype);
    if (OPIW_LIKELY(rc == MPI_SUCCESS)) {
        UNDER_LOCK(OPIW_PUT, count, type);
        WATCH(OPIW_PUT, MPI_OP_NULL, request != NULL);
        rc = OPIW_LIKELY(o.direct) ? opiw_put_all(&o, origin) : by_kernel(&o, (void *)(uintptr_t)origin, true, request != NULL);
    }
    return over(&o, rc, request);
}

int opiw_put(const char *call, const void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype,
             MPI_Win win, MPI_Request *request) {
    struct opiw_win *w = opiw_begin_of(win);
    char *at;
    size_t bytes;
    if (OPIW_UNLIKELY(!w || request || !plain(w, origin, count, type, target, disp, rcount, rtype, &at, &bytes)))
        return any_put(call, w, origin, count, type, target, disp, rcount, rtype, win, request);
    opiw_copy(at, origin, bytes);
    opiw_end();
    return MPI_SUCCESS;
}

__attribute__((noinline)) static int any_get(const char *call, struct opiw_win *w, void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp,
                                                MPI_Count rcount, MPI_Datatype rtype, MPI_Win win, MPI_Request *request) {
    OURS(OPIW_GET, count, type, target);
    int rc = prepare(&o, origin, count, type, target, disp, rcount, rtype);
    if (OPIW_LIKELY(rc == MPI_SUCCESS)) {
        UNDER_LOCK(OPIW_GET, count, type);
        WATCH(OPIW_GET, MPI_OP_NULL, request != NULL);
        rc = OPIW_LIKELY(o.direct) ? opiw_get_all(&o, origin) : by_kernel(&o, origin, false, request != NULL);
    }
    return over(&o, rc, request);
}

/* As much as the origin has room for. */
int opiw_get(const char *call, void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype,
             MPI_Win win, MPI_Request *request) {
    struct opiw_win *w = opiw_begin_of(win);
    char *at;
    size_t bytes;
    if (OPIW_UNLIKELY(!w || request || !plain(w, origin, count, type, target, disp, rcount, rtype, &at, &bytes)))
        return any_get(call, w, origin, count, type, target, disp, rcount, rtype, win, request);
    opiw_copy(origin, at, bytes);
    opiw_end();
    return MPI_SUCCESS;
}

static int combine(struct opiw_op *o, enum opiw_kind kind, bool requested, int rc, const void *origin, MPI_Datatype rtype, MPI_Op op, void *result, MPI_Count result_count,
                   MPI_Datatype result_type) {
    struct opiw_shape rs = {0};
    size_t room = 0;
    if (OPIW_UNLIKELY(!opiw_op_known(op)))
        return bad(o, MPI_ERR_OP, "no predefined operation");
    if (result_type != MPI_DATATYPE_NULL) {
        if (result_count < 0)
            return bad(o, MPI_ERR_COUNT, "negative count");
        if (!opiw_shape_of(result_type, result_count ? result : NULL, &rs))
            return bad(o, MPI_ERR_TYPE, "null or invalid datatype");
        if (rc == MPI_SUCCESS && (__builtin_mul_overflow((size_t)result_count, rs.size, &room) || room < o->n))
            return bad(o, MPI_ERR_TRUNCATE, "the result has no room for what is fetched");
        if (rc == MPI_SUCCESS && !result && rs.named)
            return bad(o, MPI_ERR_BUFFER, "null buffer");
    }
    if (rc != MPI_SUCCESS)
        return rc;
    if (OPIW_UNLIKELY(o->w->watched))
        opiw_watch(o, kind, op, requested);
    if (!o->direct && !opiw_settle(o->w, o->t))
        return opiw_refused(o);
    return opiw_combine_all(o, op, origin, rtype, result_type != MPI_DATATYPE_NULL ? result : NULL, (size_t)result_count, &rs);
}

int opiw_accumulate(const char *call, const void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype,
                    MPI_Op op, MPI_Win win, MPI_Request *request) {
    WINDOW(OPIW_ACCUMULATE, count, type, target);
    int rc = prepare(&o, origin, count, type, target, disp, rcount, rtype);
    if (rc == MPI_SUCCESS || rc == NOTHING)
        rc = combine(&o, OPIW_ACCUMULATE, request != NULL, rc, origin, rtype, op, NULL, 0, MPI_DATATYPE_NULL);
    return over(&o, rc, request);
}

/* With MPI_NO_OP the origin's arguments mean nothing. */
int opiw_get_accumulate(const char *call, const void *origin, MPI_Count count, MPI_Datatype type, void *result, MPI_Count result_count,
                        MPI_Datatype result_type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype, MPI_Op op, MPI_Win win,
                        MPI_Request *request) {
    WINDOW(OPIW_GET_ACCUMULATE, rcount, rtype, target);
    int rc = op == MPI_NO_OP ? prepare(&o, result, rcount, rtype, target, disp, rcount, rtype) : prepare(&o, origin, count, type, target, disp, rcount, rtype);
    if (rc == MPI_SUCCESS || rc == NOTHING)
        rc = result_type == MPI_DATATYPE_NULL
                 ? bad(&o, MPI_ERR_TYPE, "null datatype")
                 : combine(&o, OPIW_GET_ACCUMULATE, request != NULL, rc, origin, rtype, op, result, result_count, result_type);
    return over(&o, rc, request);
}

int opiw_fetch_and_op(const char *call, const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Op op, MPI_Win win) {
    WINDOW(OPIW_FETCH, 1, type, target);
    int rc = prepare(&o, op == MPI_NO_OP ? result : origin, 1, type, target, disp, 1, type);
    if (rc != MPI_ERR_TYPE && !o.local.named)
        rc = bad(&o, MPI_ERR_TYPE, "no predefined datatype");
    if (rc == MPI_SUCCESS || rc == NOTHING)
        rc = combine(&o, OPIW_FETCH, false, rc, origin, type, op, result, 1, type);
    return over(&o, rc, NULL);
}

/* MPI lets integers, logicals, bytes and characters be compared: no numbers with fractions, no pairs.  Open MPI compares all of them by their bytes, and a
 * program that relies on that works there as before. */
static bool comparable(MPI_Datatype type) {
#ifdef OPEN_MPI
    (void)type;
#else
    const MPI_Datatype not[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_REAL,
                                MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT,
                                MPI_LONG_DOUBLE_INT, MPI_2INT, MPI_PACKED};
    for (size_t i = 0; i < sizeof not / sizeof not[0]; i++)
        if (type == not[i])
            return false;
#endif
    return true;
}

int opiw_compare_and_swap(const char *call, const void *origin, const void *compare, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Win win) {
    WINDOW(OPIW_SWAP, 1, type, target);
    int rc = prepare(&o, origin, 1, type, target, disp, 1, type);
    if (rc != MPI_ERR_TYPE && (!o.local.named || !comparable(type)))
        rc = bad(&o, MPI_ERR_TYPE, "no datatype whose values can be compared");
    if (rc == MPI_SUCCESS && (!compare || !result))
        rc = bad(&o, MPI_ERR_BUFFER, "null buffer");
    if (rc == MPI_SUCCESS) {
        WATCH(OPIW_SWAP, MPI_OP_NULL, false);
        rc = o.direct || opiw_settle(w, o.t) ? opiw_swap(&o, origin, compare, result) : opiw_refused(&o);
    }
    return over(&o, rc, NULL);
}
