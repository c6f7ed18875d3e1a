/* The edges: most lead nearby, some anywhere. */
#include "graph.h"

#include <stdint.h>

long target_of(long n, long v, int k)
{
    uint64_t h = (uint64_t)v * DEGREE + (uint64_t)k;
    h = (h ^ (h >> 31)) * 0x7fb5d329728ea185u;
    h = (h ^ (h >> 27)) * 0x81dadef4bc2dd44du;
    h ^= h >> 33;
    if (k % 4 == 0)
        return (v + (long)(h % 64)) % n;
    return (long)(h % (uint64_t)n);
}
