/* ground.c - memory that ranks of several processes of a node share, for one window: where the seats lie, and what the window brings along.
 *
 * Each process makes one piece, a file without a name, and maps those of the others by the descriptors that they have open.  A piece goes when nobody maps it
 * any more, however the job ends. */
#include "ranks/window/win.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* `left` is counted by the members; all else is constant once the window is made. */
struct opir_ground {
    atomic_int left; /* members of this process that have not dropped it; release and acquire: what they did there, before it is unmapped */
    int pieces, fd;
    struct {
        char *at;
        size_t bytes;
    } piece[];
};

static char *mapped(int fd, size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

struct opir_ground *opir_ground_new(int pieces, int here, size_t bytes, int members, struct opir_ground_card *card) {
    struct opir_ground *g = opir_alloc(sizeof *g + (size_t)pieces * sizeof g->piece[0]);
    *card = (struct opir_ground_card){.fd = -1};
    atomic_init(&g->left, members);
    g->pieces = pieces;
    g->fd = memfd_create("opi-window", MFD_CLOEXEC);
    char *at = NULL;
    if (g->fd >= 0 && bytes <= PTRDIFF_MAX - OPIR_GROUND_HEAD && ftruncate(g->fd, (off_t)(bytes + OPIR_GROUND_HEAD)) == 0)
        at = mapped(g->fd, bytes + OPIR_GROUND_HEAD);
    if (!at) {
        if (g->fd >= 0)
            close(g->fd);
        free(g);
        return NULL;
    }
    g->piece[here].at = at;
    g->piece[here].bytes = bytes + OPIR_GROUND_HEAD;
    *card = (struct opir_ground_card){.token = opir_now() ^ (uint64_t)getpid() << 40 ^ (uintptr_t)at, .at = (uintptr_t)at, .fd = g->fd};
    memcpy(at, &card->token, sizeof card->token);
    return g;
}

bool opir_ground_join(struct opir_ground *g, int piece, int pid, size_t bytes, const struct opir_ground_card *card, bool copies) {
    char name[64];
    uint64_t there = 0;
    snprintf(name, sizeof name, "/proc/%d/fd/%d", pid, card->fd);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    char *at = lseek(fd, 0, SEEK_END) == (off_t)(bytes + OPIR_GROUND_HEAD) ? mapped(fd, bytes + OPIR_GROUND_HEAD) : NULL;
    close(fd);
    if (!at)
        return false;
    g->piece[piece].at = at;
    g->piece[piece].bytes = bytes + OPIR_GROUND_HEAD;
    if (memcmp(at, &card->token, sizeof card->token) != 0) /* another process has that number here */
        return false;
    struct iovec mine = {&there, sizeof there}, theirs = {(void *)card->at, sizeof there};
    return !copies || (process_vm_readv(pid, &mine, 1, &theirs, 1, 0) == (ssize_t)sizeof there && there == card->token);
}

void opir_ground_ready(struct opir_ground *g) {
    close(g->fd);
}

char *opir_ground_at(const struct opir_ground *g, int piece, size_t offset) {
    return g->piece[piece].at + OPIR_GROUND_HEAD + offset;
}

void opir_ground_drop(struct opir_ground *g) {
    if (atomic_fetch_sub_explicit(&g->left, 1, memory_order_acq_rel) > 1)
        return;
    for (int i = 0; i < g->pieces; i++)
        if (g->piece[i].at)
            munmap(g->piece[i].at, g->piece[i].bytes);
    free(g);
}
