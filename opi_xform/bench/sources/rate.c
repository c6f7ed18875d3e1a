/*
 * rate: time per message when 64 are under way at once: 64 nonblocking sends one way, completed by one MPI_Waitall on each
 * side, then 64 the other way; every byte is written and read. With -DBENCH_WILDCARD the receives name neither source nor
 * tag (the benchmark `wildcard`).
 *
 *   mpiexec -n 2 ./rate [samples [max_bytes]]
 */
#define BENCH_DEPTH 64
#include "bench.h"

static void send_all(size_t bytes, uint64_t seed)
{
    for (int j = 0; j < BENCH_DEPTH; j++) {
        bench_fill(bench_out(bytes), bytes, seed + (uint64_t)j);
        bench_isend(bytes, 1 - bench_rank);
    }
    bench_wait();
}

static void receive_all(size_t bytes, uint64_t seed)
{
    for (int j = 0; j < BENCH_DEPTH; j++)
        bench_post(bytes, 1 - bench_rank);
    bench_wait();
    for (int j = 0; j < BENCH_DEPTH; j++)
        bench_check(bench_in(j), bytes, seed + (uint64_t)j);
    bench_done();
}

int main(int argc, char **argv)
{
#ifdef BENCH_WILDCARD
    bench_start("wildcard", argc, argv);
#else
    bench_start("rate", argc, argv);
#endif
    for (size_t bytes = 8; bytes <= bench_max_bytes; bytes *= 4) {
        int count = bench_count(bytes * BENCH_DEPTH);
        bench_buffers(bytes);
        bench_barrier();
        for (int i = 0; i < BENCH_WARM_UP + count; i++) {
            double t = bench_now();
            if (bench_rank == 0) {
                send_all(bytes, (uint64_t)i);
                receive_all(bytes, (uint64_t)i + 1);
            } else {
                receive_all(bytes, (uint64_t)i);
                send_all(bytes, (uint64_t)i + 1);
            }
            if (i >= BENCH_WARM_UP)
                bench_keep(bench_now() - t);
        }
        bench_print(bytes, NULL, 2.0 * BENCH_DEPTH);
    }
    return bench_stop();
}
