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

/* Every way to send and to receive private memory, of a layout with gaps too, to the other rank and to this one, while nothing of the heap is left. */
static void all_forms(size_t bytes)
{
    int peer = 1 - world_rank, n = (int)(bytes / 8);
    unsigned mine = (unsigned)(world_rank + 3), its = (unsigned)(peer + 3);
    char *out = malloc(2 * bytes), *in = malloc(2 * bytes), *packed = malloc(bytes);
    MPI_Datatype gaps;
    MPI_Status status;
    MPI_Request q[2];
    bytes = (size_t)n * 8;
    MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    for (int form = 0; form < 12; form++) {
        trying("%zu bytes, form %d", bytes, form);
        int spread_out = form % 3 == 1, spread_in = form % 4 == 2, got = 0;
        memset(in, 0, 2 * bytes);
        fill(packed, bytes, mine + (unsigned)form);
        for (int i = 0; i < n; i++)
            memcpy(out + (spread_out ? 16 : 8) * (size_t)i, packed + 8 * (size_t)i, 8);
        int scount = spread_out ? 1 : n, rcount = spread_in ? 1 : n;
        MPI_Datatype st = spread_out ? gaps : MPI_DOUBLE, rt = spread_in ? gaps : MPI_DOUBLE;
        switch (form / 3) {
        case 0: /* posted first */
            MPI_Irecv(in, rcount, rt, peer, form, MPI_COMM_WORLD, &q[0]);
            CHECK_CLASS(MPI_Isend(out, scount, st, peer, form, MPI_COMM_WORLD, &q[1]), MPI_SUCCESS);
            CHECK_CLASS(MPI_Wait(&q[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
            CHECK_CLASS(MPI_Wait(&q[0], &status), MPI_SUCCESS);
            break;
        case 1: /* unexpected, synchronous */
            CHECK_CLASS(MPI_Issend(out, scount, st, peer, form, MPI_COMM_WORLD, &q[1]), MPI_SUCCESS);
            MPI_Barrier(MPI_COMM_WORLD);
            CHECK_CLASS(MPI_Recv(in, rcount, rt, peer, form, MPI_COMM_WORLD, &status), MPI_SUCCESS);
            CHECK_CLASS(MPI_Wait(&q[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
            break;
        case 2: /* the sender leaves for a barrier, the receiver waits before it */
            CHECK_CLASS(MPI_Isend(out, scount, st, peer, form, MPI_COMM_WORLD, &q[1]), MPI_SUCCESS);
            MPI_Irecv(in, rcount, rt, peer, form, MPI_COMM_WORLD, &q[0]);
            if (world_rank == 1)
                CHECK_CLASS(MPI_Wait(&q[0], &status), MPI_SUCCESS);
            MPI_Barrier(MPI_COMM_WORLD);
            if (world_rank == 0)
                CHECK_CLASS(MPI_Wait(&q[0], &status), MPI_SUCCESS);
            CHECK_CLASS(MPI_Wait(&q[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
            break;
        default: /* buffered: over at once, its buffer written to */
            CHECK_CLASS(MPI_Bsend(out, scount, st, peer, form, MPI_COMM_WORLD), MPI_SUCCESS);
            memset(out, 0, 2 * bytes);
            MPI_Barrier(MPI_COMM_WORLD);
            CHECK_CLASS(MPI_Recv(in, rcount, rt, peer, form, MPI_COMM_WORLD, &status), MPI_SUCCESS);
        }
        MPI_Get_count(&status, MPI_DOUBLE, &got);
        CHECK(got == n && status.MPI_SOURCE == peer);
        for (int i = 0; i < n; i++)
            memcpy(packed + 8 * (size_t)i, in + (spread_in ? 16 : 8) * (size_t)i, 8);
        CHECK(differs(packed, bytes, its + (unsigned)form) == 0);
    }

    /* Too long for its receive; to itself; and replaced. */
    trying("%zu bytes, the others", bytes);
    fill(out, bytes, mine);
    memset(in, 0x7e, bytes);
    MPI_Irecv(in, n / 2, MPI_DOUBLE, peer, 20, MPI_COMM_WORLD, &q[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Send(out, n, MPI_DOUBLE, peer, 20, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&q[0], &status), MPI_ERR_TRUNCATE);
    for (size_t i = (size_t)(n / 2) * 8; i < bytes; i++)
        if (in[i] != 0x7e) {
            CHECK(!"bytes beyond the receive");
            break;
        }
    CHECK_CLASS(MPI_Send(out, n, MPI_DOUBLE, world_rank, 21, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_CLASS(MPI_Recv(in, n, MPI_DOUBLE, world_rank, 21, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    CHECK(differs(in, bytes, mine) == 0);
    MPI_Issend(out, n, MPI_DOUBLE, world_rank, 22, MPI_COMM_WORLD, &q[0]);
    memset(in, 0, bytes);
    CHECK_CLASS(MPI_Recv(in, n, MPI_DOUBLE, world_rank, 22, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&q[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(differs(in, bytes, mine) == 0);
    CHECK_CLASS(MPI_Sendrecv_replace(out, n, MPI_DOUBLE, peer, 23, peer, 23, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    CHECK(differs(out, bytes, its) == 0);
    MPI_Type_free(&gaps);
    free(out);
    free(in);
    free(packed);
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
    int n = 0, again = 0, once = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    n = fill_heap(0);
    once = large;

    messages_go_on(8);
    messages_go_on(250);
    messages_go_on(5000);
    messages_go_on(LARGE);
    all_forms(LARGE);
    all_forms(100000);
    all_forms(6000);

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
