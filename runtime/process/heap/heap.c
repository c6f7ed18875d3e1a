/* heap.c - one arena a rank, in its window of the region that all ranks of the node share (window.h).
 *
 * The pages of small blocks are committed with fallocate some at a time.  Those of a large block come when they are touched, as malloc's do: a program may
 * ask for much and use little of it.  A system that promises no more memory than it has (vm.overcommit_memory=2) would answer such a touch with SIGBUS; there,
 * all is committed before it is handed out, and running out is NULL here.  Elsewhere a touch finds memory or the system ends a process for want of it, as with
 * any memory.  With the replacement allocator the window is that library's, and the arena has the lower part of it. */
#include "process/base/tune.h"
#include "process/engine/section.h"
#include "process/heap/heap.h"

#include <errno.h>
#include <stdio.h>
#include <sys/sysinfo.h>

#define HEAP_MAGIC 0x6f70692d68656170u
#define CARVE_RUN ((size_t)256 << 10)  /* a run of small blocks */
#define COLOUR_ROOM ((size_t)2048)     /* large blocks start at one of 32 line offsets, so that buffers do not all share cache sets */

static size_t heap_used;   /* bytes of our window given to runs, the head included */
static size_t heap_limit;  /* window bytes */
static size_t heap_bound;  /* of them, those that may be used: OPI_HEAP_LIMIT */
static size_t commit_from; /* everything below is committed, or comes when it is touched */
static size_t committed;   /* bytes of that that were committed before their use */
static size_t commit_step = (size_t)256 << 10;
static bool commit_all;    /* vm.overcommit_memory=2 */
static size_t sane;        /* the largest request that can be anything but a mistake: the machine's memory and swap */
static uint32_t run_colour;
static bool written_elsewhere; /* we are a child of fork that sees what its parent writes */

void *opi_heap_fresh;

static struct opi_window own;     /* ours, where there is no replacement allocator */
static struct opi_window *place; /* where the arena lies; NULL: private memory */

static bool commit(size_t end) {
    if (end <= commit_from)
        return true;
    if (opi.private_heap) { /* anonymous memory: the kernel commits on touch */
        commit_from = end;
        return true;
    }
    size_t want = end;
    if (commit_from + commit_step > want)
        want = commit_from + commit_step;
    if (want > heap_bound)
        want = heap_bound;
    for (;;) {
        int rc;
        do
            rc = fallocate(opi.memfd, 0, (off_t)commit_from, (off_t)(want - commit_from));
        while (rc != 0 && errno == EINTR);
        if (rc == 0)
            break;
        if (want == end)
            return false;
        want = end;
    }
    committed += want - commit_from;
    commit_from = want;
    /* Growing steps keep the number of system calls logarithmic without hoarding: at most an eighth of what is in use. */
    if (commit_step < committed / 8)
        commit_step = committed / 8 & ~(OPI_PAGE - 1);
    if (commit_step > (size_t)32 << 20)
        commit_step = (size_t)32 << 20;
    return true;
}

/* What is below `end` is in use, whether or not there are pages for it. */
static void reserve(size_t end) {
    if (commit_from < end)
        commit_from = end;
}

static void ask_the_system(void) {
    struct sysinfo machine;
    commit_all = opi_overcommit_mode() == 2;
    sane = SIZE_MAX;
    if (opi_overcommit_mode() == 0 && sysinfo(&machine) == 0) /* as the system itself refuses such a mapping */
        sane = ((size_t)machine.totalram + (size_t)machine.totalswap) * machine.mem_unit;
}

