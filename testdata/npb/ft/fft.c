/* FFTs of one line whose length is a power of two (Stockham's form: no bit
 * reversal, the result in order). */
#include "ft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double complex *roots, *line, *work;
static int longest;

void *allocate(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "ft: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

void fft_init(int n)
{
    const double pi = 3.14159265358979323846;

    longest = n;
    roots = allocate(n * sizeof *roots);
    line = allocate(n * sizeof *line);
    work = allocate(n * sizeof *work);
    for (int k = 0; k < n; k++)
        roots[k] = cos(2.0 * pi * k / n) - I * sin(2.0 * pi * k / n);
}

void fft_finish(void)
{
    free(roots);
    free(line);
    free(work);
}

/* Transform n numbers that lie stride apart, in place, without scaling. */
void fft(double complex *a, int n, size_t stride, int sign)
{
    double complex *from = line, *to = work;

    for (int i = 0; i < n; i++)
        line[i] = a[i * stride];
    for (int half = n / 2, block = 1; half > 0; half /= 2, block *= 2) {
        for (int j = 0; j < half; j++) {
            double complex root = roots[j * block * (longest / n)];
            if (sign > 0)
                root = conj(root);
            for (int k = 0; k < block; k++) {
                double complex p = from[block * j + k], q = from[block * (j + half) + k];
                double complex d = p - q;
                to[block * 2 * j + k] = p + q;
                to[block * (2 * j + 1) + k] =
                    creal(d) * creal(root) - cimag(d) * cimag(root)
                    + I * (creal(d) * cimag(root) + cimag(d) * creal(root));
            }
        }
        double complex *swap = from;
        from = to;
        to = swap;
    }
    for (int i = 0; i < n; i++)
        a[i * stride] = from[i];
}
