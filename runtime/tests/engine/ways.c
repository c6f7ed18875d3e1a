/* A number of messages of its own for each way through the node, so that OPI_PROFILE shows which messages took which: rank 0 sends, rank 1 receives.
 *
 *   ways [late|early]     `late` forbids process_vm_readv and process_vm_writev after MPI_Init has found that they work, `early` before it
 *
 * tests/runtime/test_paths.py sets the thresholds and knows the numbers. */
#include "check.h"
#include "forbid.h"

enum form { SEND, SSEND, GIVE };
enum memory { PRIVATE, REACHABLE };

static const struct {
    enum form form;
    enum memory from;
    int take, count, bytes;
} table[] = {
    {SEND, PRIVATE, 0, 3, 40},        /* in the envelope */
    {SEND, REACHABLE, 1, 2, 200},     /* in the envelope and the ring slots after it */
    {SEND, PRIVATE, 0, 5, 4000},      /* two copies, through the heap */
    {SEND, REACHABLE, 0, 6, 4100},    /* the same: below the eager limit */
    {SEND, PRIVATE, 0, 7, 200000},    /* two copies that overlap; from OPI_KERNEL_MIN on the kernel's one */
    {SEND, REACHABLE, 0, 11, 200000}, /* the receiver's one copy */
    {SSEND, REACHABLE, 1, 13, 4000},  /* the same */
    {SSEND, PRIVATE, 0, 17, 4000},    /* through the heap, and matched before the call returns */
    {SSEND, PRIVATE, 0, 31, 200000},  /* the same; from OPI_KERNEL_MIN on the kernel's one copy */
    {SSEND, REACHABLE, 1, 19, 1 << 23}, /* one copy, by both sides: the sender has nothing else to do */
    {GIVE, REACHABLE, 1, 23, 4000},   /* the buffer itself */
    {GIVE, REACHABLE, 0, 29, 4000},   /* the receiver's one copy */
};

static void send_one(int i) {
    int n = table[i].bytes / (int)sizeof(int), *b;
    if (table[i].form == GIVE)
        OPI_Alloc(&b, (MPI_Aint)table[i].bytes);
    else if (table[i].from == REACHABLE)
        MPI_Alloc_mem((MPI_Aint)table[i].bytes, MPI_INFO_NULL, &b);
    else
        b = malloc((size_t)table[i].bytes);
    CHECK(b != NULL);
    fill(b, n, i);
    if (table[i].form == GIVE) {
        OPI_Give(&b, n, MPI_INT, 1, i, MPI_COMM_WORLD);
        CHECK(b == NULL);
        return;
    }
    if (table[i].form == SEND)
        MPI_Send(b, n, MPI_INT, 1, i, MPI_COMM_WORLD);
    else
        MPI_Ssend(b, n, MPI_INT, 1, i, MPI_COMM_WORLD);
    fill(b, n, -1); /* the sender may write again */
    if (table[i].from == REACHABLE)
        MPI_Free_mem(b);
    else
        free(b);
}

static void receive_one(int i) {
    int n = table[i].bytes / (int)sizeof(int), *b = NULL;
    if (table[i].take) {
        OPI_Take(&b, n, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(same(b, n, i));
        OPI_Free(&b);
        return;
    }
    b = malloc((size_t)table[i].bytes);
    CHECK(b != NULL);
    MPI_Recv(b, n, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(same(b, n, i));
    free(b);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "early") == 0)
        forbid_kernel_copies();
    start(&argc, &argv);
    CHECK(size == 2);
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        forbid_kernel_copies();
    for (int i = 0; i < (int)(sizeof table / sizeof table[0]); i++)
        for (int k = 0; k < table[i].count; k++)
            if (rank == 0)
                send_one(i);
            else
                receive_one(i);
    return finish();
}
