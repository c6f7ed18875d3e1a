/* window.h - where a rank's shared memory lies: a memfd mapped at a fixed place, so that a pointer means the same in every rank of the node.
 *
 * The window of slot s is OPI_BASE + s * window.  The slot is the launcher's local rank, known before MPI_Init.  A memfd has no name, so nothing is left
 * behind whatever kills the job.  Used by libopi (heap.c) and by the replacement allocator (malloc/), which is a library of its own and knows no MPI. */
#ifndef OPI_WINDOW_H
#define OPI_WINDOW_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define OPI_BASE ((uintptr_t)0x7e8000000000) /* works plain and under ASan, TSan and cachegrind */
#define OPI_REGION_SHIFT 38                  /* 256 GiB, divided into one window a slot */
#define OPI_REGION ((uintptr_t)1 << OPI_REGION_SHIFT)
#define OPI_MAX_LOCAL 1024 /* ranks of a node; beyond it the node stays native */

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif
#ifndef MFD_ALLOW_SEALING
#define MFD_ALLOW_SEALING 2U
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_SEAL_SEAL 1
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#endif

/* A rank's own window.  libopi's pool grows up from its start, the replacement allocator, where there is one, down from its end. */
struct opi_window {
    /* Constant once the window is mapped, but for `fd`, which becomes -1 in a forked child. */
    char *base;
    size_t bytes;
    uint32_t shift; /* bytes == 1 << shift */
    int fd;
    int slot;
    /* [0, low) is libopi's, [high, bytes) the allocator's; low <= high.  Each side moves its own mark first and then looks at the other's (sequentially
     * consistent, so of two that move at once at least one sees both moves) and takes its step back where they crossed. */
    _Atomic size_t low, high;
};

/* Moves libopi's mark up to `to`.  One caller at a time. */
static inline bool opi_window_raise(struct opi_window *w, size_t to) {
    size_t was = atomic_load_explicit(&w->low, memory_order_relaxed);
    atomic_store(&w->low, to);
    if (to <= atomic_load(&w->high))
        return true;
    atomic_store(&w->low, was);
    return false;
}

/* Moves the allocator's mark down to `to`.  One caller at a time. */
static inline bool opi_window_lower(struct opi_window *w, size_t to) {
    size_t was = atomic_load_explicit(&w->high, memory_order_relaxed);
    atomic_store(&w->high, to);
    if (to >= atomic_load(&w->low))
        return true;
    atomic_store(&w->high, was);
    return false;
}

static inline int opi_env_int(const char *name) {
    const char *s = getenv(name);
    if (!s || !*s)
        return -1;
    char *end;
    long v = strtol(s, &end, 10);
    return (*end == '\0' && v >= 0 && v <= INT_MAX) ? (int)v : -1;
}

/* What the launcher tells: our place among the machine's ranks, and their number; -1 where it does not. */
static inline int opi_env_rank(void) {
    static const char *const names[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK", "SLURM_LOCALID"};
    int v = -1;
    for (size_t i = 0; v < 0 && i < sizeof names / sizeof names[0]; i++)
        v = opi_env_int(names[i]);
    return v;
}

/* The largest number of a list as Slurm has it, "128(x2),3": tasks of each node. */
static inline int opi_env_most(const char *name) {
    const char *s = getenv(name);
    long most = -1;
    while (s && *s >= '0' && *s <= '9') {
        long v = strtol(s, NULL, 10);
        most = v > most && v <= INT_MAX ? v : most;
        while (*s && *s != ',')
            s++;
        s += *s == ',';
    }
    return (int)most;
}

/* Slurm tells no rank how many share its node; the most that share any will do, since it is the same for all. */
static inline int opi_env_size(void) {
    static const char *const names[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_LOCAL_SIZE"};
    int v = -1;
    for (size_t i = 0; v < 0 && i < sizeof names / sizeof names[0]; i++)
        v = opi_env_int(names[i]);
    return v >= 0 ? v : opi_env_most("SLURM_STEP_TASKS_PER_NODE");
}

/* Windows are a power of two.  Every rank of a node derives the same one: from the launcher's count, else from a bound that does not need it. */
static inline uint32_t opi_window_shift(int nlocal, int rank) {
    uint32_t slots = 2; /* 4: 64 GiB each */
    int need = nlocal > rank + 1 ? nlocal : rank + 1;
    if (nlocal < 0)
        slots = 6;
    while (((int)1 << slots) < need && slots < 10)
        slots++;
    return OPI_REGION_SHIFT - slots;
}

/* Does the system promise more memory than it has?  2: never (vm.overcommit_memory). */
static inline int opi_overcommit_mode(void) {
    char mode = '0';
    int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, &mode, 1) != 1)
            mode = '0';
        close(fd);
    }
    return mode - '0';
}

/* The memory of a window.  It never is executed: a system may refuse one that could be (vm.memfd_noexec), and kernels before 6.3 do not know how to be told.
 * Its size is sealed: every process of the user can open it through /proc, and one that made it shorter would kill the job with SIGBUS.  Holes may still be
 * punched, by the allocator as by such a process; then bytes are lost, as with any other way to write into a process of the user.  -1: refused. */
static inline int opi_window_file(size_t bytes) {
    int fd = memfd_create("opi-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("opi-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        return -1;
    }
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL); /* refused: as safe as it was without */
    return fd;
}

/* Makes the memory of a slot and maps it.  False, and nothing changed, where the system refuses. */
static inline bool opi_window_map(struct opi_window *w, int slot, uint32_t shift) {
    size_t bytes = (size_t)1 << shift;
    if (slot < 0 || slot >= OPI_MAX_LOCAL || ((uintptr_t)slot + 1) * bytes > OPI_REGION)
        return false;
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY && most.rlim_cur < bytes)
        return false; /* ftruncate would raise SIGXFSZ */
    int fd = opi_window_file(bytes);
    if (fd < 0)
        return false;
    void *want = (void *)(OPI_BASE + (uintptr_t)slot * bytes);
    void *p = mmap(want, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0);
    if (p != want) {
        if (p != MAP_FAILED)
            munmap(p, bytes);
        close(fd);
        return false;
    }
    w->base = p;
    w->bytes = bytes;
    w->shift = shift;
    w->fd = fd;
    w->slot = slot;
    atomic_store(&w->low, 0);
    atomic_store(&w->high, bytes);
    return true;
}

/* The window of the replacement allocator.  `slot` and `nlocal` are what MPI_Init found out, -1 where only the environment is known; the first caller that
 * knows the slot decides.  NULL where there is none: no allocator, no known slot, or the system refuses.  Weak: libopi works without the allocator. */
extern struct opi_window *opi_malloc_window(int slot, int nlocal) __attribute__((weak, visibility("default")));

#endif
