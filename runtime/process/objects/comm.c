/* comm.c - what libopi knows of each communicator, and the calls that create them.
 *
 * Intracommunicators of ranks of our MPI_COMM_WORLD get a context number, the same on all members: rank 0 of the new communicator tells the others (its world
 * rank, a counter), a pair that is never used twice.  It does so by messages: an MPI may choose the algorithm of a reduction by the number of collectives that
 * a communicator has seen (MPICH does), so one of ours would change the last bits of the program's sums.  Comm_idup cannot broadcast; its context is derived from the parent's and the number of the
 * duplication, which is the same on all members because collective calls on one communicator are ordered.  Every other communicator (inter-, session,
 * spawned) stays with the MPI below, on all its members alike. */
#include "process/base/error.h"
#include "process/base/export.h"
#include "process/below/net.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/objects/comm.h"
#include "process/objects/request.h"
#include "process/objects/revoke.h"

#include <stdlib.h>

#define DERIVED ((uint64_t)1 << 63)

struct opi_comm_cache opi_comm_cache[OPI_COMM_CACHE];
static int keyval = MPI_KEYVAL_INVALID;
static MPI_Group world_group = MPI_GROUP_NULL;
static uint64_t counter;

void opi_comm_release(struct opi_comm *c) {
    if (--c->refs == 0) {
        free(c->local_of_rank);
        free(c->rank_of_local);
        free(c);
    }
}

/* Communicators that the MPI below has freed and we have not let go of.  The callback may run under locks of the MPI, which a thread inside libopi may be
 * waiting for: so it takes none of ours, and pushes (release); whoever is inside next takes the whole list (acquire). */
static _Atomic(struct opi_comm *) gone;

static int freed(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    struct opi_comm *c = value, *first = atomic_load_explicit(&gone, memory_order_relaxed);
    do
        c->next_gone = first;
    while (!atomic_compare_exchange_weak_explicit(&gone, &first, c, memory_order_release, memory_order_relaxed));
    return MPI_SUCCESS;
}

/* Not found any more: its handle may soon be another's. */
static void hide(struct opi_comm *c) {
    struct opi_comm_cache *e = &opi_comm_cache[opi_handle_hash(&c->handle, sizeof c->handle) % OPI_COMM_CACHE];
    if (e->comm == c)
        e->comm = NULL;
    if (opi.last_comm == c)
        opi.last_comm = NULL;
    opi_comm_unfollow(c);
}

/* Lets go of what the MPI below has freed.  Inside enter/leave. */
void opi_comm_forget(void) {
    struct opi_comm *c = atomic_exchange_explicit(&gone, NULL, memory_order_acquire);
    while (c) {
        struct opi_comm *next = c->next_gone;
        hide(c);
        opi_comm_release(c);
        c = next;
    }
}

uint64_t opi_ctx_derive(uint64_t parent, uint64_t n) {
    /* splitmix64's finaliser over both: 63 bits, so that two contexts meet with a chance of 2^-63. */
    uint64_t x = parent * 0x9e3779b97f4a7c15u + n + 1;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) | DERIVED;
}

/* Fills the rank maps; false when some member is no rank of our world, or memory is short. */
static bool map_ranks(struct opi_comm *c) {
    MPI_Group g;
    int n = c->size;
    int *ranks = malloc(2 * (size_t)n * sizeof *ranks);
    c->local_of_rank = malloc((size_t)n * sizeof(int));
    c->rank_of_local = malloc((size_t)opi.nlocal * sizeof(int));
    if (!ranks || !c->local_of_rank || !c->rank_of_local || PMPI_Comm_group(c->handle, &g) != MPI_SUCCESS) {
        free(ranks);
        return false;
    }
    int *world = ranks + n;
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    PMPI_Group_translate_ranks(g, n, ranks, world_group, world);
    PMPI_Group_free(&g);
    for (int i = 0; i < opi.nlocal; i++)
        c->rank_of_local[i] = -1;
    bool ok = true;
    c->lonely = true;
    for (int i = 0; i < n; i++) {
        if (world[i] == MPI_UNDEFINED) {
            ok = false;
            break;
        }
        int l = opi_local_of_world[world[i]];
        c->local_of_rank[i] = l;
        if (l >= 0)
            c->rank_of_local[l] = i;
        else
            c->mixed = true;
        if (l >= 0 && l != opi.me)
            c->lonely = false;
    }
    free(ranks);
    return ok;
}

