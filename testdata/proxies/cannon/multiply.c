/* The product of two blocks. */
#include "cannon.h"

#include <stddef.h>

#define TILE 32

void multiply(int rows, int inner, int cols, const double *a, const double *b, double *c)
{
    for (int k0 = 0; k0 < inner; k0 += TILE) {
        int k1 = k0 + TILE < inner ? k0 + TILE : inner;
        for (int i = 0; i < rows; i++)
            for (int k = k0; k < k1; k++) {
                double x = a[(size_t)i * inner + k];
                const double *from = &b[(size_t)k * cols];
                double *to = &c[(size_t)i * cols];
                for (int j = 0; j < cols; j++)
                    to[j] += x * from[j];
            }
    }
}
