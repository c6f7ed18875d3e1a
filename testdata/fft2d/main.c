/* Two-dimensional complex FFT, rows spread over the ranks: transform rows,
 * transpose, transform what used to be columns; and back.  The input comes back
 * after each cycle up to rounding, and two plane waves give two known peaks. */
#define _POSIX_C_SOURCE 200112L
#include "fft.h"
#include "transpose.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-10

/* The two waves of the input: frequencies and amplitudes. */
static const int wave_x[2] = { 3, 5 }, wave_y[2] = { 2, 7 };
static const double amplitude[2] = { 1.0, 0.25 };

static double complex input(int n, int i, int j)
{
    double complex sum = 0.0;
    for (int w = 0; w < 2; w++) {
        double phase = 2.0 * acos(-1.0) * ((wave_x[w] * i + wave_y[w] * j) % n) / n;
        sum += amplitude[w] * (cos(phase) + I * sin(phase));
    }
    return sum;
}

/* What the spectrum, divided by n^2, must be at frequencies (kx, ky). */
static double spectrum(int n, int kx, int ky)
{
    double sum = 0.0;
    for (int w = 0; w < 2; w++)
        if (kx == wave_x[w] % n && ky == wave_y[w] % n)
            sum += amplitude[w];
    return sum;
}

/* A sum of all bits, weighted with the global position: the same for every
 * order of summation, hence for every number of ranks. */
static uint64_t checksum(int n, int nrows, int first, const double complex *x)
{
    uint64_t sum = 0;
    for (int i = 0; i < nrows; i++)
        for (int j = 0; j < n; j++) {
            uint64_t where = (uint64_t)(first + i) * n + j, bits[2];
            memcpy(bits, &x[(size_t)i * n + j], sizeof bits);
            sum += bits[0] * (4 * where + 1) + bits[1] * (4 * where + 3);
        }
    return sum;
}

static double complex *new_matrix(int nrows, int n)
{
    double complex *m = malloc((size_t)nrows * n * sizeof *m);
    if (!m) {
        fprintf(stderr, "fft2d: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return m;
}

int main(int argc, char **argv)
{
    int rank, size;
    fft_plan plan;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int n = argc > 1 ? atoi(argv[1]) : 256;
    int cycles = argc > 2 ? atoi(argv[2]) : 200;
    if (size > MAXRANKS || n < size || n > 8192 || cycles < 1 || fft_init(&plan, n)) {
        if (rank == 0)
            fprintf(stderr, "usage: fft2d [N [CYCLES]], N a power of two up to 8192 and "
                    "not below the number of ranks (at most %d)\n", MAXRANKS);
        MPI_Finalize();
        return 2;
    }

    transpose_init(n, MPI_COMM_WORLD);
    int nrows = rows[rank], first = first_row[rank];
    double complex *a = new_matrix(nrows, n), *b = new_matrix(nrows, n);
    for (int i = 0; i < nrows; i++)
        for (int j = 0; j < n; j++)
            a[(size_t)i * n + j] = input(n, first + i, j);

    double spent = 0.0, spectrum_err = 0.0;
    uint64_t spectrum_sum = 0;
    for (int c = 0; c < cycles; c++) {
        for (int i = 0; i < nrows; i++)
            fft_forward(&plan, a + (size_t)i * n);
        transpose(a, b, &spent);
        for (int i = 0; i < nrows; i++)
            fft_forward(&plan, b + (size_t)i * n);

        /* The spectrum is left transposed: row ky, column kx. */
        if (c == 0) {
            spectrum_sum = checksum(n, nrows, first, b);
            for (int i = 0; i < nrows; i++)
                for (int j = 0; j < n; j++) {
                    double complex x = b[(size_t)i * n + j] / ((double)n * n);
                    spectrum_err = fmax(spectrum_err, cabs(x - spectrum(n, j, first + i)));
                }
        }

        for (int i = 0; i < nrows; i++)
            fft_inverse(&plan, b + (size_t)i * n);
        transpose(b, a, &spent);
        for (int i = 0; i < nrows; i++)
            fft_inverse(&plan, a + (size_t)i * n);
    }

    double err[2] = { 0.0, spectrum_err };
    for (int i = 0; i < nrows; i++)
        for (int j = 0; j < n; j++)
            err[0] = fmax(err[0], cabs(a[(size_t)i * n + j] - input(n, first + i, j)));

    double max_err[2], max_spent;
    uint64_t sum[2] = { checksum(n, nrows, first, a), spectrum_sum }, total[2];
    MPI_Reduce(err, max_err, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(sum, total, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&spent, &max_spent, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    int passed = 1;
    if (rank == 0) {
        passed = max_err[0] <= TOLERANCE && max_err[1] <= TOLERANCE;
        printf("fft2d: %d x %d points, %d cycles of forward and inverse transform\n",
               n, n, cycles);
        printf("largest error against the input: %.17g\n", max_err[0]);
        printf("largest error of the spectrum: %.17g\n", max_err[1]);
        printf("checksum of the spectrum: %016llx\n", (unsigned long long)total[1]);
        printf("checksum of the result: %016llx\n", (unsigned long long)total[0]);
        printf("time pack+exchange+unpack: %.6f s\n", max_spent);
        printf("verification: %s\n", passed ? "PASSED" : "FAILED");
    }
    MPI_Bcast(&passed, 1, MPI_INT, 0, MPI_COMM_WORLD);

    free(a);
    free(b);
    transpose_finish();
    fft_free(&plan);
    MPI_Finalize();
    return passed ? 0 : 1;
}
