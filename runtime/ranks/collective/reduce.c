/* reduce.c - collectives that compute.  The operations are the MPI's own, applied by MPI_Reduce_local to two buffers at a time, in the order of ranks. */
#include "ranks/transport/net.h"

#include <stdlib.h>

#define CHUNK 4096 /* elements reduced over all ranks before the next: they stay in the cache */

static const void *input(const struct opir_args *a) {
    return a->in_place ? a->rbuf : a->sbuf;
}

static void apply(const void *in, void *inout, size_t count, const struct opir_args *a) {
    while (count) {
        int n = count > (1 << 30) ? 1 << 30 : (int)count;
        int rc = PMPI_Reduce_local(in, inout, n, a->rtype, a->op);
        if (rc != MPI_SUCCESS) {
            opir_below(rc, "MPI_Reduce_local");
            opir_die("an operation of a collective failed");
        }
        in = (const char *)in + n * a->rt->extent;
        inout = (char *)inout + n * a->rt->extent;
        count -= (size_t)n;
    }
}

/* The bytes that `count` elements reach over; where in them the first element's origin is. */
static size_t reach(const struct opir_type *t, size_t count) {
    return count ? (size_t)((t->extent < 0 ? -t->extent : t->extent) * (ptrdiff_t)(count - 1) + t->true_extent) : 0;
}
static char *origin(const struct opir_type *t, size_t count, void *memory) {
    return (char *)memory - t->true_lb - (t->extent < 0 && count ? t->extent * (ptrdiff_t)(count - 1) : 0);
}

/* A place for `count` elements; the address is that of the first element's origin. */
static char *place_for(const struct opir_type *t, size_t count, void **memory) {
    *memory = malloc(reach(t, count) + 1);
    if (!*memory)
        opir_die("out of memory: %zu bytes", reach(t, count));
    return origin(t, count, *memory);
}

static bool predefined(MPI_Op op) {
    return op == MPI_SUM || op == MPI_MAX || op == MPI_MIN || op == MPI_PROD || op == MPI_LAND || op == MPI_BAND || op == MPI_LOR || op == MPI_BOR ||
           op == MPI_LXOR || op == MPI_BXOR;
}

/* Also those that work on a few types only; any other may be the program's. */
bool opir_op_predefined(MPI_Op op) {
    return predefined(op) || op == MPI_MINLOC || op == MPI_MAXLOC || op == MPI_REPLACE || op == MPI_NO_OP;
}

/* Whether a predefined operation knows a type: the MPI below is asked, with elements of zeros. */
int opir_op_check(struct opir_rank *me, MPI_Op op, const struct opir_type *t) {
    if (!(predefined(op) || op == MPI_MINLOC || op == MPI_MAXLOC) || !t->size || t->true_extent > (1 << 20))
        return MPI_SUCCESS;
    char *zeros = opir_alloc(2 * (size_t)t->true_extent);
    int rc = PMPI_Reduce_local(zeros - t->true_lb, zeros + t->true_extent - t->true_lb, 1, t->handle, op), class = rc;
    free(zeros);
    if (rc != MPI_SUCCESS) {
        opir_serial_begin();
        PMPI_Error_class(rc, &class);
        opir_serial_end();
        return class;
    }
    me->op = op;
    me->op_type = t->named ? t : NULL; /* another type may come to lie where this one is */
    return MPI_SUCCESS;
}

/* into = a[0] op a[1] op ... op a[n-1], folded from the right; without those that sent nothing: their process has folded for them. */
static void fold(struct opir_args **a, int n, size_t count, char *into) {
    while (!a[n - 1])
        n--;
    const struct opir_type *t = a[n - 1]->rt;
    size_t chunk = predefined(a[n - 1]->op) ? CHUNK : count;
    for (size_t done = 0; done < count; done += chunk) {
        size_t m = count - done < chunk ? count - done : chunk;
        ptrdiff_t offset = (ptrdiff_t)done * t->extent;
        opir_copy((const char *)input(a[n - 1]) + offset, m, a[n - 1]->rt, into + offset, m, t);
        for (int i = n - 2; i >= 0; i--)
            if (OPIR_LIKELY(a[i] != NULL))
                apply((const char *)input(a[i]) + offset, into + offset, m, a[i]);
    }
}

