/* A datatype that is freed while receives of it pend stays what it was for them, whoever serves them in the end; and no thread but the program's calls the MPI. */
#define _GNU_SOURCE
#include "../forms.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

static pthread_t program;
static bool strange; /* the MPI was called by a thread that is not the program's */

/* libopi unpacks what is too large to flatten through these. */
int PMPI_Unpack(const void *in, int bytes, int *at, void *out, int count, MPI_Datatype type, MPI_Comm comm)
{
    int (*real)(const void *, int, int *, void *, int, MPI_Datatype, MPI_Comm);
    strange |= !pthread_equal(pthread_self(), program);
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Unpack");
    return real(in, bytes, at, out, count, type, comm);
}

#if MPI_VERSION >= 4
int PMPI_Unpack_c(const void *in, MPI_Count bytes, MPI_Count *at, void *out, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    int (*real)(const void *, MPI_Count, MPI_Count *, void *, MPI_Count, MPI_Datatype, MPI_Comm);
    strange |= !pthread_equal(pthread_self(), program);
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Unpack_c");
    return real(in, bytes, at, out, count, type, comm);
}
#endif

enum way { IRECV_OF_TYPE, PERSISTENT, PAIR, WAYS };
static const char *const way_name[] = {"Irecv", "persistent receive", "Isendrecv"};

/* `count` elements of two ints `stride` ints apart, received from anywhere or from the peer; the send comes early or late. */
static void received(enum way way, bool any, bool early, int count, size_t stride)
{
    int peer = world_rank ^ 1, none = 0;
    size_t ints = (size_t)count * (stride + 1);
    int *in = calloc(ints, sizeof *in), *out = malloc((size_t)count * 2 * sizeof *out);
    MPI_Datatype type;
    MPI_Request request, sent;

    trying("%s of %d times 2 ints %zu apart, from %s, sent %s", way_name[way], count, stride, any ? "anywhere" : "the peer", early ? "before" : "after");
    for (int i = 0; i < 2 * count; i++)
        out[i] = 1000 * peer + i;
    MPI_Barrier(MPI_COMM_WORLD);
    if (early)
        MPI_Isend(out, 2 * count, MPI_INT, peer, 1, MPI_COMM_WORLD, &sent);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_create_hvector(2, 1, (MPI_Aint)(stride * sizeof(int)), MPI_INT, &type);
    MPI_Type_commit(&type);
    if (way == IRECV_OF_TYPE) {
        MPI_Irecv(in, count, type, any ? MPI_ANY_SOURCE : peer, 1, MPI_COMM_WORLD, &request);
    } else if (way == PERSISTENT) {
        MPI_Recv_init(in, count, type, any ? MPI_ANY_SOURCE : peer, 1, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    } else {
        MPI_Isendrecv(&none, 0, MPI_INT, peer, 2, in, count, type, any ? MPI_ANY_SOURCE : peer, 1, MPI_COMM_WORLD, &request);
    }
    MPI_Type_free(&type);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!early)
        MPI_Isend(out, 2 * count, MPI_INT, peer, 1, MPI_COMM_WORLD, &sent);
    MPI_Barrier(MPI_COMM_WORLD); /* the helper may receive it here */
    if (way == PAIR)
        MPI_Recv(&none, 0, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    if (way == PERSISTENT)
        MPI_Request_free(&request);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    /* elements follow each other at their extent, stride + 1 ints */
    int wrong = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++)
            wrong += in[(size_t)i * (stride + 1) + (size_t)k * stride] != 1000 * world_rank + 2 * i + k;
    CHECK(wrong == 0);
    free(in);
    free(out);
}

/* The peer waits for its send while this rank, which has posted the receive, is in a barrier: it is the helper that receives. */
static void received_by_the_helper(size_t stride)
{
    int peer = world_rank ^ 1, out[2] = {5, 6}, *in = calloc(stride + 1, sizeof *in);
    MPI_Datatype type;
    MPI_Request request;

    trying("2 ints %zu apart, received in a barrier", stride);
    MPI_Type_create_hvector(2, 1, (MPI_Aint)(stride * sizeof(int)), MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank % 2 == 0) {
        MPI_Irecv(in, 1, type, peer, 3, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in[0] == 5 && in[stride] == 6);
    } else {
        MPI_Ssend(out, 2, MPI_INT, peer, 3, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(!strange);
    MPI_Type_free(&type);
    free(in);
}

int main(int argc, char **argv)
{
    static const size_t strides[] = {3, 1000, (size_t)80 << 20}; /* the last one is too large to flatten */

    program = pthread_self();
    start(&argc, &argv);
    for (int s = 0; s < 3; s++) {
        for (int way = 0; way < WAYS; way++)
            for (int any = 0; any < 2; any++)
                for (int early = 0; early < 2; early++)
                    received((enum way)way, any != 0, early != 0, s == 2 ? 1 : 40, strides[s]);
        received_by_the_helper(strides[s]);
    }
    return finish("freed_types");
}
