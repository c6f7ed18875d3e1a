/* Streams of buffers that nobody slows: a rank that makes buffers faster than they are taken waits until some are.  And who gives first and takes later goes on,
 * however much that is. */
#include <malloc.h>
#include <mpi.h>
#include <opi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COUNTED = 0, GIVES = 2000 }; /* their malloc is another, and keeps what was freed */
#else
enum { COUNTED = 1, GIVES = 16000 };
#endif

enum { LENGTH = 1 << 17 };
static const MPI_Comm world = MPI_COMM_WORLD;

static size_t allocated(void) {
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

static void make(char **b, int k) {
    OPI_Alloc(b, LENGTH);
    for (int i = 0; i < LENGTH; i += 4096)
        (*b)[i] = (char)(k + i / 4096);
}

static void check(int rank, const char *b, int k) {
    for (int i = 0; i < LENGTH; i += 4096)
        if (b[i] != (char)(k + i / 4096))
            FAIL("buffer %d: got %d at %d", k, b[i], i);
}

/* Each buffer goes from rank to rank; the last one is the slowest, for it looks at all of it.  Gives the most that was allocated. */
static size_t chain(int rank, int size, int form) {
    size_t most = 0;
    for (int k = 0; k < GIVES / size; k++) {
        char *b;
        if (rank) {
            OPI_Take(&b, LENGTH, MPI_CHAR, rank - 1, 9, world, MPI_STATUS_IGNORE);
            check(rank, b, k);
        } else {
            make(&b, k);
        }
        if (rank + 1 == size) {
            OPI_Free(&b);
        } else if (form) {
            MPI_Request q;
            OPI_Igive(&b, LENGTH, MPI_CHAR, rank + 1, 9, world, &q);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        } else {
            OPI_Give(&b, LENGTH, MPI_CHAR, rank + 1, 9, world);
        }
        if (COUNTED && k % 64 == 0 && allocated() > most)
            most = allocated();
    }
    return most;
}

/* All give more than may wait, and take afterwards. */
static void first(int rank, int size, int n) {
    char *b;
    for (int k = 0; k < n; k++) {
        make(&b, k);
        OPI_Give(&b, LENGTH, MPI_CHAR, (rank + 1) % size, 9, world);
    }
    for (int k = 0; k < n; k++) {
        OPI_Take(&b, LENGTH, MPI_CHAR, (rank + size - 1) % size, 9, world, MPI_STATUS_IGNORE);
        check(rank, b, k);
        OPI_Free(&b);
    }
}

/* A give whose request is freed, or cancelled in vain, while it waits for room. */
static void let_go(int rank, int n) {
    char *b;
    MPI_Request q;
    for (int k = 0; rank == 0 && k < n; k++) {
        make(&b, k);
        OPI_Igive(&b, LENGTH, MPI_CHAR, 1, 9, world, &q);
        if (k % 2) {
            MPI_Request_free(&q);
        } else {
            MPI_Status status;
            int cancelled;
            MPI_Cancel(&q);
            MPI_Wait(&q, &status);
            MPI_Test_cancelled(&status, &cancelled);
            if (cancelled)
                FAIL("give %d was cancelled", k);
        }
    }
    for (int k = 0; rank == 1 && k < n; k++) {
        MPI_Message message;
        if (k % 3) {
            OPI_Take(&b, LENGTH, MPI_CHAR, 0, 9, world, MPI_STATUS_IGNORE);
        } else {
            OPI_Alloc(&b, LENGTH);
            MPI_Mprobe(0, 9, world, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(b, LENGTH, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        }
        check(rank, b, k);
        OPI_Free(&b);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (int form = 0; form < 2 && size > 1; form++) {
        size_t most = chain(rank, size, form), may = ((size_t)size + 1) * 100 << 20; /* two ranks: a GiB goes through */
        if (most > may)
            FAIL("%zu bytes were allocated at once, more than %zu", most, may);
    }
    if (size > 1) {
        const char *carrier = getenv("OPI_RANKS_CARRIER");
        int many = carrier && strcmp(carrier, "fibers") == 0 ? 40 : 540; /* 8 may wait, or 512 */
        first(rank, size, 1);
        first(rank, size, many);
        let_go(rank, many);
    }
    MPI_Barrier(world);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
