/*
 * tune: what `opi-bench tune` runs with a path of libopi switched on and off: a message one way (half a ping-pong), and both
 * ways at once, from MIN_BYTES to MAX_BYTES; every byte is written before and read after.
 *
 *   mpiexec -n 2 ./tune [samples [max_bytes [min_bytes]]]
 */
#include "bench.h"

static void one_way(size_t bytes, uint64_t seed)
{
    for (int turn = 0; turn < 2; turn++) {
        if (turn == bench_rank) {
            bench_fill(bench_out(bytes), bytes, seed);
            bench_send(bytes, 1 - bench_rank);
        } else {
            bench_check(bench_recv(bytes, 1 - bench_rank), bytes, seed);
            bench_done();
        }
    }
}

static void both_ways(size_t bytes, uint64_t seed)
{
    bench_post(bytes, 1 - bench_rank);
    bench_fill(bench_out(bytes), bytes, seed);
    bench_isend(bytes, 1 - bench_rank);
    bench_wait();
    bench_check(bench_in(0), bytes, seed);
    bench_done();
}

static void run(size_t bytes, int both)
{
    int count = bench_count(bytes), batch = bytes <= 4096 ? 20 : 1;

    bench_barrier();
    for (int i = 0; i < BENCH_WARM_UP + count; i++) {
        double t = bench_now();
        for (int j = 0; j < batch; j++) {
            if (both)
                both_ways(bytes, (uint64_t)(i + j));
            else
                one_way(bytes, (uint64_t)(i + j));
        }
        if (i >= BENCH_WARM_UP)
            bench_keep(bench_now() - t);
    }
    bench_print(bytes, both ? "both" : "oneway", batch * (both ? 1.0 : 2.0));
}

int main(int argc, char **argv)
{
    bench_start("tune", argc, argv);
    for (size_t bytes = argc > 3 ? (size_t)atol(argv[3]) : 64; bytes <= bench_max_bytes; bytes *= 2) {
        bench_buffers(bytes);
        run(bytes, 0);
        run(bytes, 1);
    }
    return bench_stop();
}
