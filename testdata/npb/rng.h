/* The random numbers of the NAS benchmarks (report RNR-94-007, section 2.3):
 * x' = a * x mod 2^46, read as a fraction of 2^46.  Products are exact in 64
 * bits, since 2^46 divides 2^64. */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

#define RNG_A    UINT64_C(1220703125)   /* 5^13 */
#define RNG_MASK ((UINT64_C(1) << 46) - 1)

/* a to the power n: the factor that skips n numbers. */
static inline uint64_t rng_power(uint64_t a, uint64_t n)
{
    uint64_t result = 1;
    for (; n > 0; n >>= 1) {
        if (n & 1)
            result = result * a & RNG_MASK;
        a = a * a & RNG_MASK;
    }
    return result;
}

/* The state n numbers after seed. */
static inline uint64_t rng_skip(uint64_t seed, uint64_t n)
{
    return seed * rng_power(RNG_A, n) & RNG_MASK;
}

/* The next number in (0, 1). */
static inline double rng_next(uint64_t *x)
{
    *x = *x * RNG_A & RNG_MASK;
    return (double)*x * 0x1p-46;
}

#endif
