/*
 * cache: what communication does to the program's cache (Friedley et al., Hybrid MPI, section 5, figure 15). A data buffer
 * is read, so that it is in the cache; a ping-pong follows, with the data buffer itself (`common`) or with another one
 * (`separate`), or none (`none`); then the data buffer is read again, in order or in random order, a word of each line.
 * Measured is the second read: its time, and the misses of the first-level data cache: by the processor's counter where
 * there is one (printed as misses=), else by a run under cachegrind, which counts those of the functions read_again_*.
 *
 *   mpiexec -n 2 ./cache [samples [max_bytes]]      1024, 4096 and 16384 bytes
 */
#include "bench.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE 64
#define DATA_MOST 32768

static uint32_t order[2][DATA_MOST / LINE];

static int open_counter(void)
{
    struct perf_event_attr a;

    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.type = PERF_TYPE_HW_CACHE;
    a.config = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
    a.exclude_kernel = a.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

static long counted(int counter)
{
    uint64_t value = 0;

    return counter >= 0 && read(counter, &value, sizeof value) == sizeof value ? (long)value : 0;
}

/* The second read, a function for each combination of order, mode and size: cachegrind reports by function. */
typedef uint64_t reader(const unsigned char *data, const uint32_t *at, int lines);

#define ID(order, mode, size) ((uint64_t)(1 + (order) * 9 + (mode) * 3 + (size)))
#define READER(order, mode, size)                                                                                      \
    __attribute__((noinline, noclone)) static uint64_t read_again_##order##_##mode##_##size(                           \
        const unsigned char *data, const uint32_t *at, int lines)                                                      \
    {                                                                                                                  \
        uint64_t sum = ID(order, mode, size); /* differs, so that the compiler does not merge the functions */         \
        for (int i = 0; i < lines; i++)                                                                                \
            sum += data[at[i]];                                                                                        \
        return sum;                                                                                                    \
    }
#define READERS(order, mode) READER(order, mode, 0) READER(order, mode, 1) READER(order, mode, 2)
#define SIZES(order, mode) {read_again_##order##_##mode##_0, read_again_##order##_##mode##_1, read_again_##order##_##mode##_2}

READERS(0, 0)
READERS(0, 1)
READERS(0, 2)
READERS(1, 0)
READERS(1, 1)
READERS(1, 2)

static reader *const readers[2][3][3] = {{SIZES(0, 0), SIZES(0, 1), SIZES(0, 2)}, {SIZES(1, 0), SIZES(1, 1), SIZES(1, 2)}};

__attribute__((noinline, noclone)) static uint64_t read_first(const unsigned char *data, const uint32_t *at, int lines)
{
    uint64_t sum = 0;

    for (int i = 0; i < lines; i++)
        sum += data[at[i]];
    return sum;
}

static void ping_pong(void *out, void *in, size_t bytes)
{
    int peer = 1 - bench_rank;

    if (bench_rank == 0) {
        MPI_Send(out, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(in, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, (int)bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
}

static void make_orders(void)
{
    for (int i = 0; i < DATA_MOST / LINE; i++)
        order[0][i] = (uint32_t)(i * LINE);
}

/* A random order of the first `lines` lines. */
static void shuffle(int lines)
{
    uint32_t seed = 12345;

    for (int i = 0; i < lines; i++)
        order[1][i] = (uint32_t)(i * LINE);
    for (int i = lines - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int j = (int)((seed >> 8) % (uint32_t)(i + 1));
        uint32_t keep = order[1][i];
        order[1][i] = order[1][j];
        order[1][j] = keep;
    }
}

int main(int argc, char **argv)
{
    static const char *const orders[] = {"sequential", "random"}, *const modes[] = {"none", "common", "separate"};
    unsigned char *data, *comm;
    char point[80];
    uint64_t sum = 0, want = 0;

    bench_start("cache", argc, argv);
    data = bench_memory(DATA_MOST);
    comm = bench_memory(DATA_MOST);
    int counter = open_counter();
    make_orders();
    size_t bytes = 1024;
    for (int size = 0; size < 3 && bytes <= bench_max_bytes; size++, bytes *= 4)
        for (int how = 0; how < 2; how++)
            for (int mode = 0; mode < 3; mode++) {
                int lines = (int)(bytes / LINE);
                shuffle(lines);
                memset(data, 1, bytes);
                memset(comm, 1, bytes);
                long misses = 0;
                bench_barrier();
                for (int i = 0; i < BENCH_WARM_UP + bench_most; i++) {
                    sum += read_first(data, order[how], lines);
                    if (mode == 1)
                        ping_pong(data, data, bytes);
                    else if (mode == 2)
                        ping_pong(comm, comm, bytes);
                    long before = counted(counter);
                    double t = bench_now();
                    sum += readers[how][mode][size](data, order[how], lines) - ID(how, mode, size);
                    t = bench_now() - t;
                    misses += counted(counter) - before;
                    want += 2 * (uint64_t)lines;
                    if (i >= BENCH_WARM_UP)
                        bench_keep(t);
                }
                snprintf(point, sizeof point, "%s-%s", orders[how], modes[mode]);
                if (bench_rank == 0 && counter >= 0)
                    printf("cache bytes=%zu point=%s misses=%.4f\n", bytes, point,
                           (double)misses / ((double)lines * (BENCH_WARM_UP + bench_most)));
                bench_print(bytes, point, 1);
            }
    bench_wrong += sum != want;
    bench_release(data);
    bench_release(comm);
    return bench_stop();
}
