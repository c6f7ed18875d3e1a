/*
 * alltoall: time of an exchange of all ranks with all: each writes a message for every rank, itself included, exchanges
 * them by MPI_Alltoall or MPI_Alltoallv, and reads what came. The size is that of one message.
 * With -DBENCH_MESSAGES the same exchange by MPI_Irecv, MPI_Isend, MPI_Waitall and a copy of its own message.
 *
 *   mpiexec -n N ./alltoall [samples [max_bytes]]
 */
#include "bench.h"

static int *counts, *places;

#ifdef BENCH_MESSAGES
static MPI_Request *requests;

static void exchange(const uint64_t *out, uint64_t *in, size_t bytes, int vector)
{
    size_t words = bytes / sizeof *out;
    int n = 0;

    (void)vector;
    for (int i = 1; i < bench_size; i++) {
        int peer = (bench_rank - i + bench_size) % bench_size;
        MPI_Irecv(in + (size_t)peer * words, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[n++]);
    }
    for (int i = 1; i < bench_size; i++) {
        int peer = (bench_rank + i) % bench_size;
        MPI_Isend(out + (size_t)peer * words, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[n++]);
    }
    memcpy(in + (size_t)bench_rank * words, out + (size_t)bench_rank * words, bytes);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}
#else
static void exchange(const uint64_t *out, uint64_t *in, size_t bytes, int vector)
{
    if (vector)
        MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    else
        MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}
#endif

static void run(size_t bytes, int vector, uint64_t *out, uint64_t *in)
{
    int count = bench_count(bytes * (size_t)bench_size), batch = bytes <= 4096 ? 20 : 1;
    size_t words = bytes / sizeof *out;

    for (int i = 0; i < bench_size; i++) {
        counts[i] = (int)bytes;
        places[i] = (int)((size_t)i * bytes);
    }
    bench_barrier();
    for (int i = 0; i < BENCH_WARM_UP + count; i++) {
        double t = bench_now();
        for (int j = 0; j < batch; j++) {
            uint64_t seed = (uint64_t)(i + j);
            for (int to = 0; to < bench_size; to++)
                bench_fill(out + (size_t)to * words, bytes, seed + (uint64_t)(bench_rank + 2 * to));
            exchange(out, in, bytes, vector);
            for (int from = 0; from < bench_size; from++)
                bench_check(in + (size_t)from * words, bytes, seed + (uint64_t)(from + 2 * bench_rank));
        }
        if (i >= BENCH_WARM_UP)
            bench_keep(bench_now() - t);
    }
    bench_print(bytes, vector ? "alltoallv" : "alltoall", batch);
}

int main(int argc, char **argv)
{
    bench_start("alltoall", argc, argv);
    size_t ranks = (size_t)bench_size;
    counts = malloc(ranks * sizeof *counts);
    places = malloc(ranks * sizeof *places);
    uint64_t *out = bench_memory(ranks * bench_max_bytes), *in = bench_memory(ranks * bench_max_bytes);
#ifdef BENCH_MESSAGES
    requests = malloc(2 * ranks * sizeof *requests);
#endif
    for (int vector = 0; vector < 2; vector++)
        for (size_t bytes = 16; bytes <= bench_max_bytes; bytes *= 4)
            run(bytes, vector, out, in);
    return bench_stop();
}
