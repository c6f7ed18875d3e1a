/* Every path of a message inside the node, for each kind of memory on both sides and sizes around every threshold, expected and unexpected.
 *
 *   paths [late|early|below]   `late` forbids process_vm_readv and process_vm_writev after MPI_Init has found that they work, `early` before it; `below`
 *                              passes over some sizes: the MPI below, which carries the messages, knows of no such thresholds
 *
 * The environment moves the thresholds (OPI_EAGER_LIMIT, OPI_KERNEL_MIN, OPI_CO_MIN, OPI_INLINE_LIMIT), so that small messages take each path. */
#include "check.h"
#include "forbid.h"

enum memory { PRIVATE, REACHABLE, OWNED, MEMORIES };
enum form { SEND, SSEND, ISEND, BSEND, FORMS };

#define GUARD 64

/* Most of the time would go into writing and reading the bytes. */
#if defined(__GNUC__) && !defined(__clang__)
#define OFTEN __attribute__((optimize("O3")))
#else
#define OFTEN
#endif

/* The bytes of the message of a seed, every `step` bytes from b on. */
OFTEN static void write_pattern(unsigned char *restrict b, size_t n, size_t step, int seed) {
    unsigned char first = (unsigned char)(seed * 31);
    if (step == 1)
        for (size_t i = 0; i < n; i++)
            b[i] = (unsigned char)(first + i * 7 + (i >> 8) * 13 + (i >> 16) * 5);
    else
        for (size_t i = 0; i < n; i++)
            b[i * step] = (unsigned char)(first + i * 7 + (i >> 8) * 13 + (i >> 16) * 5);
}

OFTEN static int has_pattern(const unsigned char *b, size_t n, size_t step, int seed) {
    unsigned char first = (unsigned char)(seed * 31), wrong = 0;
    if (step == 1)
        for (size_t i = 0; i < n; i++)
            wrong |= b[i] ^ (unsigned char)(first + i * 7 + (i >> 8) * 13 + (i >> 16) * 5);
    else
        for (size_t i = 0; i < n; i++)
            wrong |= b[i * step] ^ (unsigned char)(first + i * 7 + (i >> 8) * 13 + (i >> 16) * 5);
    return wrong == 0;
}

static unsigned char *get(enum memory memory, size_t n) {
    unsigned char *p = NULL;
    if (memory == PRIVATE)
        p = malloc(n + GUARD);
    else if (memory == REACHABLE)
        MPI_Alloc_mem((MPI_Aint)(n + GUARD), MPI_INFO_NULL, &p);
    else
        OPI_Alloc(&p, n + GUARD);
    CHECK(p != NULL);
    return p;
}

static void put(enum memory memory, unsigned char *p) {
    if (memory == PRIVATE)
        free(p);
    else if (memory == REACHABLE)
        MPI_Free_mem(p);
    else
        OPI_Free(&p);
}