static struct opi_comm *enter_comm(MPI_Comm handle, uint64_t ctx, bool ours) {
    struct opi_comm *c = calloc(1, sizeof *c);
    if (!c)
        opi_die("out of memory for a communicator");
    int inter = 0, found = 0, *ub;
    c->handle = handle;
    c->ctx = ctx;
    c->refs = 1;
    PMPI_Comm_rank(handle, &c->rank);
    PMPI_Comm_test_inter(handle, &inter);
    c->remote_group = inter != 0;
    if (inter)
        PMPI_Comm_remote_size(handle, &c->size);
    else
        PMPI_Comm_size(handle, &c->size);
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &found);
    c->tag_ub = found ? *ub : 32767;
    c->active = ours && opi.ready && opi.node_ok && !inter && map_ranks(c);
    if (!c->active)
        c->mixed = c->lonely = false;
    if (keyval == MPI_KEYVAL_INVALID || PMPI_Comm_set_attr(handle, keyval, c) != MPI_SUCCESS)
        opi_die("cannot attach libopi's state to a communicator");
    if (c->active)
        opi_comm_follow(c);
    return c;
}

struct opi_comm *opi_comm_adopt_ctx(MPI_Comm c, uint64_t ctx) {
    return enter_comm(c, ctx, true);
}

/* What rank 0 of a new communicator has, told to all, along a tree.  No message of the program is on its way there: each rank hears from one other, before
 * that one goes on to send its own. */
static void tell(MPI_Comm comm, uint64_t *ctx) {
    int rank, size, bit = 1;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    while (bit < size && !(rank & bit))
        bit <<= 1;
    if (rank)
        PMPI_Recv(ctx, sizeof *ctx, MPI_BYTE, rank - bit, 0, comm, MPI_STATUS_IGNORE);
    while (bit >>= 1)
        if (rank + bit < size)
            PMPI_Send(ctx, sizeof *ctx, MPI_BYTE, rank + bit, 0, comm);
}

/* A new communicator; collective over it.  Outside enter/leave. */
void opi_comm_adopt(MPI_Comm comm) {
    int inter = 0;
    if (comm == MPI_COMM_NULL || opi.disabled || !opi.mpi_running)
        return;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        return;
    opi_enter(); /* other threads make communicators, too */
    uint64_t ctx = (uint64_t)(opi.world_rank + 1) << 32 | ++counter;
    opi_leave();
    tell(comm, &ctx);
    opi_enter();
    enter_comm(comm, ctx, true);
    opi_leave();
}

/* A communicator that is not in the cache. */
OPI_COLD struct opi_comm *opi_comm_slow(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL || !opi.mpi_running)
        return NULL;
    void *value;
    int found = 0;
    if (keyval == MPI_KEYVAL_INVALID || PMPI_Comm_get_attr(comm, keyval, &value, &found) != MPI_SUCCESS)
        return NULL;
    struct opi_comm *c = found ? value : enter_comm(comm, 0, false);
    struct opi_comm_cache *e = &opi_comm_cache[opi_handle_hash(&comm, sizeof comm) % OPI_COMM_CACHE];
    e->handle = comm;
    e->comm = c;
    return c;
}

void opi_comms_init(void) {
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, freed, &keyval, NULL);
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    enter_comm(MPI_COMM_WORLD, 1, !opi.disabled);
    enter_comm(MPI_COMM_SELF, 2, !opi.disabled);
}

void opi_comms_fini(void) {
    memset(opi_comm_cache, 0, sizeof opi_comm_cache);
    PMPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    PMPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    opi_comm_forget();
    PMPI_Comm_free_keyval(&keyval);
    PMPI_Group_free(&world_group);
    keyval = MPI_KEYVAL_INVALID;
}

/* ---- the creators --------------------------------------------------------------------------------------------------------------------------- */

#define CREATE(call, newcomm)        \
    int rc = call;                   \
    if (rc == MPI_SUCCESS)           \
        opi_comm_adopt(*(newcomm));  \
    return rc

EXPORT int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm) {
    CREATE(PMPI_Comm_dup(comm, newcomm), newcomm);
}

EXPORT int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm) {
    CREATE(PMPI_Comm_dup_with_info(comm, info, newcomm), newcomm);
}

