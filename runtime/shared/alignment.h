/* alignment.h - the alignment that a program asks for: of MPI_Alloc_mem, MPI_Win_allocate and MPI_Win_allocate_shared (MPI-4.0, 9.2). */
#ifndef OPI_ALIGNMENT_H
#define OPI_ALIGNMENT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* 1 where nothing is asked for, or no power of 2. */
static inline size_t opi_alignment(MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1];
    int there = 0;
    if (info == MPI_INFO_NULL || PMPI_Info_get(info, "mpi_minimum_memory_alignment", MPI_MAX_INFO_VAL, value, &there) != MPI_SUCCESS || !there)
        return 1;
    unsigned long n = strtoul(value, NULL, 10);
    return n && (n & (n - 1)) == 0 && n <= (1ul << 30) ? n : 1;
}

static inline int opi_is_aligned(const void *p, size_t to) {
    return ((uintptr_t)p & (to - 1)) == 0;
}

#endif
