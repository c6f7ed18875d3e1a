/* One-dimensional complex FFT, lengths that are powers of two. */
#ifndef FFT_H
#define FFT_H

#include <complex.h>

typedef struct {
    int n;
    int *reversed;              /* bit-reversed index of each element */
    double complex *root;       /* exp(-2 pi i k / n), k < n/2 */
} fft_plan;

/* Returns 0, or -1 when n is no power of two or memory is short. */
int fft_init(fft_plan *plan, int n);
void fft_free(fft_plan *plan);

/* In place; the inverse divides by n. */
void fft_forward(const fft_plan *plan, double complex *x);
void fft_inverse(const fft_plan *plan, double complex *x);

#endif
