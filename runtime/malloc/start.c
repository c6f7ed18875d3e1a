/* start.c - where the shared part of malloc begins, and what a fork does to it.
 *
 * The window is made by this library's constructor, or by libopi's when that comes first, where the launcher's environment tells the rank's place; else when
 * MPI_Init finds it out.  Until then, and for good where the system refuses, every block is the C library's, which is always correct and only not shared.
 *
 * A forked child must not write into memory that its parent and the other ranks use.  Before the fork, blocks in use are copied aside, the books locked; the
 * child puts its copy where the window was, the parent drops it.  system(), popen() and posix_spawn() run no handlers and need none: their child only
 * executes a program, on its parent's memory, while the parent waits. */
#include "malloc/shared.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/sysinfo.h>

struct opi_shared opi_shared = {.least = SIZE_MAX};

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static bool tried;
static size_t (*libc_usable_size)(void *);

/* ---- fork ------------------------------------------------------------------------------------------------------------------------------------- */

static char *aside; /* the copy of [high, bytes), between the handlers */
static size_t aside_bytes;

/* Copies what is both in use and backed by memory; the rest reads as zeros, as it does in the copy. */
static void copy_used(char *to, size_t from) {
    off_t at = (off_t)from, end = (off_t)opi_shared.bytes;
    size_t page = from >> OPI_SPAN_SHIFT;
    while (at < end && (at = lseek(opi_shared.window.fd, at, SEEK_DATA)) >= 0 && at < end) {
        off_t hole = lseek(opi_shared.window.fd, at, SEEK_HOLE);
        if (hole < 0 || hole > end)
            hole = end;
        for (struct opi_span *s; (off_t)(page << OPI_SPAN_SHIFT) < hole; page = s->first + s->pages) {
            s = opi_span_at(page);
            off_t a = (off_t)(s->first << OPI_SPAN_SHIFT), b = a + (off_t)(s->pages << OPI_SPAN_SHIFT);
            off_t lo = a > at ? a : at, hi = b < hole ? b : hole;
            if (s->kind != OPI_SPAN_FREE && lo < hi)
                memcpy(to + ((size_t)lo - from), (char *)opi_shared.base + lo, (size_t)(hi - lo));
            if (b > hole) /* its rest is looked at with the next data */
                break;
        }
        at = hole;
    }
}

static void fork_prepare(void) {
    pthread_mutex_lock(&starting);
    opi_slabs_lock();
    aside = NULL;
    if (opi_shared.bytes == 0 || opi_shared.alone)
        return;
    size_t high = atomic_load_explicit(&opi_shared.window.high, memory_order_relaxed);
    aside_bytes = opi_shared.bytes - high;
    if (aside_bytes == 0)
        return;
    void *p = mmap(NULL, aside_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return;
    copy_used(p, high);
    aside = p;
}

static void fork_parent(void) {
    if (aside)
        munmap(aside, aside_bytes);
    aside = NULL;
    opi_slabs_unlock(false);
    pthread_mutex_unlock(&starting);
}

static void fork_child(void) {
    if (opi_shared.bytes != 0 && !opi_shared.alone) {
        struct opi_window *w = &opi_shared.window;
        size_t low = atomic_load_explicit(&w->low, memory_order_relaxed), high = atomic_load_explicit(&w->high, memory_order_relaxed);
        bool put = high == opi_shared.bytes ||
                   (aside && mremap(aside, aside_bytes, aside_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, w->base + high) != MAP_FAILED);
        if (!put) {
            /* No room for a copy.  The child's writes are its own all the same; what it has not written yet follows its parent. */
            (void)mmap(w->base + high, aside_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, w->fd, (off_t)high);
            opi_shared.pinned = true;
        }
        /* Between the two parts: nobody's yet.  libopi sees to its own part (heap.c), for which it still needs the file. */
        if (low < high)
            (void)mmap(w->base + low, high - low, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        if (low == 0)
            close(w->fd);
        w->fd = -1;
        opi_shared.alone = true;
    }
    aside = NULL;
    opi_slabs_unlock(true);
    pthread_mutex_init(&starting, NULL);
}

/* ---- start ------------------------------------------------------------------------------------------------------------------------------------ */

static bool setting_is(const char *name, const char *value) {
    const char *s = getenv(name);
    return s && strcmp(s, value) == 0;
}

static bool setting_on(const char *name) {
    const char *s = getenv(name);
    return s && *s && strcmp(s, "0") != 0;
}

static void start(int slot, int nlocal) {
    if (slot < 0) {
        slot = opi_env_rank();
        nlocal = opi_env_size();
    }
    if (tried || slot < 0)
        return; /* the place may be told later */
    tried = true;
    *(void **)&libc_usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
    /* Before libopi does, so that in a fork this library's handler is the last before it and the first in the child. */
    if (pthread_atfork(fork_prepare, fork_parent, fork_child) != 0)
        return;
    if (setting_is("OPI_HEAP", "private") || setting_on("OPI_DISABLE") || !libc_usable_size)
        return;
    struct opi_window *w = &opi_shared.window;
    if (!opi_window_map(w, slot, opi_window_shift(nlocal, slot)))
        return;
    size_t map = (w->bytes >> OPI_SPAN_SHIFT) * sizeof *opi_shared.map;
    void *p = mmap(NULL, map, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        munmap(w->base, w->bytes);
        close(w->fd);
        return;
    }
    int mode = opi_overcommit_mode();
    struct sysinfo machine;
    opi_shared.most = PTRDIFF_MAX;
    if (mode == 0 && sysinfo(&machine) == 0) /* as the system itself refuses such a mapping */
        opi_shared.most = ((size_t)machine.totalram + (size_t)machine.totalswap) * machine.mem_unit;
    opi_shared.commit = mode == 2;
    opi_shared.map = p;
    opi_slabs_start();
    opi_shared.base = (uintptr_t)w->base;
    opi_shared.bytes = w->bytes;
    atomic_store_explicit(&opi_shared.least, OPI_MALLOC_MIN, memory_order_release);
}

struct opi_window *opi_malloc_window(int slot, int nlocal) {
    pthread_mutex_lock(&starting); /* malloc and free never take it */
    start(slot, nlocal);
    pthread_mutex_unlock(&starting);
    return opi_shared.bytes != 0 ? &opi_shared.window : NULL;
}

size_t opi_libc_usable_size(void *p) {
    return p && libc_usable_size ? libc_usable_size(p) : 0;
}

__attribute__((constructor(101))) static void at_load(void) {
    opi_malloc_window(-1, -1);
}
