/*
 * Memory of MPI_Win_allocate from 8 KiB on starts half a page into a page, where the copies of puts and gets take the
 * least time, wherever the heap has put the block; all of it is the window's, and it is given back with the window.
 */
#include "../mpi/check.h"

int main(int argc, char **argv)
{
    static const MPI_Aint sizes[] = {0, 1, 8191, 8192, 8193, 65536, 524288, 1000003};
    int rank, ranks;
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int n = (int)sizes[i], next = (rank + 1) % ranks;
        unsigned char *base, *out = malloc((size_t)n + 1);
        MPI_Win win;
        trying("%d bytes", n);
        MPI_Win_allocate(n, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        CHECK((uintptr_t)base % 64 == 0);
        CHECK(n < 8192 || (uintptr_t)base % 4096 == 2048);
        fill(out, (size_t)n, (unsigned)rank);
        MPI_Win_fence(0, win);
        MPI_Put(out, n, MPI_BYTE, next, 0, n, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        CHECK(differs(base, (size_t)n, (unsigned)(rank + ranks - 1) % (unsigned)ranks) == 0);
        MPI_Win_free(&win);
        free(out);
    }
    /* With OPI_HEAP_LIMIT=64M: 20 windows of 4 MiB are more than the heap has at once. */
    for (int i = 0; i < 20; i++) {
        char *base;
        MPI_Win win;
        MPI_Win_allocate(4 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        CHECK((uintptr_t)base % 4096 == 2048);
        MPI_Win_free(&win);
    }
    return finish("place");
}
