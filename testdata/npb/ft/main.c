/* FT: a random field diffuses, computed in the frequencies (NAS report
 * RNR-94-007, section 2.4).  Checked are the published sums of 1024 points of
 * the field after each step. */
#include "ft.h"
#include "../rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED    UINT64_C(314159265)
#define ALPHA   1e-6
#define EPSILON 1e-12

static const double pi = 3.14159265358979323846;

static void random_field(const grid_t *g, double complex *slabs)
{
    size_t plane = (size_t)g->nx * g->ny;
    uint64_t x = rng_skip(SEED, 2 * plane * g->first_plane);

    for (size_t i = 0; i < plane * g->planes; i++) {
        double re = rng_next(&x);
        double im = rng_next(&x);
        slabs[i] = re + I * im;
    }
}

static void fft_planes(const grid_t *g, double complex *slabs, int sign)
{
    size_t plane = (size_t)g->nx * g->ny;
    for (int k = 0; k < g->planes; k++) {
        for (int j = 0; j < g->ny; j++)
            fft(slabs + k * plane + (size_t)j * g->nx, g->nx, 1, sign);
        for (int i = 0; i < g->nx; i++)
            fft(slabs + k * plane + i, g->ny, g->nx, sign);
    }
}

static void fft_columns(const grid_t *g, double complex *columns, int sign)
{
    for (int c = 0; c < g->columns; c++)
        fft(columns + (size_t)c * g->nz, g->nz, 1, sign);
}

/* The square of the frequency of number i among n. */
static int frequency2(int i, int n)
{
    int f = i < n / 2 ? i : i - n;
    return f * f;
}

/* By how much each frequency fades in a step. */
static void make_fading(const grid_t *g, double *fading)
{
    for (int c = 0; c < g->columns; c++) {
        int i = (g->first_column + c) % g->nx, j = (g->first_column + c) / g->nx;
        int ij = frequency2(i, g->nx) + frequency2(j, g->ny);
        for (int k = 0; k < g->nz; k++)
            fading[(size_t)c * g->nz + k] = exp(-4.0 * ALPHA * pi * pi * (ij + frequency2(k, g->nz)));
    }
}

static void checksum(const grid_t *g, const double complex *slabs, double sum[2])
{
    double mine[2] = { 0.0, 0.0 }, points = (double)g->nx * g->ny * g->nz;

    for (int q = 1; q <= 1024; q++) {
        int i = q % g->nx, j = 3 * q % g->ny, k = 5 * q % g->nz - g->first_plane;
        if (k >= 0 && k < g->planes) {
            double complex z = slabs[((size_t)k * g->ny + j) * g->nx + i];
            mine[0] += creal(z);
            mine[1] += cimag(z);
        }
    }
    MPI_Allreduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum[0] /= points;
    sum[1] /= points;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const class_t *c = find_class(argc > 1 ? argv[1][0] : 'S');
    int pointwise = argc > 2 && strcmp(argv[2], "p2p") == 0;
    if (!c || size > MAXRANKS || c->nz % size != 0 || (argc > 2 && !pointwise)) {
        if (rank == 0)
            fprintf(stderr, "usage: ft [S|W|A|B [p2p]], on a power of two of ranks, at most 32\n");
        MPI_Finalize();
        return 2;
    }

    grid_t g = { .nx = c->nx, .ny = c->ny, .nz = c->nz };
    g.planes = g.nz / size;
    g.first_plane = rank * g.planes;
    g.columns = g.nx * g.ny / size;
    g.first_column = rank * g.columns;
    size_t count = (size_t)g.columns * g.nz;
    double complex *slabs = allocate(count * sizeof *slabs);
    double complex *columns = allocate(count * sizeof *columns), *faded = allocate(count * sizeof *faded);
    double *fading = allocate(count * sizeof *fading);
    int longest = g.nx > g.ny ? g.nx : g.ny;
    fft_init(longest > g.nz ? longest : g.nz);
    transpose_init(&g, pointwise);
    random_field(&g, slabs);
    make_fading(&g, fading);

    int good = 1;
    double start = MPI_Wtime();
    if (rank == 0)
        printf("ft: class %c, %d x %d x %d points, %s\n", c->name, c->nx, c->ny, c->nz,
               pointwise ? "messages" : "all-to-all");
    fft_planes(&g, slabs, -1);
    to_columns(&g, slabs, columns);
    fft_columns(&g, columns, -1);
    for (int step = 0; step < c->steps; step++) {
        double sum[2];
        for (size_t i = 0; i < count; i++) {
            columns[i] *= fading[i];
            faded[i] = columns[i];
        }
        fft_columns(&g, faded, 1);
        to_slabs(&g, faded, slabs);
        fft_planes(&g, slabs, 1);
        checksum(&g, slabs, sum);
        for (int k = 0; k < 2; k++)
            good = good && fabs((sum[k] - c->sums[step][k]) / c->sums[step][k]) <= EPSILON;
        if (rank == 0)
            printf("step %d: sum %.12e %.12e, want %.12e %.12e\n", step + 1, sum[0], sum[1],
                   c->sums[step][0], c->sums[step][1]);
    }
    double spent = MPI_Wtime() - start, slowest;
    MPI_Reduce(&spent, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("time %.6f s\n", slowest);
        printf("verification: %s\n", good ? "SUCCESSFUL" : "FAILED");
    }

    transpose_finish();
    fft_finish();
    free(slabs);
    free(columns);
    free(faded);
    free(fading);
    MPI_Finalize();
    return good ? 0 : 1;
}
