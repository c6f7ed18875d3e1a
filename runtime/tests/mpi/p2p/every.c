/*
 * A message each way by every form of sending and receiving, those with large counts included where the MPI has them, and
 * on every kind of communicator. Rank 0 prints how many messages there were, so that the profile can be compared.
 *
 *   every        2 ranks or another even number
 */
#include "../check.h"

#define MOST 200000
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define NAME2(a) #a
#define NAME(a) NAME2(a)

static unsigned char out[MOST], in[MOST];
static int sends, between; /* messages sent; of them on an intercommunicator */

static void prepare(int n, int tag)
{
    fill(out, (size_t)n, (unsigned)(100 * world_rank + tag));
    memset(in, 0, (size_t)n);
}

static void arrived(const void *buffer, int n, int tag, int from, const MPI_Status *status)
{
    int count = -1;

    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(count == n);
    CHECK(status->MPI_SOURCE == from && status->MPI_TAG == tag);
    CHECK(differs(buffer, (size_t)n, (unsigned)(100 * (world_rank ^ 1) + tag)) == 0);
}

static void finish_send(int persistent, MPI_Request *r)
{
    sends++;
    CHECK_CLASS(MPI_Wait(r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (persistent)
        CHECK_CLASS(MPI_Request_free(r), MPI_SUCCESS);
    CHECK(*r == MPI_REQUEST_NULL);
}

#define F(name) name
#define COUNT int
#define WALK plain
#include "every_form.h"

#if MPI_VERSION >= 4
#define F(name) name##_c
#define COUNT MPI_Count
#define WALK large
#include "every_form.h"
#endif

/* ---- kinds of communicators ---------------------------------------------------------------------------------------- */

/* A message each way between `peer`, a rank of the communicator, and this rank; frees it. */
static void exchange(const char *kind, MPI_Comm comm, int peer, int keep)
{
    MPI_Request r;
    MPI_Status status;
    int n = 3000;

    trying("communicator: %s", kind);
    CHECK(comm != MPI_COMM_NULL);
    if (comm == MPI_COMM_NULL)
        return;
    prepare(n, 5);
    if (comm == MPI_COMM_SELF)
        fill(out, (size_t)n, (unsigned)(100 * (world_rank ^ 1) + 5));
    CHECK_CLASS(MPI_Irecv(in, n, MPI_BYTE, peer, 5, comm, &r), MPI_SUCCESS);
    CHECK_CLASS(MPI_Send(out, n, MPI_BYTE, peer, 5, comm), MPI_SUCCESS);
    sends++;
    CHECK_CLASS(MPI_Wait(&r, &status), MPI_SUCCESS);
    arrived(in, n, 5, peer, &status);
    if (!keep)
        CHECK_CLASS(MPI_Comm_free(&comm), MPI_SUCCESS);
}

/* The rank in comm of the partner in the world. */
static int partner(MPI_Comm comm)
{
    MPI_Group world, group;
    int there = world_rank ^ 1, here = MPI_UNDEFINED;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(comm, &group);
    MPI_Group_translate_ranks(world, 1, &there, group, &here);
    MPI_Group_free(&world);
    MPI_Group_free(&group);
    return here;
}

static void made(const char *kind, MPI_Comm comm)
{
    exchange(kind, comm, comm == MPI_COMM_NULL ? 0 : partner(comm), 0);
}

static void duplicates(MPI_Comm of)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request r;

    MPI_Comm_dup(of, &comm);
    made("dup", comm);
    MPI_Comm_dup_with_info(of, MPI_INFO_NULL, &comm);
    made("dup_with_info", comm);
    MPI_Comm_idup(of, &comm, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    made("idup", comm);
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
    MPI_Comm_idup_with_info(of, MPI_INFO_NULL, &comm, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    made("idup_with_info", comm);
#endif
}

static void parts(int ranks)
{
    MPI_Comm comm;
    MPI_Group world, pair;
    int pairs[2] = {world_rank & ~1, world_rank | 1};

    MPI_Comm_split(MPI_COMM_WORLD, world_rank / 2, -world_rank, &comm);
    made("split", comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks - world_rank, MPI_INFO_NULL, &comm);
    made("split_type", comm);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, pairs, &pair);
    MPI_Comm_create(MPI_COMM_WORLD, pair, &comm);
    made("create", comm);
    MPI_Comm_create_group(MPI_COMM_WORLD, pair, 9, &comm);
    made("create_group", comm);
    MPI_Group_free(&pair);
    MPI_Group_free(&world);
}

static void topologies(int ranks)
{
    MPI_Comm grid, comm;
    int dims[2] = {ranks / 2, 2}, periods[2] = {0, 1}, remain[2] = {0, 1}, degree = 1, there = world_rank ^ 1, weight = 1;
    int *index = malloc(sizeof *index * (size_t)ranks), *edges = malloc(sizeof *edges * (size_t)ranks);

    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_sub(grid, remain, &comm);
    made("cart_sub", comm);
    made("cart", grid);
    for (int i = 0; i < ranks; i++) {
        index[i] = i + 1;
        edges[i] = i ^ 1;
    }
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm);
    made("graph", comm);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &world_rank, &degree, &there, &weight, MPI_INFO_NULL, 0, &comm);
    made("dist_graph", comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &there, &weight, 1, &there, &weight, MPI_INFO_NULL, 0, &comm);
    made("dist_graph_adjacent", comm);
    free(index), free(edges);
}

/* Even and odd ranks: the intercommunicator stays with the MPI, what is merged of it is libopi's. */
static void intercommunicators(void)
{
    MPI_Comm half, inter, merged;
    int odd = world_rank % 2;

    MPI_Comm_split(MPI_COMM_WORLD, odd, world_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !odd, 7, &inter);
    exchange("intercommunicator", inter, world_rank / 2, 1);
    between++;
    MPI_Intercomm_merge(inter, odd, &merged);
    made("merged", merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 20, 300, 3000, MOST};
    int ranks, space = 1 << 20, all[2], mine[2];
    void *buffered = malloc((size_t)space);

    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks % 2)
        MPI_Abort(MPI_COMM_WORLD, 77);
    MPI_Buffer_attach(buffered, space);
    for (int i = 0; i < 5; i++) {
        plain_sends(world_rank ^ 1, sizes[i]);
        plain_receives(world_rank ^ 1, sizes[i]);
#if MPI_VERSION >= 4
        large_sends(world_rank ^ 1, sizes[i]);
        large_receives(world_rank ^ 1, sizes[i]);
#endif
    }
    exchange("world", MPI_COMM_WORLD, world_rank ^ 1, 1);
    exchange("self", MPI_COMM_SELF, 0, 1);
    duplicates(MPI_COMM_WORLD);
    parts(ranks);
    topologies(ranks);
    intercommunicators();
    MPI_Buffer_detach(&buffered, &space);
    free(buffered);
    mine[0] = sends, mine[1] = between;
    MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("every: %d messages, %d on an intercommunicator\n", all[0], all[1]);
    return finish("every");
}