/* The window as memory nobody else sees, at any address.  Give and Take then are messages. */
static bool map_private(size_t window) {
    void *p = MAP_FAILED;
    while (window >= (size_t)64 << 20) {
        /* Over-reserve by one window to align the start. */
        p = mmap(NULL, 2 * window, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED)
            break;
        window >>= 1;
    }
    if (p == MAP_FAILED)
        return false;
    uintptr_t a = ((uintptr_t)p + window - 1) & ~(window - 1);
    opi.base = a;
    opi.window_shift = (uint32_t)__builtin_ctzll(window);
    opi.arena = (struct opi_arena *)a;
    opi.private_heap = true;
    heap_limit = window;
    return true;
}

static bool map_shared(int slot, int nlocal) {
    place = opi_malloc_window ? opi_malloc_window(slot, nlocal) : NULL;
    if (!place) {
        if (!opi_window_map(&own, slot, opi_window_shift(nlocal, slot)))
            return false;
        place = &own;
    }
    opi.memfd = place->fd;
    opi.base = OPI_BASE;
    opi.window_shift = place->shift;
    opi.arena = (struct opi_arena *)place->base;
    heap_limit = place->bytes;
    return true;
}

/* Commits the head of the window that was just mapped; its size, or 0 when the system has no memory for it. */
static size_t begin(void) {
    size_t head = sizeof(struct opi_arena) + (heap_limit >> OPI_PAGE_SHIFT);
    head = (head + OPI_PAGE - 1) & ~(OPI_PAGE - 1);
    heap_bound = opi_size_setting("OPI_HEAP_LIMIT", heap_limit) & ~(OPI_PAGE - 1);
    if (heap_bound > heap_limit)
        heap_bound = heap_limit;
    if (heap_bound < head)
        heap_bound = head;
    ask_the_system();
    if (place && !opi_window_raise(place, head))
        return 0;
    if (!commit(commit_all ? head : (sizeof(struct opi_arena) + OPI_PAGE) & ~(OPI_PAGE - 1)))
        return 0;
    reserve(head); /* the map of a large window is mostly empty */
    return head;
}

/* Does the launcher tell our place among the ranks of the machine?  Else MPI_Init settles it, unless memory is wanted before. */
bool opi_heap_place_known(void) {
    return opi_env_rank() >= 0;
}

/* Sets up our arena.  Idempotent; called by the first allocation or by MPI_Init, whichever comes first. */
bool opi_heap_init(void) {
    if (opi.heap_tried)
        return opi.arena != NULL;
    opi.heap_tried = true;
    opi.memfd = -1;
    int rank = opi.slot_given >= 0 ? opi.slot_given : opi_env_rank();
    int nlocal = opi.slot_given >= 0 ? opi.node_ranks_phys : opi_env_size();
    int slot = rank < 0 ? 0 : rank;
    const char *force = getenv("OPI_HEAP");
    bool shared = !(force && strcmp(force, "private") == 0) && map_shared(slot, nlocal);
    size_t head = shared ? begin() : 0;
    if (shared && !head) { /* no memory, or the system refuses to commit any */
        if (place == &own) {
            munmap(opi.arena, heap_limit);
            close(opi.memfd);
        }
        place = NULL;
        opi.memfd = -1;
        opi.arena = NULL;
        shared = false;
    }
    if (!shared && !(map_private((size_t)1 << opi_window_shift(nlocal, slot)) && (head = begin()) != 0))
        return false;
    heap_used = head;
    struct opi_arena *a = opi.arena;
    a->magic = HEAP_MAGIC;
    a->window = heap_limit;
    a->slot = slot;
    a->pid = (int32_t)getpid();
    a->fd = opi.memfd;
    opi_pool_init(heap_bound);
    opi_fork_init();
    /* From here on the mark of being inside stands where peers see it; its value goes along. */
    atomic_store_explicit(&a->inside, atomic_load_explicit(opi_inside, memory_order_relaxed), memory_order_relaxed);
    opi_inside = &a->inside;
    return true;
}

