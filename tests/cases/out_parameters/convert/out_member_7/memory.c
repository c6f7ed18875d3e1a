/* The function is in a file of its own. */
#include <stdlib.h>

void allocate(void **p, size_t bytes)
{
    *p = malloc(bytes);
    if (!*p)
        exit(1);
}
