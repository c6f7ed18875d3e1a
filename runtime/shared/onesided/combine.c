/* combine.c - what is done to a target's memory under its lock: accumulating, fetching, comparing and swapping.
 *
 * All of these to one member exclude each other, whatever their operation and wherever the memory lies, so each element is changed as a whole.  The lock is
 * given back between parts of a large operation, never inside an element.  The arithmetic is the MPI's own (MPI_Reduce_local). */
#include "shared/onesided/onesided.h"

#include <stdlib.h>
#include <string.h>

#define AT_A_TIME 4096 /* bytes of each buffer on the stack, which is a fiber's */
#define IN_PLACE ((size_t)64 << 10) /* bytes under one lock where nothing is copied */

bool opiw_op_known(MPI_Op op) {
    return op == MPI_SUM || op == MPI_REPLACE || op == MPI_NO_OP || op == MPI_MIN || op == MPI_MAX || op == MPI_PROD || op == MPI_LAND || op == MPI_BAND ||
           op == MPI_LOR || op == MPI_BOR || op == MPI_LXOR || op == MPI_BXOR || op == MPI_MINLOC || op == MPI_MAXLOC;
}

static bool envelope(MPI_Datatype t, MPI_Count n[4], int *combiner) {
#if MPI_VERSION >= 4
    return PMPI_Type_get_envelope_c(t, &n[0], &n[1], &n[2], &n[3], combiner) == MPI_SUCCESS;
#else
    int ni, na, nd;
    if (PMPI_Type_get_envelope(t, &ni, &na, &nd, combiner) != MPI_SUCCESS)
        return false;
    n[0] = ni, n[1] = na, n[2] = 0, n[3] = nd;
    return true;
#endif
}

static bool contents(MPI_Datatype t, const MPI_Count n[4], int *is, MPI_Aint *as, MPI_Count *ls, MPI_Datatype *types) {
#if MPI_VERSION >= 4
    return PMPI_Type_get_contents_c(t, n[0], n[1], n[2], n[3], is, as, ls, types) == MPI_SUCCESS;
#else
    (void)ls;
    return PMPI_Type_get_contents(t, (int)n[0], (int)n[1], (int)n[3], is, as, types) == MPI_SUCCESS;
#endif
}

static void let_go(MPI_Datatype t) {
    MPI_Count n[4];
    int combiner;
    if (envelope(t, n, &combiner) && n[3])
        PMPI_Type_free(&t);
}

/* The first of the types that `t` was made of which has elements in it; MPI_DATATYPE_NULL where there is none.  The others are let go. */
static MPI_Datatype first_inside(MPI_Datatype t, const MPI_Count n[4], int combiner) {
    int *is = calloc((size_t)n[0] + 1, sizeof *is);
    MPI_Aint *as = calloc((size_t)n[1] + 1, sizeof *as);
    MPI_Count *ls = calloc((size_t)n[2] + 1, sizeof *ls);
    MPI_Datatype *types = calloc((size_t)n[3], sizeof *types), found = MPI_DATATYPE_NULL;
    if (is && as && ls && types && contents(t, n, is, as, ls, types))
        for (MPI_Count i = 0; i < n[3]; i++) {
            MPI_Count size = 0;
            bool some = combiner != MPI_COMBINER_STRUCT || (n[2] ? ls[1 + i] : is[1 + i]) > 0;
            if (some && found == MPI_DATATYPE_NULL && PMPI_Type_size_x(types[i], &size) == MPI_SUCCESS && size > 0)
                found = types[i];
            else
                let_go(types[i]);
        }
    free(is);
    free(as);
    free(ls);
    free(types);
    return found;
}

/* The predefined type of which all elements of a type are, as MPI has it for accumulating.  False where there is none. */
static bool element_of(MPI_Datatype t, MPI_Datatype *element) {
    MPI_Datatype held = MPI_DATATYPE_NULL;
    for (;;) {
        MPI_Count n[4];
        int combiner;
        bool ok = envelope(t, n, &combiner);
        if (ok && !n[3]) {
            *element = t;
            return true;
        }
        MPI_Datatype inner = ok ? first_inside(t, n, combiner) : MPI_DATATYPE_NULL;
        if (held != MPI_DATATYPE_NULL)
            PMPI_Type_free(&held);
        if (inner == MPI_DATATYPE_NULL)
            return false;
        held = t = inner;
    }
}

static bool try_lock(void *seat) {
    struct opiw_seat *s = seat;
    return atomic_exchange_explicit(&s->combining, 1, memory_order_acquire) == 0;
}

static bool begin(struct opiw_op *o) {
    return OPIW_LIKELY(try_lock(o->t->seat)) || opiw_queue(o->call, o->w, o->t->seat, try_lock, o->t->seat);
}

static void end(struct opiw_op *o) {
    atomic_store_explicit(&o->t->seat->combining, 0, memory_order_seq_cst); /* release, and before the look at who sleeps */
    opiw_let_in(o->w, o->t->seat);
}

/* What is combined: packed elements of one predefined type. */
struct elements {
    MPI_Datatype type;
    MPI_Op op;
    struct opiw_shape s;
};