/* Maps another rank's arena where that rank has it.  NULL when the system refuses. */
struct opi_arena *opi_heap_map_peer(int pid, int fd, uintptr_t address, size_t window) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int peer = open(path, O_RDWR | O_CLOEXEC);
    if (peer < 0)
        return NULL;
    void *p = mmap((void *)address, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, peer, 0);
    close(peer);
    if (p == MAP_FAILED)
        return NULL;
    struct opi_arena *a = p;
    if ((uintptr_t)p != address || a->magic != HEAP_MAGIC || a->pid != pid) {
        munmap(p, window);
        return NULL;
    }
    madvise(p, window, MADV_DONTDUMP); /* its owner dumps it */
    return a;
}

void opi_heap_unmap_peer(struct opi_arena *a) {
    munmap(a, a->window);
}

/* Takes a run from the window and enters it in the class map.  `bytes` is a multiple of 64 KiB; the first `needed` of them will be used, and are committed
 * but where the pages of a large block come when it touches them. */
static char *take_run(int cls, size_t bytes, size_t needed, bool large) {
    if (heap_used > heap_bound || bytes > heap_bound - heap_used)
        return NULL;
    if (place && !opi_window_raise(place, heap_used + bytes))
        return NULL;
    if (large && !commit_all) {
        reserve(heap_used + needed);
    } else if (!commit(heap_used + needed)) {
        if (place)
            (void)opi_window_raise(place, heap_used);
        return NULL;
    }
    char *run = (char *)opi.arena + heap_used;
    memset(opi.arena->class_map + (heap_used >> OPI_PAGE_SHIFT), cls + 1, bytes >> OPI_PAGE_SHIFT);
    heap_used += bytes;
    return run;
}

/* A block of class `cls` that was never used before, or NULL when memory is exhausted. */
void *opi_heap_carve(int cls) {
    if (!opi_heap_init() || cls >= OPI_CLASSES)
        return NULL;
    size_t size = opi_class_size(cls);
    struct opi_class_cold *c = &opi_cold[cls];
    opi_profile_pool(true);
    if (OPI_UNLIKELY(opi.check)) /* pages of their own */
        size = opi_check_stride(size);
    if (size > CARVE_RUN / 8) {
        size_t bytes = (size + COLOUR_ROOM + OPI_PAGE - 1) & ~(OPI_PAGE - 1);
        /* Odd multiples of a line: neighbours in time differ in every low address bit. */
        size_t shift = opi.check ? 0 : (size_t)(run_colour++ * 5 % (COLOUR_ROOM / OPI_LINE)) * OPI_LINE;
        char *run = size <= sane ? take_run(cls, bytes, shift + size, true) : NULL;
        if (run && !opi.check && !written_elsewhere)
            opi_heap_fresh = run + shift;
        return run ? run + shift : NULL;
    }
    size_t stride = size + (size >= 2048 && !opi.check ? OPI_LINE : 0);
    if ((size_t)(c->run_end - c->run) < stride) {
        /* A page costs a microsecond or two when it is first touched, and many a program has a handful of buffers of a size: the first run is short. */
        size_t few = (3 * stride + OPI_PAGE - 1) & ~(OPI_PAGE - 1), bytes = size <= 2048 ? OPI_PAGE : c->run ? CARVE_RUN : few;
        char *run = take_run(cls, bytes, bytes, false);
        if (!run)
            return NULL;
        c->run = run;
        c->run_end = run + bytes;
    }
    void *p = c->run;
    c->run += stride;
    return p;
}

/* From here on until it is taken back, OPI_HEAP_LIMIT does not hold. */
void opi_heap_lift(bool lifted) {
    static size_t bound;
    if (lifted)
        bound = heap_bound;
    heap_bound = lifted ? heap_limit : bound;
}

/* Would a block of this class be missed, once a message of so many bytes has taken it along?  It may come back late or never, and the window is not endless:
 * where little of a large block is sent, more than half of the window is kept for other blocks; where all is, room for one more like it. */
