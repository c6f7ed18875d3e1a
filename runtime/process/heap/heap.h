/* heap.h - the heap that the ranks of a node share (heap.c, pool.c). */
#ifndef OPI_HEAP_H
#define OPI_HEAP_H

#include "process/heap/pool.h"

#pragma GCC visibility push(hidden)

bool opi_heap_init(void);
bool opi_heap_place_known(void);
struct opi_arena *opi_heap_map_peer(int pid, int fd, uintptr_t address, size_t window);
void opi_heap_unmap_peer(struct opi_arena *a);
void *opi_heap_carve(int cls);
extern void *opi_heap_fresh; /* the large block that was carved last: all its bytes are zero until somebody writes to it */
void opi_heap_lift(bool lifted);
size_t opi_heap_committed(void);
bool opi_heap_scarce(int cls, size_t bytes);
void opi_fork_init(void);
void opi_pool_init(size_t heap);

/* Can every rank of the node read these bytes at this address? */
static inline bool opi_reachable(const void *p, size_t n) {
    if (opi.private_heap || !opi_in_region(p))
        return false;
    const char *a = (const char *)opi_arena_of(p);
    return (size_t)((const char *)p - a) + n <= ((size_t)1 << opi.window_shift);
}

#pragma GCC visibility pop

#endif