EXPORT int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm) {
    CREATE(PMPI_Comm_create(comm, group, newcomm), newcomm);
}

EXPORT int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm) {
    CREATE(PMPI_Comm_create_group(comm, group, tag, newcomm), newcomm);
}

EXPORT int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm) {
    CREATE(PMPI_Comm_split(comm, color, key, newcomm), newcomm);
}

EXPORT int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm) {
    CREATE(PMPI_Comm_split_type(comm, type, key, info, newcomm), newcomm);
}

EXPORT int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm *newcomm) {
    CREATE(PMPI_Cart_create(comm, ndims, dims, periods, reorder, newcomm), newcomm);
}

EXPORT int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm *newcomm) {
    CREATE(PMPI_Cart_sub(comm, remain, newcomm), newcomm);
}

EXPORT int MPI_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm *newcomm) {
    CREATE(PMPI_Graph_create(comm, nnodes, index, edges, reorder, newcomm), newcomm);
}

EXPORT int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[], const int weights[],
                                 MPI_Info info, int reorder, MPI_Comm *newcomm) {
    CREATE(PMPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder, newcomm), newcomm);
}

EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int sourceweights[], int outdegree,
                                          const int destinations[], const int destweights[], MPI_Info info, int reorder, MPI_Comm *newcomm) {
    CREATE(PMPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder, newcomm),
           newcomm);
}

EXPORT int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newcomm) {
    CREATE(PMPI_Intercomm_merge(intercomm, high, newcomm), newcomm);
}

/* A request of ours stands for the native one: when that completes, the new communicator gets its derived context. */
static int idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request, int rc, MPI_Request native) {
    if (rc != MPI_SUCCESS || opi.disabled) {
        *request = native;
        return rc;
    }
    opi_enter();
    struct opi_comm *c = opi_comm_of(comm);
    struct opi_req *r = c && c->ctx ? opi_req_new(OPI_R_IDUP) : NULL;
    if (!r) { /* an intercommunicator's duplicate is native too */
        opi_leave();
        *request = native;
        return rc;
    }
    r->native = native;
    r->newcomm = newcomm;
    r->ctx = opi_ctx_derive(c->ctx, c->idups++);
    *request = opi_req_handle(r);
    opi_leave();
    return rc;
}

EXPORT int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request) {
    MPI_Request native = MPI_REQUEST_NULL;
    int rc = PMPI_Comm_idup(comm, newcomm, &native);
    return idup(comm, newcomm, request, rc, native);
}

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
EXPORT int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request) {
    MPI_Request native = MPI_REQUEST_NULL;
    int rc = PMPI_Comm_idup_with_info(comm, info, newcomm, &native);
    return idup(comm, newcomm, request, rc, native);
}
#endif

/* What the MPI below is about to free: found no more from here on, since another thread's new communicator may get the handle before we hear of it. */
static void hide_handle(MPI_Comm comm) {
    const struct opi_comm_cache *e = &opi_comm_cache[opi_handle_hash(&comm, sizeof comm) % OPI_COMM_CACHE];
    if (e->comm && e->handle == comm)
        hide(e->comm);
    if (opi.last_comm && opi.last_comm_handle == comm)
        hide(opi.last_comm);
}

EXPORT int MPI_Comm_free(MPI_Comm *comm) {
    if (!opi.mpi_running || !comm || *comm == MPI_COMM_NULL || *comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
        return PMPI_Comm_free(comm);
    opi_enter();
    bool later = (opi.nheld || opi.npersist) && opi_comm_free_later(*comm);
    if (!later)
        hide_handle(*comm);
    opi_leave();
    if (later) {
        *comm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    int rc = PMPI_Comm_free(comm);
    opi_enter();
    opi_comm_forget();
    opi_leave();
    return rc;
}

/* Messages we still hold for others have to leave first. */
EXPORT int MPI_Comm_disconnect(MPI_Comm *comm) {
    if (opi.mpi_running) {
        opi_enter();
        opi_flush();
        opi_net_retired_poll(true);
        if (comm)
            hide_handle(*comm);
        opi_leave();
    }
    int rc = PMPI_Comm_disconnect(comm);
    if (opi.mpi_running) {
        opi_enter();
        opi_comm_forget();
        opi_leave();
    }
    return rc;
}