bool opi_heap_scarce(int cls, size_t bytes) {
    size_t size = opi_class_size(cls), end = heap_bound;
    if (opi_classes[cls].depth > 0 || opi_cold[cls].own)
        return false;
    if (place) {
        size_t high = atomic_load_explicit(&place->high, memory_order_relaxed);
        end = high < end ? high : end;
    }
    size_t left = end > heap_used ? end - heap_used : 0;
    return left < size || (bytes <= size / 8 && (left < 2 * size || left < heap_bound / 2));
}

size_t opi_heap_committed(void) {
    return commit_from;
}

/* ---- fork ------------------------------------------------------------------------------------------------------------------------------------ */

/* A child shares the parent's memfd, so its writes would change the parent's buffers.  Before the fork the committed part is copied aside (the child's
 * copy-on-write view of that copy is the snapshot); the child puts it where the arena was, the parent drops it.  The same goes for what the user owns in the
 * arenas of other ranks, and for their heads, which tell sizes: the child gets private memory in place of each. */
static void *fork_copy;
static size_t fork_bytes;

/* A piece of another rank's arena, with its bytes after it. */
struct foreign {
    char *at;
    size_t bytes;
};

/* The end of the bytes from *at to `end` of a window that hold data, *at where they begin; 0: none do.  Pages that nobody has touched read as zeros, in a copy
 * too, and looking at them would make them.  Without the file all counts as data. */
static size_t data(int fd, size_t *at, size_t end) {
    if (fd < 0)
        return *at < end ? end : 0;
    off_t from = lseek(fd, (off_t)*at, SEEK_DATA);
    if (from < 0 || (size_t)from >= end)
        return from < 0 && errno != ENXIO ? end : 0;
    off_t to = lseek(fd, from, SEEK_HOLE);
    *at = (size_t)from;
    return to < 0 || (size_t)to > end ? end : (size_t)to;
}

static char *fork_foreign;
static size_t foreign_bytes, foreign_room;

static bool foreign_add(const void *at, size_t bytes) {
    size_t padded = (bytes + 15) & ~(size_t)15, need = foreign_bytes + sizeof(struct foreign) + padded;
    if (need > foreign_room) {
        size_t room = 2 * need;
        void *p = foreign_room ? mremap(fork_foreign, foreign_room, room, MREMAP_MAYMOVE)
                               : mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            return false;
        fork_foreign = p;
        foreign_room = room;
    }
    struct foreign f = {(char *)(uintptr_t)at, bytes};
    memcpy(fork_foreign + foreign_bytes, &f, sizeof f);
    memcpy(fork_foreign + foreign_bytes + sizeof f, at, bytes);
    foreign_bytes = need;
    return true;
}

/* What holds data of the bytes from `at` to `end` of the window at a. */
static bool foreign_data(int fd, const char *a, size_t at, size_t end) {
    for (size_t to; at < end && (to = data(fd, &at, end)) != 0; at = to)
        if (!foreign_add(a + at, to - at))
            return false;
    return true;
}

static bool foreign_copy(void) {
    size_t window = (size_t)1 << opi.window_shift, pieces = window >> OPI_HELD_SHIFT;
    for (int i = 0; opi.node_ok && i < opi.nlocal; i++) {
        const char *a = (const char *)opi.peer[i];
        if (!a || opi.peer[i] == opi.arena)
            continue;
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/fd/%d", opi.peer[i]->pid, opi.peer[i]->fd);
        int fd = open(path, O_RDONLY | O_CLOEXEC); /* -1: the pages that were never touched are copied, too */
        bool all = foreign_data(fd, a, 0, sizeof(struct opi_arena) + (heap_limit >> OPI_PAGE_SHIFT));
        size_t first = ((uintptr_t)a - opi.base) >> OPI_HELD_SHIFT;
        for (size_t t = first; all && t < first + pieces; t++) {
            const uint8_t *held = opi_held[t];
            for (size_t k = 0; held && k < (size_t)1 << (OPI_HELD_SHIFT - 6); k += sizeof(uint64_t)) {
                uint64_t eight;
                memcpy(&eight, held + k, sizeof eight);
                for (size_t b = k; eight != 0; b++, eight >>= 8) {
                    if ((eight & 0xff) == 0)
                        continue;
                    const char *block = (const char *)opi.base + (t << OPI_HELD_SHIFT) + (b << 6);
                    size_t bytes = opi_class_size(opi_class_of(block)), at = (size_t)(block - a);
                    all = all && foreign_data(fd, a, at, bytes < window - at ? at + bytes : window);
                }
            }
        }
        if (fd >= 0)
            close(fd);
        if (!all)
            return false;
    }
    return true;
}

