/*
 * The shared heap runs out (OPI_HEAP_LIMIT, a few MiB; two ranks).
 *   exhaust        OPI_Alloc fails with MPI_ERR_NO_MEM and leaves the pointer; with the heap full, messages go on; once freed, everything is as before
 *   exhaust fatal  under the default handler the job ends, and the line says why
 */
#include "../mpi/check.h"

#define PIECE ((size_t)100000)
#define MOST 10000
#define LARGE ((size_t)3 << 20)

static char *piece[MOST];
static int large; /* pieces of full size that the last filling found room for */

/* Allocates until nothing is left, the last in small steps. */
static int fill_heap(int first)
{
    int n = first;
    large = 0;
    for (size_t bytes = PIECE; bytes >= 64; bytes /= 2)
        while (n < MOST) {
            char mark, *p = &mark;
            int rc = OPI_Alloc(&p, bytes);
            if (rc != MPI_SUCCESS) {
                int class;
                MPI_Error_class(rc, &class);
                CHECK(class == MPI_ERR_NO_MEM);
                CHECK(p == &mark); /* untouched */
                break;
            }
            memset(p, n & 127, bytes);
            piece[n++] = p;
            if (bytes == PIECE)
                large = n - first;
        }
    CHECK(n > first + 10 && n < MOST);
    return n;
}

static void messages_go_on(size_t bytes)
{
    int peer = 1 - world_rank;
    char *out = malloc(bytes), *in = malloc(bytes);
    MPI_Status status;
    MPI_Request q;
    for (int i = 0; i < 4; i++) {
        memset(out, 10 * world_rank + i, bytes);
        if (i % 2 == 0) { /* expected */
            MPI_Irecv(in, (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &q);
            MPI_Barrier(MPI_COMM_WORLD);
            CHECK_CLASS(MPI_Send(out, (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD), MPI_SUCCESS);
            CHECK_CLASS(MPI_Wait(&q, &status), MPI_SUCCESS);
        } else { /* unexpected */
            CHECK_CLASS(MPI_Isend(out, (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &q), MPI_SUCCESS);
            MPI_Barrier(MPI_COMM_WORLD);
            CHECK_CLASS(MPI_Recv(in, (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &status), MPI_SUCCESS);
            CHECK_CLASS(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        CHECK(in[0] == 10 * peer + i && in[bytes - 1] == 10 * peer + i);
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "fatal") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        if (world_rank == 1)
            fill_heap(0);
        MPI_Recv(&argc, 1, MPI_INT, 1 - world_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* nobody sends this */
    }
    int kernel = argc < 2 || strcmp(argv[1], "no-kernel") != 0, n = 0, again = 0, once = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    n = fill_heap(0);
    once = large;

    messages_go_on(8);
    messages_go_on(250);
    if (kernel) {
        messages_go_on(5000);
        messages_go_on(LARGE);
    }

    /* A buffer that is there passes. */
    char *taken = NULL;
    int peer = 1 - world_rank;
    MPI_Request q;
    CHECK_CLASS(OPI_Igive(&piece[0], (int)PIECE, MPI_BYTE, peer, 50, MPI_COMM_WORLD, &q), MPI_SUCCESS);
    CHECK_CLASS(OPI_Take(&taken, (int)PIECE, MPI_BYTE, peer, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(taken && taken[PIECE - 1] == 0 && !piece[0]);
    piece[0] = taken;

    /* One that is not there does not; the message is gone, its sender free. */
    char small[40] = {0}, *none = NULL;
    if (world_rank == 0) {
        CHECK_CLASS(MPI_Send(small, 40, MPI_BYTE, 1, 51, MPI_COMM_WORLD), MPI_SUCCESS);
    } else {
        CHECK_CLASS(OPI_Take(&none, (int)LARGE, MPI_BYTE, 0, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_NO_MEM);
        CHECK(none == NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);

    for (int i = 0; i < n; i++)
        CHECK_CLASS(OPI_Free(&piece[i]), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    messages_go_on(8);
    messages_go_on(5000);
    again = fill_heap(0);
    CHECK(large >= once - 3); /* some may serve messages now */
    for (int i = 0; i < again; i++)
        CHECK_CLASS(OPI_Free(&piece[i]), MPI_SUCCESS);
    return finish("exhaust");
}
