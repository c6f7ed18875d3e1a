/*
 * latency: half the time of a ping-pong of two ranks, 8 B to 4 MiB; every byte is written before it is sent and read after
 * it came.
 *
 *   mpiexec -n 2 ./latency [samples [max_bytes]]
 */
#include "bench.h"

#ifdef BENCH_NODES
#define NAME "nodes" /* the benchmark of that name: each rank is made a node of its own */
#else
#define NAME "latency"
#endif

static void ping(size_t bytes, uint64_t seed)
{
    bench_fill(bench_out(bytes), bytes, seed);
    bench_send(bytes, 1 - bench_rank);
}

static void pong(size_t bytes, uint64_t seed)
{
    bench_check(bench_recv(bytes, 1 - bench_rank), bytes, seed);
    bench_done();
}

int main(int argc, char **argv)
{
    bench_start(NAME, argc, argv);
    for (size_t bytes = 8; bytes <= bench_max_bytes; bytes *= 2) {
        int count = bench_count(bytes), batch = bytes <= 4096 ? 20 : 1;
        bench_buffers(bytes);
        bench_barrier();
        for (int i = 0; i < BENCH_WARM_UP + count; i++) {
            double t = bench_now();
            for (int j = 0; j < batch; j++) {
                if (bench_rank == 0) {
                    ping(bytes, (uint64_t)(i + j));
                    pong(bytes, (uint64_t)(i + j + 1));
                } else {
                    pong(bytes, (uint64_t)(i + j));
                    ping(bytes, (uint64_t)(i + j + 1));
                }
            }
            if (i >= BENCH_WARM_UP)
                bench_keep(bench_now() - t);
        }
        bench_print(bytes, NULL, 2.0 * batch);
    }
    return bench_stop();
}