static void to_receiver(const char *from, struct opir_args *a, size_t count) {
    opir_copy(from, count, a->rt, a->rbuf, count, a->rt);
}

/* They do not match: nothing is computed, and each member of this process gets the error. */
static bool mismatch(struct opir_view *v, int error) {
    for (int side = 0; side <= v->inter; side++)
        for (int i = 0; i < v->n[side]; i++)
            if (opir_local(v->a[side][i]))
                v->a[side][i]->error = error;
    return false;
}

/* Those who bring data, and one who gets the result: whether they name one amount, and one operation as far as can be told. */
static bool match(struct opir_view *v, struct opir_args **a, int n, const struct opir_args *to) {
    size_t bytes = (size_t)to->rcount * to->rt->size;
    for (int i = 0; i < n; i++) {
        if (!a[i])
            continue;
        if (OPIR_UNLIKELY((size_t)a[i]->rcount * a[i]->rt->size != bytes))
            return mismatch(v, MPI_ERR_TRUNCATE);
        if (OPIR_UNLIKELY(a[i]->op != to->op && predefined(a[i]->op) && predefined(to->op)))
            return mismatch(v, MPI_ERR_OP);
    }
    return true;
}

/* ---- for members in several processes ---------------------------------------------------------------------------------------------------------- */

/* Is the result the same in whatever order the operands come? */
static bool exact(const struct opir_args *a) {
    const MPI_Datatype known[] = {MPI_INT, MPI_LONG, MPI_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_SHORT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
                                  MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T,
                                  MPI_UINT32_T, MPI_UINT64_T, MPI_BYTE, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_C_BOOL};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (a->rtype == known[i])
            return predefined(a->op);
    return false;
}

/* How many elements a member brings. */
size_t opir_reduce_count(const struct opir_args *a, int members) {
    if (a->kind != OPIR_REDUCE_SCATTER)
        return (size_t)a->rcount;
    size_t total = 0;
    for (int i = 0; i < members; i++)
        total += (size_t)(a->v ? opir_at(a->rcounts, a->csize, i) : a->rcount);
    return total;
}

/* What this process has to send of a member's contribution, packed; NULL: nothing, another one's has it in it.  The caller frees it. */
void *opir_reduce_packed(const struct opir_view *v, int side, int rank, bool first, size_t *bytes) {
    struct opir_args *a = v->a[side][rank];
    bool together = exact(a) && v->kind != OPIR_SCAN && v->kind != OPIR_EXSCAN;
    if (together && !first)
        return NULL;
    size_t count = opir_reduce_count(a, v->n[side]);
    for (int i = rank + 1; together && i < v->n[side]; i++) { /* if they bring different amounts: none, which no receiver has asked for */
        const struct opir_args *b = v->a[side][i];
        if (opir_local(b) && !b->v && ((size_t)b->rcount * b->rt->size != (size_t)a->rcount * a->rt->size))
            count = 0;
    }
    *bytes = count * a->rt->size;
    char *packed = malloc(*bytes + 1);
    if (!packed)
        opir_die("out of memory: %zu bytes", *bytes);
    if (together)
        fold(v->a[side], v->n[side], count, packed); /* of these types the packed form is the form in memory */
    else
        opir_pack(a->rt, input(a), count, packed);
    return packed;
}

/* The same at its receiver: the contribution `a` of another process, as `like` has it in memory. */
void opir_reduce_unpacked(struct opir_args *a, const struct opir_args *like, size_t count, const void *packed, size_t bytes, struct opir_arena **arena) {
    const struct opir_type *t = like->rt;
    a->rcount = (MPI_Count)count + 1; /* another amount: an error of the receivers */
    if (bytes == count * t->size) {
        char *place = origin(t, count, opir_arena_new(arena, reach(t, count) + 1));
        opir_unpack(t, place, count, packed, bytes);
        a->sbuf = place;
        a->rcount = (MPI_Count)count;
    }
    a->rtype = like->rtype;
    a->rt = like->rt;
    a->op = like->op;
}

/* ---- the operations ---------------------------------------------------------------------------------------------------------------------------- */