/* to = to op from, n bytes.  Of types with a gap (MPI_DOUBLE_INT) the MPI wants the gaps, packed bytes have none. */
static int reduce(const struct elements *e, const void *from, void *to, size_t n) {
    if (e->op == MPI_NO_OP)
        return MPI_SUCCESS;
    if (e->op == MPI_REPLACE) {
        memmove(to, from, n);
        return MPI_SUCCESS;
    }
    size_t k = n / e->s.size;
    if ((ptrdiff_t)e->s.size == e->s.extent)
        return PMPI_Reduce_local(from, to, (int)k, e->type, e->op);
    _Alignas(16) char a[AT_A_TIME], b[AT_A_TIME];
    size_t most = AT_A_TIME / (size_t)e->s.extent;
    int rc = MPI_SUCCESS;
    for (size_t at = 0; k && rc == MPI_SUCCESS;) {
        size_t m = k < most ? k : most, bytes = m * e->s.size;
        opiw_unpack(&e->s, a, m, 0, bytes, (const char *)from + at);
        opiw_unpack(&e->s, b, m, 0, bytes, (const char *)to + at);
        rc = PMPI_Reduce_local(a, b, (int)m, e->type, e->op);
        opiw_pack(&e->s, b, m, 0, bytes, (char *)to + at);
        k -= m;
        at += bytes;
    }
    return rc;
}

static int no_one(struct opiw_op *o) {
    o->why = "a rank has died that may hold the lock of the target's memory";
    return opiw_lost_class();
}

static int bad_reduction(struct opiw_op *o, int rc) {
    if (rc != MPI_SUCCESS)
        o->why = "the operation does not know the datatype";
    return rc;
}

/* Straight in the target's memory. */
static int in_place(struct opiw_op *o, const struct elements *e, const char *origin, char *result) {
    size_t part = IN_PLACE / e->s.size * e->s.size;
    int rc = MPI_SUCCESS;
    for (size_t at = 0; at < o->n && rc == MPI_SUCCESS; at += part) {
        size_t m = o->n - at < part ? o->n - at : part;
        if (!begin(o))
            return no_one(o);
        if (result)
            memcpy(result + at, o->addr + at, m);
        rc = reduce(e, origin + at, o->addr + at, m);
        end(o);
    }
    return bad_reduction(o, rc);
}

/* Through three buffers of `room` bytes: what the origin brings, what the target has, what it had. */
static int through(struct opiw_op *o, const struct elements *e, const void *origin, void *result, size_t result_count, const struct opiw_shape *rs, char *mine,
                   char *theirs, char *old, size_t room) {
    int rc = MPI_SUCCESS;
    for (size_t at = 0; at < o->n && rc == MPI_SUCCESS; at += room) {
        size_t m = o->n - at < room ? o->n - at : room;
        if (e->op != MPI_NO_OP)
            opiw_pack(&o->local, origin, o->count, at, m, mine);
        if (!begin(o))
            return no_one(o);
        rc = opiw_load(o, at, m, theirs);
        if (rc == MPI_SUCCESS && result)
            memcpy(old, theirs, m);
        if (rc == MPI_SUCCESS && e->op != MPI_NO_OP) {
            rc = bad_reduction(o, reduce(e, mine, theirs, m));
            if (rc == MPI_SUCCESS)
                rc = opiw_store(o, at, m, theirs);
        }
        end(o);
        if (rc == MPI_SUCCESS && result)
            opiw_unpack(rs, result, result_count, at, m, old);
    }
    return rc;
}

int opiw_combine_all(struct opiw_op *o, MPI_Op op, const void *origin, MPI_Datatype rtype, void *result, size_t result_count, const struct opiw_shape *rs) {
    struct elements e = {.type = rtype, .op = op, .s = o->remote};
    if (!o->remote.named && (!element_of(rtype, &e.type) || !opiw_shape_of(e.type, NULL, &e.s))) {
        o->why = "the datatype has no predefined one as its elements";
        return MPI_ERR_TYPE;
    }
    if (o->n % e.s.size || e.s.size > AT_A_TIME / 2) {
        o->why = "no whole number of the target's elements";
        return MPI_ERR_TYPE;
    }
    if (OPIW_UNLIKELY(op != o->w->fit_op || e.type != o->w->fit_type)) {
        if (op != MPI_REPLACE && op != MPI_NO_OP && !opiw_op_fits(op, e.type)) {
            o->why = "the operation does not know the datatype";
            return MPI_ERR_OP;
        }
        o->w->fit_op = op;
        o->w->fit_type = e.type;
    }
    bool plain = op == MPI_NO_OP || o->local.contiguous;
    if (o->direct && o->remote.contiguous && plain && (!result || rs->contiguous))
        return in_place(o, &e, origin, result);
    if (!o->local.opaque && !o->remote.opaque && (!result || !rs->opaque)) {
        _Alignas(16) char mine[AT_A_TIME], theirs[AT_A_TIME], old[AT_A_TIME];
        return through(o, &e, origin, result, result_count, rs, mine, theirs, old, AT_A_TIME / e.s.size * e.s.size);
    }
    char *all = malloc(3 * o->n);
    if (!all) {
        o->why = "out of memory for packed data";
        return MPI_ERR_NO_MEM;
    }
    int rc = through(o, &e, origin, result, result_count, rs, all, all + o->n, all + 2 * o->n, o->n);
    free(all);
    return rc;
}

int opiw_swap(struct opiw_op *o, const void *origin, const void *compare, void *result) {
    char there[64], wanted[64], new[64];
    if (o->n > sizeof there) {
        o->why = "a datatype that cannot be compared";
        return MPI_ERR_TYPE;
    }
    opiw_pack(&o->local, origin, 1, 0, o->n, new);
    opiw_pack(&o->local, compare, 1, 0, o->n, wanted);
    if (!begin(o))
        return no_one(o);
    int rc = opiw_load(o, 0, o->n, there);
    if (rc == MPI_SUCCESS && memcmp(there, wanted, o->n) == 0)
        rc = opiw_store(o, 0, o->n, new);
    end(o);
    if (rc == MPI_SUCCESS)
        opiw_unpack(&o->local, result, 1, 0, o->n, there);
    return rc;
}