/* In the child.  Without a copy the other arenas become inaccessible: a fault there is better than a change in another rank. */
static void foreign_put(bool copied) {
    size_t window = (size_t)1 << opi.window_shift;
    for (int i = 0; opi.node_ok && i < opi.nlocal; i++)
        if (opi.peer[i] && opi.peer[i] != opi.arena)
            (void)mmap(opi.peer[i], window, copied ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    for (size_t at = 0; copied && at < foreign_bytes;) {
        struct foreign f;
        memcpy(&f, fork_foreign + at, sizeof f);
        memcpy(f.at, fork_foreign + at + sizeof f, f.bytes);
        at += sizeof f + ((f.bytes + 15) & ~(size_t)15);
    }
}

static void foreign_drop(void) {
    if (foreign_room)
        munmap(fork_foreign, foreign_room);
    foreign_room = foreign_bytes = 0;
}

static bool foreign_done;

static void fork_prepare(void) {
    fork_copy = NULL;
    if (!opi.arena || opi.private_heap)
        return;
    size_t high = atomic_load_explicit(&place->high, memory_order_relaxed);
    fork_bytes = ((commit_from < high ? commit_from : high) + OPI_PAGE - 1) & ~(OPI_PAGE - 1); /* mappings begin at pages */
    void *p = mmap(NULL, fork_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return;
    size_t used = heap_used < fork_bytes ? heap_used : fork_bytes;
    for (size_t at = 0, end; at < used && (end = data(opi.memfd, &at, used)) != 0; at = end)
        memcpy((char *)p + at, (char *)opi.arena + at, end - at);
    fork_copy = p;
    foreign_done = foreign_copy();
}

static void fork_parent(void) {
    if (fork_copy)
        munmap(fork_copy, fork_bytes);
    fork_copy = NULL;
    foreign_drop();
}

static void fork_child(void) {
    if (!opi.arena)
        return;
    opi.ready = false; /* a child is no rank: MPI calls in it are its own affair */
    opi.threads = opi.locked; /* it has one thread, whatever the others held */
    atomic_store_explicit(&opi.owner, opi_self(), memory_order_relaxed);
    opi.special = opi.threads || opi.watch;
    atomic_store_explicit(&opi_helper_busy, 0, memory_order_relaxed);
    if (opi.private_heap)
        return;
    written_elsewhere = !fork_copy;
    if (fork_copy)
        (void)mremap(fork_copy, fork_bytes, fork_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, opi.arena);
    else /* no room for a copy: writes are the child's own, what it has not written follows the parent */
        (void)mmap(opi.arena, fork_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, opi.memfd, 0);
    foreign_put(fork_copy && foreign_done);
    foreign_drop();
    /* The rest of the window becomes private too, so that the child can go on allocating; the replacement allocator has seen to its own. */
    if (place == &own && fork_bytes < heap_limit &&
        mmap((char *)opi.arena + fork_bytes, heap_limit - fork_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        written_elsewhere = true;
    close(opi.memfd);
    opi.memfd = -1;
    opi.private_heap = true;
    fork_copy = NULL;
}

void opi_fork_init(void) {
    static bool once;
    if (once)
        return;
    once = true;
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}
