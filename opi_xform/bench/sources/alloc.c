/*
 * alloc: time of an allocation and its release, one rank. Point `pair`: one buffer at a time; `batch`: 32 at once, freed in
 * the order of their allocation. By build: malloc and free (-DBENCH_MALLOC), MPI_Alloc_mem and MPI_Free_mem, OPI_Alloc and
 * OPI_Free (-DBENCH_OPI). Each buffer's first word is written.
 *
 *   mpiexec -n 1 ./alloc [samples [max_bytes]]
 */
#include "bench.h"

#define BATCH 32
#define CALLS 256

static void *volatile sink; /* keeps the compiler from removing a malloc that nobody reads */

static inline void get(void **p, size_t bytes)
{
#if defined(BENCH_OPI)
    OPI_Alloc(p, bytes);
#elif defined(BENCH_MALLOC)
    *p = malloc(bytes);
#else
    MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, p);
#endif
    *(uint64_t *)*p = bytes;
}

static inline void put(void **p)
{
    sink = *p;
#if defined(BENCH_OPI)
    OPI_Free(p);
#elif defined(BENCH_MALLOC)
    free(*p);
#else
    MPI_Free_mem(*p);
#endif
}

int main(int argc, char **argv)
{
    static void *at[BATCH];

    bench_start("alloc", argc, argv);
    for (int batch = 0; batch < 2; batch++)
        for (size_t bytes = 16; bytes <= bench_max_bytes; bytes *= 8) {
            int many = batch ? BATCH : 1;
            for (int i = 0; i < BENCH_WARM_UP + bench_most; i++) {
                double t = bench_now();
                for (int j = 0; j < CALLS; j += many) {
                    for (int k = 0; k < many; k++)
                        get(&at[k], bytes);
                    for (int k = 0; k < many; k++)
                        put(&at[k]);
                }
                if (i >= BENCH_WARM_UP)
                    bench_keep(bench_now() - t);
            }
            bench_print(bytes, batch ? "batch" : "pair", CALLS);
        }
    return bench_stop();
}
