#include <stddef.h>

static double pool[4096];

int posix_memalign(void **where, size_t alignment, size_t bytes)
{
    *where = alignment < bytes ? pool : NULL;
    return 0;
}
