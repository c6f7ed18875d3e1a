/*
 * manytoone: time per message at a rank to which all others send: each sends 16 messages, nonblocking, and the receiver
 * takes them in the order of the ranks; then it tells all that it is done. Every byte is written and read.
 *
 *   mpiexec -n N ./manytoone [samples [max_bytes]]
 */
#define BENCH_DEPTH 1
#include "bench.h"

#define BURST 16

static void send_burst(size_t bytes, uint64_t seed)
{
    char done;

    for (int j = 0; j < BURST; j++) {
        bench_fill(bench_out(bytes), bytes, seed + (uint64_t)(j + bench_rank));
        bench_send(bytes, 0);
    }
    MPI_Recv(&done, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_bursts(size_t bytes, uint64_t seed)
{
    char done = 0;

    for (int j = 0; j < BURST; j++)
        for (int source = 1; source < bench_size; source++) {
            bench_check(bench_recv(bytes, source), bytes, seed + (uint64_t)(j + source));
            bench_done();
        }
    for (int rank = 1; rank < bench_size; rank++)
        MPI_Send(&done, 0, MPI_CHAR, rank, 2, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    bench_start("manytoone", argc, argv);
    for (size_t bytes = 8; bytes <= bench_max_bytes; bytes *= 8) {
        int count = bench_count(bytes * BURST);
        bench_buffers(bytes);
        bench_barrier();
        for (int i = 0; i < BENCH_WARM_UP + count; i++) {
            double t = bench_now();
            if (bench_rank == 0)
                receive_bursts(bytes, (uint64_t)i);
            else
                send_burst(bytes, (uint64_t)i);
            if (i >= BENCH_WARM_UP)
                bench_keep(bench_now() - t);
        }
        bench_print(bytes, NULL, (double)BURST * (bench_size - 1));
    }
    return bench_stop();
}
