/* device.c - memory that is not the host's.
 *
 * A pointer to a GPU's memory must not be read or written here.  Such a buffer is packed and unpacked by the MPI below, as a message of the rank to itself
 * (datatype.c): an MPI that knows the GPU copies it, and one that does not fails as it does without libopi.  The GPU's library knows its pointers: CUDA's by
 * cuPointerGetAttribute, HIP's by hipPointerGetAttributes.  While no such library is in the process there are no such pointers.
 *
 * A program may load one at any time.  That must show before the next message, and cost nothing until then: the dynamic linker chains the libraries of a process,
 * newest last, so while the last one has no successor nothing was loaded.  That holds for a last one that stays: one the process started with, or one that
 * was there after MPI_Init, which is kept.  After another, the linker is asked each time how many it has loaded. */
#include "process/below/outside.h"
#include "process/heap/pool.h"
#include "process/objects/datatype.h"

#include <dlfcn.h>
#include <link.h>

static void *const always = &opi_device_newest;
void *const *opi_device_newest = &always;

static int (*cuda)(void *, int, unsigned long long);
static int (*hip)(void *, const void *);
static unsigned long long seen; /* libraries loaded, ever, when they were looked through */
static struct link_map *first_last, *kept;

static struct link_map *newest_library(void) {
    struct link_map *l = NULL;
#ifdef __GLIBC__
    l = _r_debug.r_map;
    while (l && l->l_next)
        l = l->l_next;
#endif
    return l;
}

/* Where the process starts: all it is linked with is there. */
void opi_device_load(void) {
    first_last = newest_library();
}

static int count(struct dl_phdr_info *info, size_t size, void *to) {
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs))
        *(unsigned long long *)to = info->dlpi_adds;
    return 1;
}

struct search {
    const char *name, *library; /* of the function, and of its library, without what follows */
    void *found;
};

static int search(struct dl_phdr_info *info, size_t size, void *to) {
    struct search *s = to;
    const char *file = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (!file || strncmp(file + 1, s->library, strlen(s->library)) != 0)
        return 0;
    void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    s->found = library ? dlsym(library, s->name) : NULL;
    if (library && !s->found)
        dlclose(library); /* one that is used stays */
    return s->found != NULL;
}

/* A function of a library that is in the process, be it hidden from others. */
static void *find(const char *name, const char *library) {
    struct search s = {name, library, dlsym(RTLD_DEFAULT, name)};
    if (!s.found)
        dl_iterate_phdr(search, &s);
    return s.found;
}

static void look_through(void) {
    unsigned long long loaded = 0;
    dl_iterate_phdr(count, &loaded);
    if (loaded == seen && loaded)
        return;
    seen = loaded;
    if (!cuda)
        *(void **)&cuda = find("cuPointerGetAttribute", "libcuda.so");
    if (!hip)
        *(void **)&hip = find("hipPointerGetAttributes", "libamdhip64.so");
    struct link_map *last = newest_library();
    bool stays = last && (last == first_last || last == kept);
    opi_device_newest = cuda || hip || !stays ? &always : (void *const *)&last->l_next;
}

/* After MPI_Init: what the MPI has loaded stays. */
void opi_device_begin(void) {
    struct link_map *last = newest_library();
    if (last && last != first_last && last->l_name && *last->l_name && dlopen(last->l_name, RTLD_LAZY | RTLD_NOLOAD))
        kept = last;
    seen = 0;
    look_through();
}

#define CUDA_MEMORY_TYPE 2
#define CUDA_HOST 1
#define CUDA_INVALID_VALUE 1 /* no pointer of its */
#define CUDA_NOT_INITIALIZED 3
#define CUDA_DEINITIALIZED 4

/* What HIP tells of a pointer: its fields have kept their places, the numbers of its kinds have not. */
struct hip_attributes {
    int kind, device;
    void *on_device, *on_host;
    char more[240];
};

static bool on_device(const void *p) {
    if (cuda) {
        unsigned kind = 0;
        int rc = cuda(&kind, CUDA_MEMORY_TYPE, (unsigned long long)(uintptr_t)p);
        if (rc == 0 ? kind != CUDA_HOST : rc != CUDA_INVALID_VALUE && rc != CUDA_NOT_INITIALIZED && rc != CUDA_DEINITIALIZED)
            return true; /* or not known: the MPI below copies what is the host's as well */
    }
    if (hip) {
        struct hip_attributes a = {0};
        if (hip(&a, p) == 0 && a.on_device && !a.on_host)
            return true;
    }
    return false;
}

/* The datatype as which a buffer is sent or received: with one that the MPI below packs and unpacks where its bytes may not be touched.  Of a layout with
 * gaps, which may lead anywhere, that is so once there is any such memory. */
OPI_COLD struct opi_type *opi_device_type(struct opi_type *t, const void *buf) {
    const char *first = (const char *)((uintptr_t)buf + (uintptr_t)t->true_lb);
    if (!t->size || opi_in_region(first))
        return t;
    look_through();
    if ((!cuda && !hip) || (t->contiguous && !on_device(first)))
        return t;
    return opi_type_below(t);
}
