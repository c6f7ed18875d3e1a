/*
 * bench.h - what the benchmark programs share: the transport, the clock, the samples, and how results are printed.
 *
 * One source, four builds:
 *   (nothing)            plain MPI calls; buffers from malloc
 *   -DBENCH_ALLOC_MEM    the same calls; buffers from MPI_Alloc_mem, which libopi makes reachable for the whole node
 *   -DBENCH_OPI          ownership passing: every message is a give and a take
 *   -DBENCH_BARE         the limit: two processes hand pointers through shared mailboxes, no MPI
 *
 * Each program prints one line per measured point and, last, how many words came out wrong:
 *   NAME bytes=64 [point=TEXT] median_us=0.1234
 *   NAME wrong=0
 */
#ifndef BENCH_H
#define BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_SAMPLES 1000
#define BENCH_WARM_UP 5

#define BENCH_UNUSED __attribute__((unused))

static const char *bench_name;
static int bench_rank, bench_size, bench_most;
static size_t bench_max_bytes;
static long bench_wrong;
static double bench_sample[BENCH_SAMPLES];
static int bench_samples;

static double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

#ifdef BENCH_BARE
#include "bare.h"
#else
#include "transport.h"
#endif

static int bench_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of the samples of rank 0, which prints it; `per` operations were one sample. */
BENCH_UNUSED static void bench_print(size_t bytes, const char *point, double per)
{
    if (bench_rank == 0) {
        qsort(bench_sample, (size_t)bench_samples, sizeof bench_sample[0], bench_by_value);
        printf("%s bytes=%zu%s%s median_us=%.5f\n", bench_name, bytes, point ? " point=" : "", point ? point : "",
               bench_sample[bench_samples / 2] / per);
        fflush(stdout);
    }
    bench_samples = 0;
}

BENCH_UNUSED static void bench_keep(double us)
{
    if (bench_samples < BENCH_SAMPLES)
        bench_sample[bench_samples++] = us;
}

/* How many samples for messages of this size: as many as asked for, fewer for large ones. */
BENCH_UNUSED static int bench_count(size_t bytes)
{
    size_t fit = ((size_t)64 << 20) / (bytes + 1);
    int most = bench_most < BENCH_SAMPLES ? bench_most : BENCH_SAMPLES;

    return fit < (size_t)most ? (fit < 10 ? 10 : (int)fit) : most;
}

/* Writes every word of a message. */
BENCH_UNUSED static void bench_fill(uint64_t *buffer, size_t bytes, uint64_t seed)
{
    size_t words = bytes / sizeof *buffer;

    for (size_t i = 0; i < words; i++)
        buffer[i] = seed + i;
}

/* Reads every word of a message, and counts a wrong sum. */
BENCH_UNUSED static void bench_check(const uint64_t *buffer, size_t bytes, uint64_t seed)
{
    uint64_t words = bytes / sizeof *buffer, sum = 0;

    for (size_t i = 0; i < words; i++)
        sum += buffer[i];
    bench_wrong += sum != words * seed + words * (words - 1) / 2;
}

#endif
