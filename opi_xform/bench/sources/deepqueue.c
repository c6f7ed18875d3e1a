/*
 * deepqueue: time per message when thousands of receives are posted: rank 1 posts DEPTH receives of different tags, rank 0
 * sends to the last one first. Point `posted`: the receives are posted before the messages come; `unexpected`: the messages
 * are there before the receives, which take the last one first.
 *
 *   mpiexec -n 2 ./deepqueue [samples [max_depth]]
 */
#include "bench.h"

#define MOST 16384

static MPI_Request requests[MOST];
static uint64_t words[MOST];

static void one_way(int depth, int reverse_sends)
{
    char go = 0;

    if (bench_rank == 0) {
        MPI_Recv(&go, 0, MPI_CHAR, 1, MOST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < depth; i++) {
            int tag = reverse_sends ? depth - 1 - i : i;
            words[tag] = (uint64_t)tag * 3;
            MPI_Isend(&words[tag], (int)sizeof words[tag], MPI_BYTE, 1, tag, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Send(&go, 0, MPI_CHAR, 1, MOST, MPI_COMM_WORLD);
        MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(&go, 0, MPI_CHAR, 1, MOST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    if (reverse_sends)
        for (int i = 0; i < depth; i++)
            MPI_Irecv(&words[i], (int)sizeof words[i], MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(&go, 0, MPI_CHAR, 0, MOST, MPI_COMM_WORLD);
    MPI_Recv(&go, 0, MPI_CHAR, 0, MOST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (reverse_sends)
        MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
    else
        for (int i = depth - 1; i >= 0; i--)
            MPI_Recv(&words[i], (int)sizeof words[i], MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < depth; i++)
        bench_wrong += words[i] != (uint64_t)i * 3;
    MPI_Send(&go, 0, MPI_CHAR, 0, MOST, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char point[40];

    bench_start("deepqueue", argc, argv);
    if (bench_max_bytes > MOST)
        bench_max_bytes = MOST;
    for (int reverse = 1; reverse >= 0; reverse--)
        for (int depth = 1; depth <= (int)bench_max_bytes; depth *= 8) {
            int count = bench_count((size_t)depth * 2048);
            for (int i = 0; i < BENCH_WARM_UP + count; i++) {
                bench_barrier();
                double t = bench_now();
                one_way(depth, reverse);
                if (i >= BENCH_WARM_UP)
                    bench_keep(bench_now() - t);
            }
            snprintf(point, sizeof point, "%s-%d", reverse ? "posted" : "unexpected", depth);
            bench_print(sizeof words[0], point, depth);
        }
    return bench_stop();
}
