/* The size is a number of a type that has another meaning where the function is called. */
#include <stdlib.h>

typedef unsigned count;

void allocate(void **p, count n)
{
    *p = malloc(n * sizeof(double));
    if (!*p)
        exit(1);
}