static void send_one(enum form form, enum memory memory, size_t n, int seed, int to, int strided) {
    MPI_Request q;
    MPI_Datatype type = MPI_BYTE;
    int count = (int)n;
    size_t step = strided ? 2 : 1;
    unsigned char *b = get(memory, n * step);
    write_pattern(b, n, step, seed);
    if (strided) {
        MPI_Type_create_resized(MPI_BYTE, 0, 2, &type);
        MPI_Type_commit(&type);
    }
    switch (form) {
    case SEND: MPI_Send(b, count, type, to, seed, MPI_COMM_WORLD); break;
    case SSEND: MPI_Ssend(b, count, type, to, seed, MPI_COMM_WORLD); break;
    case BSEND: MPI_Bsend(b, count, type, to, seed, MPI_COMM_WORLD); break;
    default:
        MPI_Isend(b, count, type, to, seed, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    memset(b, 0xee, n * step); /* the sender may write again */
    put(memory, b);
    if (strided)
        MPI_Type_free(&type);
}

/* Receives n bytes of a message of `sent`, n <= sent; the rest would be truncated. */
static void receive_one(enum memory memory, size_t n, int seed, int from, int strided, int posted) {
    MPI_Request q;
    MPI_Status st;
    MPI_Datatype type = MPI_BYTE;
    int count = (int)n, got = -1;
    size_t step = strided ? 2 : 1;
    unsigned char *b = NULL;
    if (strided) {
        MPI_Type_create_resized(MPI_BYTE, 0, 2, &type);
        MPI_Type_commit(&type);
    }
    if (memory != OWNED) {
        b = get(memory, n * step);
        memset(b, 0xaa, n * step + GUARD);
        MPI_Irecv(b, count, type, from, seed, MPI_COMM_WORLD, &q);
    } else {
        OPI_Itake(&b, count, type, from, seed, MPI_COMM_WORLD, &q);
    }
    if (posted)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&q, &st);
    MPI_Get_count(&st, MPI_BYTE, &got);
    CHECK(got == (int)n && st.MPI_TAG == seed && st.MPI_SOURCE == from);
    CHECK(has_pattern(b, n, step, seed));
    if (memory != OWNED) {
        for (size_t i = n * step; i < n * step + GUARD; i++)
            CHECK(b[i] == 0xaa);
        int kept = 1;
        for (size_t i = 0; strided && i < n; i++)
            kept &= b[2 * i + 1] == 0xaa;
        CHECK(kept);
    }
    put(memory, b);
    if (strided)
        MPI_Type_free(&type);
}

/* The sender's memory cannot be read, which its receiver finds out while the sender is in a barrier: the bytes have to come all the same. */
static void sender_in_a_barrier(void) {
    enum { BYTES = 200000 };
    MPI_Request q;
    unsigned char *b = get(PRIVATE, BYTES);
    if (rank & 1) {
        usleep(20000);
        memset(b, 0, BYTES);
        MPI_Recv(b, BYTES, MPI_BYTE, rank ^ 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(has_pattern(b, BYTES, 1, 1));
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        write_pattern(b, BYTES, 1, 1);
        MPI_Issend(b, BYTES, MPI_BYTE, rank ^ 1, 1, MPI_COMM_WORLD, &q);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    put(PRIVATE, b);
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {0, 1, 48, 49, 107, 108, 109, 255, 256, 257, 2000, 5000, 65535, 65537, 140000, 700001};
    if (argc > 1 && strcmp(argv[1], "early") == 0)
        forbid_kernel_copies();
    start(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        forbid_kernel_copies();
    sender_in_a_barrier();
    enum { ATTACHED = 1 << 26 }; /* the MPI below may free what it buffers late */
    void *attached = malloc(ATTACHED);
    MPI_Buffer_attach(attached, ATTACHED);
    int peer = rank ^ 1, seed = 0;
    size_t step = argc > 1 && strcmp(argv[1], "below") == 0 ? 3 : 1;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s += step)
        for (int combination = 0; combination < MEMORIES * MEMORIES * FORMS * 2 * 2 * 2; combination++) {
            int c = combination;
            enum memory from = (enum memory)(c % MEMORIES), to = (enum memory)(c / MEMORIES % MEMORIES);
            c /= MEMORIES * MEMORIES;
            enum form form = (enum form)(c % FORMS);
            c /= FORMS;
            int posted = c & 1, gaps_from = c >> 1 & 1, gaps_to = c >> 2 & 1;
            seed = (seed + 1) % 30000;
            if (sizes[s] > 10000 && (gaps_from || gaps_to) && combination % 5)
                continue; /* a few are enough of the slow ones */
            if (rank & 1) {
                if (!posted && combination % 3 == 0)
                    usleep(50); /* sometimes it is there before the receive */
                if (peer < size)
                    receive_one(to, sizes[s], seed, peer, gaps_to, posted);
                else if (posted)
                    MPI_Barrier(MPI_COMM_WORLD);
            } else {
                if (posted)
                    MPI_Barrier(MPI_COMM_WORLD);
                if (peer < size)
                    send_one(form, from, sizes[s], seed, peer, gaps_from);
            }
        }
    void *detached;
    int detached_size;
    MPI_Buffer_detach(&detached, &detached_size);
    free(attached);
    return finish();
}
