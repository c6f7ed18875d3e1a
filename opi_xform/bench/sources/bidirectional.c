/*
 * bidirectional: time of an exchange: both ranks post a receive, write a message, send it, wait for both, and read what
 * came; 8 B to 4 MiB.
 *
 *   mpiexec -n 2 ./bidirectional [samples [max_bytes]]
 */
#include "bench.h"

int main(int argc, char **argv)
{
    bench_start("bidirectional", argc, argv);
    for (size_t bytes = 8; bytes <= bench_max_bytes; bytes *= 2) {
        int count = bench_count(bytes), batch = bytes <= 4096 ? 20 : 1;
        bench_buffers(bytes);
        bench_barrier();
        for (int i = 0; i < BENCH_WARM_UP + count; i++) {
            double t = bench_now();
            for (int j = 0; j < batch; j++) {
                bench_post(bytes, 1 - bench_rank);
                bench_fill(bench_out(bytes), bytes, (uint64_t)(i + j));
                bench_isend(bytes, 1 - bench_rank);
                bench_wait();
                bench_check(bench_in(0), bytes, (uint64_t)(i + j));
                bench_done();
            }
            if (i >= BENCH_WARM_UP)
                bench_keep(bench_now() - t);
        }
        bench_print(bytes, NULL, batch);
    }
    return bench_stop();
}
