/*
 * transport.h - the transport over MPI, by copies or by ownership. Up to BENCH_DEPTH messages may be under way each way.
 *
 *   bench_post(bytes, peer)      a receive to come
 *   bench_out(bytes)             the buffer of the next message, to be written whole
 *   bench_send(bytes, peer)      sends it: blocking          bench_isend: nonblocking
 *   bench_recv(bytes, peer)      receives a message, blocking; its data
 *   bench_wait()                 completes all that was posted and sent
 *   bench_in(i)                  the data of the i-th posted receive
 *   bench_done()                 all received data were read
 */
#ifndef BENCH_TRANSPORT_H
#define BENCH_TRANSPORT_H

#ifdef BENCH_OPI
#include <opi.h>
#else
#include <mpi.h>
#endif

#ifndef BENCH_DEPTH
#define BENCH_DEPTH 1
#endif
#ifdef BENCH_WILDCARD
#define BENCH_FROM(peer) ((void)(peer), MPI_ANY_SOURCE)
#define BENCH_TAG MPI_ANY_TAG
#else
#define BENCH_FROM(peer) (peer)
#define BENCH_TAG 1
#endif

static uint64_t *bench_outs[BENCH_DEPTH], *bench_ins[BENCH_DEPTH];
static MPI_Request bench_requests[2 * BENCH_DEPTH];
static int bench_nrequests, bench_nposted, bench_nsent;

BENCH_UNUSED static void *bench_memory(size_t bytes)
{
    void *p = NULL;

#ifdef BENCH_ALLOC_MEM
    MPI_Alloc_mem((MPI_Aint)(bytes + 64), MPI_INFO_NULL, &p);
#else
    p = malloc(bytes + 64);
#endif
    if (!p) {
        fprintf(stderr, "%s: out of memory\n", bench_name);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    memset(p, 0, bytes + 64);
    return p;
}

BENCH_UNUSED static void bench_release(void *p)
{
#ifdef BENCH_ALLOC_MEM
    MPI_Free_mem(p);
#else
    free(p);
#endif
}

/* Buffers for messages of up to `bytes`. */
BENCH_UNUSED static void bench_buffers(size_t bytes)
{
#ifdef BENCH_OPI
    (void)bytes;
#else
    for (int i = 0; i < BENCH_DEPTH; i++) {
        if (bench_outs[i])
            bench_release(bench_outs[i]);
        if (bench_ins[i])
            bench_release(bench_ins[i]);
        bench_outs[i] = bench_memory(bytes);
        bench_ins[i] = bench_memory(bytes);
    }
#endif
}

BENCH_UNUSED static uint64_t *bench_out(size_t bytes)
{
#ifdef BENCH_OPI
    OPI_Alloc(&bench_outs[bench_nsent], bytes);
#else
    (void)bytes;
#endif
    return bench_outs[bench_nsent];
}

BENCH_UNUSED static void bench_post(size_t bytes, int peer)
{
    MPI_Request *r = &bench_requests[bench_nrequests++];

#ifdef BENCH_OPI
    OPI_Itake(&bench_ins[bench_nposted++], (int)bytes, MPI_BYTE, BENCH_FROM(peer), BENCH_TAG, MPI_COMM_WORLD, r);
#else
    MPI_Irecv(bench_ins[bench_nposted++], (int)bytes, MPI_BYTE, BENCH_FROM(peer), BENCH_TAG, MPI_COMM_WORLD, r);
#endif
}

BENCH_UNUSED static void bench_send(size_t bytes, int peer)
{
#ifdef BENCH_OPI
    OPI_Give(&bench_outs[0], (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
#else
    MPI_Send(bench_outs[0], (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
#endif
}

BENCH_UNUSED static void bench_isend(size_t bytes, int peer)
{
    MPI_Request *r = &bench_requests[bench_nrequests++];

#ifdef BENCH_OPI
    OPI_Igive(&bench_outs[bench_nsent++], (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, r);
#else
    MPI_Isend(bench_outs[bench_nsent++], (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, r);
#endif
}

BENCH_UNUSED static const uint64_t *bench_recv(size_t bytes, int peer)
{
#ifdef BENCH_OPI
    OPI_Take(&bench_ins[0], (int)bytes, MPI_BYTE, BENCH_FROM(peer), BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    MPI_Recv(bench_ins[0], (int)bytes, MPI_BYTE, BENCH_FROM(peer), BENCH_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    bench_nposted = 1;
    return bench_ins[0];
}

BENCH_UNUSED static void bench_wait(void)
{
    MPI_Waitall(bench_nrequests, bench_requests, MPI_STATUSES_IGNORE);
    bench_nrequests = bench_nsent = 0;
}

BENCH_UNUSED static const uint64_t *bench_in(int i)
{
    return bench_ins[i];
}

BENCH_UNUSED static void bench_done(void)
{
#ifdef BENCH_OPI
    for (int i = 0; i < bench_nposted; i++)
        OPI_Free(&bench_ins[i]);
#endif
    bench_nposted = 0;
}

BENCH_UNUSED static void bench_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Arguments: ITERATIONS MAX_BYTES. */
BENCH_UNUSED static void bench_start(const char *name, int argc, char **argv)
{
    bench_name = name;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench_size);
    bench_most = argc > 1 ? atoi(argv[1]) : 100;
    bench_max_bytes = argc > 2 ? (size_t)atol(argv[2]) : 4096;
}

BENCH_UNUSED static int bench_stop(void)
{
    long all = 0;

    MPI_Allreduce(&bench_wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (bench_rank == 0)
        printf("%s wrong=%ld\n", bench_name, all);
    MPI_Finalize();
    return all != 0;
}

#endif