static void reduce(struct opir_view *v) {
    int side = 0, far = 0, root = v->across ? v->root : v->a[0][0]->root;
    if (v->across)
        side = v->inter && root < 0 ? 2 : v->root_side;
    else if (v->inter)
        for (side = 0; side < 2; side++) {
            for (root = 0; root < v->n[side] && v->a[side][root]->root != MPI_ROOT; root++)
                ;
            if (root < v->n[side])
                break;
        }
    if (side == 2)
        opir_die("no rank called a reduction of an intercommunicator with MPI_ROOT");
    far = v->inter ? 1 - side : side;
    struct opir_args *r = v->a[side][root];
    if (!opir_local(r)) /* its process computes */
        return;
    if (!match(v, v->a[far], v->n[far], r))
        return;
    size_t count = (size_t)r->rcount;
    if (!r->in_place) {
        fold(v->a[far], v->n[far], count, r->rbuf);
        return;
    }
    void *memory;
    char *sum = place_for(r->rt, count, &memory);
    fold(v->a[far], v->n[far], count, sum);
    to_receiver(sum, r, count);
    free(memory);
}

static void allreduce(struct opir_view *v, int from, int to) {
    struct opir_args *first = opir_first_local(v, to);
    if (!first || !match(v, v->a[from], v->n[from], first))
        return;
    size_t count = (size_t)first->rcount;
    void *memory = NULL;
    char *sum = first->in_place ? place_for(first->rt, count, &memory) : first->rbuf;
    fold(v->a[from], v->n[from], count, sum);
    for (int i = 0; i < v->n[to]; i++)
        if (opir_local(v->a[to][i]) && sum != v->a[to][i]->rbuf)
            to_receiver(sum, v->a[to][i], count);
    free(memory);
}

static void reduce_scatter(struct opir_view *v, int from, int to) {
    struct opir_args *first = opir_first_local(v, to);
    if (!first)
        return;
    size_t total = opir_reduce_count(first, v->n[to]);
    for (int i = 0; i < v->n[from]; i++) {
        const struct opir_args *a = v->a[from][i];
        if (OPIR_UNLIKELY(a && (a->remote ? (size_t)a->rcount != total : !a->v && !v->inter && a->rcount != first->rcount))) {
            mismatch(v, MPI_ERR_TRUNCATE);
            return;
        }
    }
    const struct opir_type *t = first->rt;
    void *memory;
    char *sum = place_for(t, total, &memory);
    fold(v->a[from], v->n[from], total, sum);
    ptrdiff_t at = 0;
    for (int i = 0; i < v->n[to]; i++) {
        struct opir_args *a = v->a[to][i];
        size_t count = (size_t)(first->v ? opir_at(first->rcounts, first->csize, i) : first->rcount);
        if (opir_local(a))
            to_receiver(sum + at * t->extent, a, count);
        at += (ptrdiff_t)count;
    }
    free(memory);
}

/* Each rank gets what lies before it; with `own` itself too. */
static void scan(struct opir_view *v, bool own) {
    int n = v->n[0];
    struct opir_args **a = v->a[0];
    const struct opir_args *first = opir_first_local(v, 0);
    if (!match(v, a, n, first))
        return;
    size_t count = (size_t)first->rcount;
    const struct opir_type *t = first->rt;
    void *memory[2];
    char *sum = place_for(t, count, &memory[0]), *next = place_for(t, count, &memory[1]);
    for (int i = 0; i < n; i++) {
        opir_copy(input(a[i]), count, t, next, count, t);
        if (i > 0)
            apply(sum, next, count, a[i]);
        if (opir_local(a[i]) && (own || i > 0))
            to_receiver(own ? next : sum, a[i], count);
        char *swap = sum;
        sum = next;
        next = swap;
    }
    free(memory[0]);
    free(memory[1]);
}

void opir_reduce(struct opir_view *v) {
    if (v->kind == OPIR_REDUCE)
        reduce(v);
    else if (v->kind == OPIR_SCAN || v->kind == OPIR_EXSCAN)
        scan(v, v->kind == OPIR_SCAN);
    else {
        void (*all)(struct opir_view *, int, int) = v->kind == OPIR_ALLREDUCE ? allreduce : reduce_scatter;
        /* Of an intercommunicator both sums have to be there before either is stored: no buffer is both, since nothing is in place. */
        all(v, v->inter ? 1 : 0, 0);
        if (v->inter)
            all(v, 0, 1);
    }
}
