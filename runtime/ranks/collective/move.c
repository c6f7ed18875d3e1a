/* move.c - collectives that move data and compute nothing.  Whoever came last copies for everybody, straight from buffer to buffer. */
#include "ranks/collective/piece.h"

#include <stdlib.h>

static void copy(struct piece from, struct piece to, struct opir_args *receiver) {
    int rc = opir_copy(from.at, from.n, from.t, to.at, to.n, to.t);
    if (OPIR_UNLIKELY(rc != MPI_SUCCESS))
        receiver->error = rc;
}

/* ---- rooted ------------------------------------------------------------------------------------------------------------------------------ */

/* The root of a collective: its side and rank; the others are on side *far. */
static int root_of(const struct opir_view *v, int *side, int *far) {
    if (!v->inter) {
        *side = *far = 0;
        return v->across ? v->root : v->a[0][0]->root;
    }
    if (v->across && v->root >= 0) {
        *side = v->root_side;
        *far = 1 - *side;
        return v->root;
    }
    for (*side = 0; *side < 2; ++*side)
        for (int i = 0; !v->across && i < v->n[*side]; i++)
            if (v->a[*side][i]->root == MPI_ROOT) {
                *far = 1 - *side;
                return i;
            }
    opir_die("no rank called a collective of an intercommunicator with MPI_ROOT");
}

static void rooted(struct opir_view *v) {
    int side, far, root = root_of(v, &side, &far);
    struct opir_args *r = v->a[side][root];
    for (int i = 0; i < v->n[far]; i++) {
        struct opir_args *a = v->a[far][i];
        bool self = a == r;
        if (!v->inter && OPIR_UNLIKELY(opir_local(a) && a->root != root))
            opir_die("members of a communicator called a collective with different roots, %d and %d", root, a->root);
        if (!opir_local(v->kind == OPIR_GATHER ? r : a)) /* its process does it */
            continue;
        if (v->kind == OPIR_BCAST && !self) {
            copy(all_received(r), all_received(a), a);
            if (OPIR_UNLIKELY((size_t)a->rcount * a->rt->size > (size_t)r->rcount * r->rt->size))
                a->error = MPI_ERR_TRUNCATE; /* less came than was asked for */
        }
        if (v->kind == OPIR_GATHER && !(self && r->in_place))
            copy(all_sent(a), from_peer(r, i), r);
        else if (v->kind == OPIR_SCATTER && !(self && r->in_place))
            copy(to_peer(r, i), all_received(a), a);
    }
}

/* ---- all to all ---------------------------------------------------------------------------------------------------------------------------- */

static void allgather(struct opir_view *v, int from, int to) {
    for (int i = 0; i < v->n[to]; i++) {
        struct opir_args *a = v->a[to][i];
        for (int j = 0; opir_local(a) && j < v->n[from]; j++) {
            struct opir_args *b = v->a[from][j];
            if (b->in_place && i == j)
                continue;
            copy(b->in_place ? from_peer(b, j) : all_sent(b), from_peer(a, j), a);
        }
    }
}

/* In place: what i and j have for each other changes places. */
static void swap(struct opir_args *a, int i, struct opir_args *b, int j) {
    struct piece x = from_peer(a, j), y = from_peer(b, i);
    size_t bytes = x.n * x.t->size;
    void *kept = malloc(bytes ? bytes : 1);
    if (!kept)
        opir_die("out of memory: %zu bytes", bytes);
    opir_pack(x.t, x.at, x.n, kept);
    copy(y, x, a);
    opir_unpack(y.t, y.at, y.n, kept, bytes < y.n * y.t->size ? bytes : y.n * y.t->size);
    free(kept);
}

static void alltoall(struct opir_view *v, int from, int to) {
    if (!v->inter && opir_first_local(v, 0)->in_place) {
        for (int i = 0; i < v->n[0]; i++)
            for (int j = i + 1; j < v->n[0]; j++) {
                struct opir_args *a = v->a[0][i], *b = v->a[0][j];
                if (opir_local(a) && opir_local(b))
                    swap(a, i, b, j);
                else if (opir_local(a) && b)
                    copy(to_peer(b, i), from_peer(a, j), a);
                else if (opir_local(b) && a)
                    copy(to_peer(a, j), from_peer(b, i), b);
            }
        return;
    }
    for (int i = 0; i < v->n[to]; i++)
        for (int j = 0; opir_local(v->a[to][i]) && j < v->n[from]; j++)
            if (OPIR_LIKELY(v->a[from][j] != NULL)) /* else nothing for this process */
                copy(to_peer(v->a[from][j], i), from_peer(v->a[to][i], j), v->a[to][i]);
}

/* ---- neighbours ------------------------------------------------------------------------------------------------------------------------------ */

/* Which of the sender's messages goes into the receiver's k-th place: to each other in a direction of a grid, else the same occurrence of the pair. */
int opir_sent_as(const struct opir_topo *t, const int *in, int k, int me, const int *out, int nout) {
    if (opir_topo_is_cart(t))
        return k ^ 1;
    int before = 0;
    for (int i = 0; i < k; i++)
        before += in[i] == in[k];
    for (int i = 0; i < nout; i++)
        if (out[i] == me && before-- == 0)
            return i;
    return -1;
}

static void neighbours(struct opir_view *v) {
    const struct opir_topo *t = v->shared->topo;
    for (int me = 0; me < v->n[0]; me++) {
        struct opir_args *a = v->a[0][me];
        if (!opir_local(a))
            continue;
        int nin = opir_topo_degree(t, me, true);
        int *in = opir_alloc((size_t)nin * sizeof(int));
        opir_topo_neighbours(t, me, true, in);
        for (int k = 0; k < nin; k++) {
            if (in[k] == MPI_PROC_NULL)
                continue;
            struct opir_args *b = v->a[0][in[k]];
            if (v->kind == OPIR_NEIGHBOR_ALLGATHER) {
                copy(all_sent(b), from_peer(a, k), a);
                continue;
            }
            int nout = opir_topo_degree(t, in[k], false);
            int *out = opir_alloc((size_t)nout * sizeof(int));
            opir_topo_neighbours(t, in[k], false, out);
            int as = opir_sent_as(t, in, k, me, out, nout);
            free(out);
            if (as < 0)
                opir_die("the neighbours of a communicator do not agree: %d receives from %d, which does not send to it", me, in[k]);
            copy(to_peer(b, as), from_peer(a, k), a);
        }
        free(in);
    }
}

void opir_move(struct opir_view *v) {
    if (v->kind == OPIR_BCAST || v->kind == OPIR_GATHER || v->kind == OPIR_SCATTER) {
        rooted(v);
    } else if (v->kind == OPIR_NEIGHBOR_ALLGATHER || v->kind == OPIR_NEIGHBOR_ALLTOALL) {
        neighbours(v);
    } else {
        void (*all)(struct opir_view *, int, int) = v->kind == OPIR_ALLGATHER ? allgather : alltoall;
        all(v, v->inter ? 1 : 0, 0);
        if (v->inter)
            all(v, 0, 1);
    }
}
