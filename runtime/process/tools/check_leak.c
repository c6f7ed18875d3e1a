/* check_leak.c - OPI_CHECK: buffers that nobody freed, told when the program ends, by the line that made them.
 *
 * Not at MPI_Finalize: buffers may be freed after it.  A buffer whose address stands in a variable of static storage is no leak: the program can still
 * reach it, as a global array that was always there. */
#include "process/base/error.h"
#include "process/heap/pool.h"

#include <link.h>

#define SITES 16

/* libopi's own variables, which remember blocks that went through the pool. */
static bool own_variable(const char *p) {
    return (p >= (const char *)opi_classes && p < (const char *)(opi_classes + OPI_CLASSES)) ||
           (p >= (const char *)opi_cold && p < (const char *)(opi_cold + OPI_CLASSES)) || (p >= (const char *)&opi && p < (const char *)(&opi + 1));
}

/* Marks the buffers whose addresses lie in the writable segments of a loaded object. */
__attribute__((no_sanitize("address", "thread"))) static int mark_reachable(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        uintptr_t at = ((uintptr_t)info->dlpi_addr + part->p_vaddr + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
        uintptr_t end = (uintptr_t)info->dlpi_addr + part->p_vaddr + part->p_memsz;
        for (; at + sizeof(void *) <= end; at += sizeof(void *)) {
            void *value = *(void *const volatile *)at;
            if (!opi_in_region(value) || own_variable((const char *)at))
                continue;
            struct opi_book *b = opi_book_of(value);
            if (b && b->state == OPI_B_HELD)
                b->state = OPI_B_REACHABLE;
        }
    }
    return 0;
}

__attribute__((destructor)) static void leaks(void) {
    void *sites[SITES];
    size_t count[SITES], bytes[SITES], left_out = 0;
    int n = 0;
    if (!opi.check || !opi.mpi_over)
        return;
    dl_iterate_phdr(mark_reachable, NULL);
    struct opi_book *b;
    for (size_t i = 0; (b = opi_book_next(&i)) != NULL;) {
        if (b->state != OPI_B_HELD)
            continue;
        int k = 0;
        while (k < n && sites[k] != b->born)
            k++;
        if (k == SITES) {
            left_out++;
            continue;
        }
        if (k == n) {
            sites[n] = b->born;
            count[n] = bytes[n] = 0;
            n++;
        }
        count[k]++;
        bytes[k] += b->length;
    }
    for (int k = 0; k < n; k++) {
        char there[512];
        opi_where(sites[k], true, there, sizeof there);
        opi_say("rank %d leaks %zu buffer%s of %zu bytes from %s", opi.world_rank, count[k], count[k] == 1 ? "" : "s", bytes[k], there);
    }
    if (left_out)
        opi_say("rank %d leaks %zu more buffers from other lines", opi.world_rank, left_out);
}
