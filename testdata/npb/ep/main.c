/* EP: pairs of Gaussian deviates from uniform random numbers, counted in
 * square annuli (NAS report RNR-94-007, section 2.1).  The ranks share the
 * batches and only add up at the end. */
#include "../rng.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define SEED    UINT64_C(271828183)
#define BATCH   16              /* log2 of the pairs in a batch */
#define ANNULI  10
#define EPSILON 1e-8

/* log2 of the pairs, and the published sums of the deviates. */
static const struct { char name; int m; double sx, sy; } classes[] = {
    { 'S', 24, -3.247834652034740e+3, -6.958407078382297e+3 },
    { 'W', 25, -2.863319731645753e+3, -6.320053679109499e+3 },
    { 'A', 28, -4.295875165629892e+3, -1.580732573678431e+4 },
    { 'B', 30, 4.033815542441498e+4, -2.660669192809235e+4 },
};

/* Batch number k: adds to the sums of the deviates and to the counts. */
static void batch(uint64_t k, double sum[2], double *count)
{
    uint64_t x = rng_skip(SEED, k << (BATCH + 1));

    for (int i = 0; i < 1 << BATCH; i++) {
        double u = 2.0 * rng_next(&x) - 1.0;
        double v = 2.0 * rng_next(&x) - 1.0;
        double t = u * u + v * v;
        if (t > 1.0)
            continue;
        double scale = sqrt(-2.0 * log(t) / t);
        double gx = u * scale, gy = v * scale;
        count[(int)fmax(fabs(gx), fabs(gy))] += 1.0;
        sum[0] += gx;
        sum[1] += gy;
    }
}

int main(int argc, char **argv)
{
    int rank, size, which = -1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    char name = argc > 1 ? argv[1][0] : 'S';
    for (int c = 0; c < (int)(sizeof classes / sizeof classes[0]); c++)
        if (classes[c].name == name)
            which = c;
    if (which < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: ep [S|W|A|B]\n");
        MPI_Finalize();
        return 2;
    }

    double mine[2] = { 0.0, 0.0 }, sum[2], count[ANNULI] = { 0.0 }, counts[ANNULI], spent, longest;
    double start = MPI_Wtime();
    for (int k = rank; k < 1 << (classes[which].m - BATCH); k += size)
        batch((uint64_t)k, mine, count);
    MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(count, counts, ANNULI, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    spent = MPI_Wtime() - start;
    MPI_Reduce(&spent, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int good = fabs(sum[0] / classes[which].sx - 1.0) <= EPSILON
            && fabs(sum[1] / classes[which].sy - 1.0) <= EPSILON;
    if (rank == 0) {
        double pairs = 0.0;
        for (int i = 0; i < ANNULI; i++)
            pairs += counts[i];
        printf("ep: class %c, 2^%d pairs\n", name, classes[which].m);
        printf("sums: %.15e %.15e\n", sum[0], sum[1]);
        printf("want: %.15e %.15e\n", classes[which].sx, classes[which].sy);
        printf("pairs of deviates: %.0f\n", pairs);
        for (int i = 0; i < ANNULI; i++)
            printf("annulus %d: %.0f\n", i, counts[i]);
        printf("time %.6f s\n", longest);
        printf("verification: %s\n", good ? "SUCCESSFUL" : "FAILED");
    }
    MPI_Finalize();
    return good ? 0 : 1;
}
