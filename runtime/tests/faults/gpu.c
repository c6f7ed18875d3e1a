/* gpu.c - a stand-in for a GPU's library: it says of some memory that it is the device's.  Built as libcuda.so.1 (or, with -DHIP, as libamdhip64.so). */
#include <stddef.h>
#include <stdint.h>

static uintptr_t from, to;

void gpu_owns(void *p, size_t n);
void gpu_owns(void *p, size_t n)
{
    from = (uintptr_t)p;
    to = from + n;
}

#ifdef HIP
struct attributes {
    int kind, device;
    void *on_device, *on_host;
    int managed;
    unsigned flags;
};

int hipPointerGetAttributes(struct attributes *a, const void *p);
int hipPointerGetAttributes(struct attributes *a, const void *p)
{
    if ((uintptr_t)p < from || (uintptr_t)p >= to)
        return 1;
    *a = (struct attributes){.kind = 2, .on_device = (void *)(uintptr_t)p};
    return 0;
}
#else
int cuPointerGetAttribute(void *data, int attribute, unsigned long long p);
int cuPointerGetAttribute(void *data, int attribute, unsigned long long p)
{
    if (p < from || p >= to || attribute != 2)
        return 1;
    *(unsigned *)data = 2;
    return 0;
}
#endif
