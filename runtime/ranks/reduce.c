/* reduce.c - collectives that compute.  The operations are the MPI's own, applied by MPI_Reduce_local to two buffers at a time, in the order of ranks. */
#include "ranks.h"

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

/* A place for `count` elements; the address is that of the first element's origin. */
static char *place_for(const struct opir_type *t, size_t count, void **memory) {
    ptrdiff_t bytes = count ? (t->extent < 0 ? -t->extent : t->extent) * (ptrdiff_t)(count - 1) + t->true_extent : 0;
    *memory = malloc((size_t)bytes + 1);
    if (!*memory)
        opir_die("out of memory: %td bytes", bytes);
    return (char *)*memory - t->true_lb - (t->extent < 0 && count ? t->extent * (ptrdiff_t)(count - 1) : 0);
}

static bool predefined(MPI_Op op) {
    return op == MPI_SUM || op == MPI_MAX || op == MPI_MIN || op == MPI_PROD || op == MPI_LAND || op == MPI_BAND || op == MPI_LOR || op == MPI_BOR ||
           op == MPI_LXOR || op == MPI_BXOR;
}

/* into = a[0] op a[1] op ... op a[n-1], folded from the right. */
static void fold(struct opir_args **a, int n, size_t count, char *into) {
    const struct opir_type *t = a[0]->rt;
    size_t chunk = predefined(a[0]->op) ? CHUNK : count;
    for (size_t done = 0; done < count; done += chunk) {
        size_t m = count - done < chunk ? count - done : chunk;
        ptrdiff_t offset = (ptrdiff_t)done * t->extent;
        opir_copy((const char *)input(a[n - 1]) + offset, m, a[n - 1]->rt, into + offset, m, t);
        for (int i = n - 2; i >= 0; i--)
            apply((const char *)input(a[i]) + offset, into + offset, m, a[i]);
    }
}

static void to_receiver(const char *from, struct opir_args *a, size_t count) {
    opir_copy(from, count, a->rt, a->rbuf, count, a->rt);
}

static void same_counts(struct opir_args **a, int n) {
    for (int i = 1; i < n; i++)
        if (OPIR_UNLIKELY((size_t)a[i]->rcount * a[i]->rt->size != (size_t)a[0]->rcount * a[0]->rt->size))
            opir_die("members of a communicator reduce different amounts: %zu and %zu bytes", (size_t)a[0]->rcount * a[0]->rt->size,
                     (size_t)a[i]->rcount * a[i]->rt->size);
}

static void reduce(struct opir_view *v) {
    int side = 0, far = 0, root = v->a[0][0]->root;
    if (v->inter)
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
    same_counts(v->a[far], v->n[far]);
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
    struct opir_args *first = v->a[to][0];
    same_counts(v->a[from], v->n[from]);
    size_t count = (size_t)first->rcount;
    void *memory = NULL;
    char *sum = first->in_place ? place_for(first->rt, count, &memory) : first->rbuf;
    fold(v->a[from], v->n[from], count, sum);
    for (int i = 0; i < v->n[to]; i++)
        if (sum != v->a[to][i]->rbuf)
            to_receiver(sum, v->a[to][i], count);
    free(memory);
}

static void reduce_scatter(struct opir_view *v, int from, int to) {
    size_t total = 0;
    for (int i = 0; i < v->n[to]; i++)
        total += (size_t)(v->a[to][i]->v ? opir_at(v->a[to][i]->rcounts, v->a[to][i]->csize, i) : v->a[to][i]->rcount);
    const struct opir_type *t = v->a[to][0]->rt;
    void *memory;
    char *sum = place_for(t, total, &memory);
    fold(v->a[from], v->n[from], total, sum);
    ptrdiff_t at = 0;
    for (int i = 0; i < v->n[to]; i++) {
        struct opir_args *a = v->a[to][i];
        size_t count = (size_t)(a->v ? opir_at(a->rcounts, a->csize, i) : a->rcount);
        to_receiver(sum + at * t->extent, a, count);
        at += (ptrdiff_t)count;
    }
    free(memory);
}

/* Each rank gets what lies before it; with `own` itself too. */
static void scan(struct opir_view *v, bool own) {
    int n = v->n[0];
    struct opir_args **a = v->a[0];
    same_counts(a, n);
    size_t count = (size_t)a[0]->rcount;
    const struct opir_type *t = a[0]->rt;
    void *memory[2];
    char *sum = place_for(t, count, &memory[0]), *next = place_for(t, count, &memory[1]);
    for (int i = 0; i < n; i++) {
        opir_copy(input(a[i]), count, t, next, count, t);
        if (i > 0)
            apply(sum, next, count, a[i]);
        if (own || i > 0)
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
