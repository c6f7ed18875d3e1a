/* handle.h - the MPI's handles: their hash, and which are libopi's. */
#ifndef OPI_HANDLE_H
#define OPI_HANDLE_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

static inline size_t opi_handle_hash(const void *handle, size_t bytes) {
    uint64_t v = 0;
    memcpy(&v, handle, bytes);
    return (size_t)((v * 0x9e3779b97f4a7c15u) >> 40);
}

/* MPICH's handles are ints whose two top bits are 0 only in null handles (0x2c000000): ours count from 1.  Elsewhere a handle is a pointer, or a small
 * even number, and ours have the low bit set. */
static inline bool opi_is_ours(MPI_Request h) {
    if (sizeof(MPI_Request) == sizeof(uint32_t)) {
        uint32_t v;
        memcpy(&v, &h, sizeof v);
        return v - 1u < 0x2bffffffu;
    }
    uintptr_t v = 0;
    memcpy(&v, &h, sizeof h);
    return (v & 1) != 0;
}

#pragma GCC visibility pop

#endif
