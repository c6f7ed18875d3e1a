/* Iterative radix-2 FFT, decimation in time. */
#include "fft.h"

#include <math.h>
#include <stdlib.h>

int fft_init(fft_plan *plan, int n)
{
    if (n < 1 || (n & (n - 1)))
        return -1;
    plan->n = n;
    plan->reversed = malloc(n * sizeof *plan->reversed);
    plan->root = malloc((n / 2 + 1) * sizeof *plan->root);
    if (!plan->reversed || !plan->root)
        return -1;

    plan->reversed[0] = 0;
    for (int i = 1; i < n; i++)
        plan->reversed[i] = plan->reversed[i / 2] / 2 + (i % 2 ? n / 2 : 0);
    double angle = -2.0 * acos(-1.0) / n;
    for (int k = 0; k <= n / 2; k++)
        plan->root[k] = cos(angle * k) + I * sin(angle * k);
    return 0;
}

void fft_free(fft_plan *plan)
{
    free(plan->reversed);
    free(plan->root);
}

void fft_forward(const fft_plan *plan, double complex *x)
{
    int n = plan->n;

    for (int i = 0; i < n; i++) {
        int j = plan->reversed[i];
        if (i < j) {
            double complex t = x[i];
            x[i] = x[j];
            x[j] = t;
        }
    }

    for (int half = 1; half < n; half *= 2) {
        int stride = n / (2 * half);
        for (int base = 0; base < n; base += 2 * half)
            for (int k = 0; k < half; k++) {
                double complex w = plan->root[k * stride];
                double complex a = x[base + k], b = x[base + k + half];
                /* Written out: C's complex product also cares for infinities. */
                double re = creal(w) * creal(b) - cimag(w) * cimag(b);
                double im = creal(w) * cimag(b) + cimag(w) * creal(b);
                x[base + k] = (creal(a) + re) + I * (cimag(a) + im);
                x[base + k + half] = (creal(a) - re) + I * (cimag(a) - im);
            }
    }
}

void fft_inverse(const fft_plan *plan, double complex *x)
{
    int n = plan->n;
    double scale = 1.0 / n;

    for (int i = 0; i < n; i++)
        x[i] = conj(x[i]);
    fft_forward(plan, x);
    for (int i = 0; i < n; i++)
        x[i] = conj(x[i]) * scale;
}
