/* kernel.c - copies by the kernel between memory of the caller and private memory of another process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "shared/onesided/onesided.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

bool opiw_kernel_wanted(void) {
    const char *s = getenv("OPI_KERNEL_COPY");
    return !s || strcmp(s, "0") != 0;
}

#define MOST 128 /* pieces of one call */

bool opiw_kernel(struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write) {
    struct iovec there[MOST];
    int pid = opiw_pid(t);
    size_t piece = 0, skip = 0;
    while (n) {
        size_t k = 0;
        for (size_t i = piece; i < pieces && k < MOST; i++, k++)
            there[k] = (struct iovec){theirs[i].at + (k ? 0 : skip), theirs[i].n - (k ? 0 : skip)};
        struct iovec here = {mine, n};
        ssize_t got = write ? process_vm_writev(pid, &here, 1, there, k, 0) : process_vm_readv(pid, &here, 1, there, k, 0);
        if (got <= 0) {
            if (got < 0 && errno == EINTR)
                continue;
            t->lost = got < 0 && errno == ESRCH; /* it cannot end before the window is freed but by dying */
            return false;
        }
        mine = (char *)mine + got;
        n -= (size_t)got;
        for (skip += (size_t)got; piece < pieces && skip >= theirs[piece].n; piece++)
            skip -= theirs[piece].n;
    }
    return true;
}
