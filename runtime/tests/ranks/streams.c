/* Streams of buffers that go one way: one rank makes all, another frees all.  Receivers tell now and then that they have what came, so few are under way; what
 * the ranks keep besides does not grow with the length of the stream. */
#include <malloc.h>
#include <mpi.h>
#include <opi.h>
#include <stdio.h>
#include <stdlib.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COUNTED = 0 }; /* their malloc is another, and keeps what was freed */
#else
enum { COUNTED = 1 };
#endif

enum { GIVES = 10000, UNDER_WAY = 50 };
static const MPI_Comm world = MPI_COMM_WORLD;

static int length(int k) {
    static const int lengths[] = {1000, 105, 4096, 1500, 300000, 20000, 1024, 70000};
    return lengths[k % (int)(sizeof lengths / sizeof *lengths)];
}

static char *make(int rank, int k) {
    int n = length(k);
    char *b;
    OPI_Alloc(&b, (size_t)n);
    for (int i = 0; i < n; i += 1 + n / 16)
        b[i] = (char)(rank * 31 + k + i);
    b[n - 1] = (char)k;
    return b;
}

static void give(char **b, int to, int k) {
    OPI_Give(b, length(k), MPI_CHAR, to, 9, world);
}

static void told(int giver, int k) {
    if (k % UNDER_WAY == UNDER_WAY - 1)
        MPI_Send(NULL, 0, MPI_INT, giver, 10, world);
}

static void wait_until_told(int taker, int k) {
    if (k % UNDER_WAY == UNDER_WAY - 1)
        MPI_Recv(NULL, 0, MPI_INT, taker, 10, world, MPI_STATUS_IGNORE);
}

static char *take(int rank, int from, int k, int made_by) {
    int n = length(k);
    char *b;
    OPI_Take(&b, n, MPI_CHAR, from, 9, world, MPI_STATUS_IGNORE);
    for (int i = 0; i < n - 1; i += 1 + n / 16)
        CHECK(b[i], (char)(made_by * 31 + k + i));
    CHECK(b[n - 1], (char)k);
    return b;
}

/* All give to rank 0. */
static void fan_in(int rank, int size) {
    for (int k = 0; k < GIVES / (size - 1); k++) {
        if (rank) {
            char *b = make(rank, k);
            give(&b, 0, k);
            wait_until_told(0, k);
        }
        for (int peer = 1; rank == 0 && peer < size; peer++) {
            char *b = take(rank, peer, k, peer);
            OPI_Free(&b);
            told(peer, k);
        }
    }
}

/* Rank 0 gives to all. */
static void fan_out(int rank, int size) {
    for (int k = 0; k < GIVES / (size - 1); k++) {
        for (int peer = 1; rank == 0 && peer < size; peer++) {
            char *b = make(rank, k);
            give(&b, peer, k);
            wait_until_told(peer, k);
        }
        if (rank) {
            char *b = take(rank, 0, k, 0);
            OPI_Free(&b);
            told(0, k);
        }
    }
}

/* The same buffer goes on from rank to rank: who frees it never meets who made it. */
static void chain(int rank, int size) {
    for (int k = 0; k < GIVES; k++) {
        char *b = rank ? take(rank, rank - 1, k, 0) : make(rank, k);
        if (rank + 1 < size)
            give(&b, rank + 1, k);
        else
            OPI_Free(&b);
        if (rank)
            told(rank - 1, k);
        if (rank + 1 < size)
            wait_until_told(rank + 1, k);
    }
}

int main(int argc, char **argv) {
    static void (*const streams[])(int, int) = {fan_in, fan_out, chain};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (int how = 0; size > 1 && how < 3; how++)
        streams[how](rank, size);
    MPI_Barrier(world);
    if (COUNTED) { /* else the C library's own count is not to be asked for: a sanitizer's malloc stands before it */
        struct mallinfo2 all = mallinfo2();
        size_t held = all.uordblks + all.hblkhd, may = ((size_t)size + 1) * 16 << 20; /* all that went through: 480 MiB and more for each stream */
        if (held > may)
            FAIL("%zu bytes are allocated after the streams, more than %zu", held, may);
    }
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
