/*
 * All ranks at once: a ring shift by each two-sided call, each side also met by plain sends and receives, with different
 * sizes in both directions; and head-to-head sends, which must not wait for a receive.
 */
#include "../forms.h"

enum { SENDRECV, GIVERECV, SENDTAKE, GIVETAKE, SEPARATE, CALLS };
static const char *const call_name[CALLS] = {"Sendrecv", "Giverecv", "Sendtake", "Givetake", "Isend and Recv"};
static int ranks;

static void shift(int call, size_t sent, size_t got, int to, int from, unsigned seed, int wild)
{
    int give = call == GIVERECV || call == GIVETAKE, take = call == SENDTAKE || call == GIVETAKE;
    int source = wild ? MPI_ANY_SOURCE : from, tag = 11, count = -1;
    void *out = new_buffer(give ? ALLOCATED : PRIVATE, sent), *in = NULL;
    MPI_Status status;
    MPI_Request request;

    fill(out, sent, seed + (unsigned)world_rank);
    if (!take)
        in = new_buffer(PRIVATE, got + 8);
    switch (call) {
    case SENDRECV:
        CHECK_CLASS(MPI_Sendrecv(out, (int)sent, MPI_BYTE, to, tag, in, (int)got + 8, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status),
                    MPI_SUCCESS);
        break;
    case GIVERECV:
        CHECK_CLASS(OPI_Giverecv(&out, (int)sent, MPI_BYTE, to, tag, in, (int)got + 8, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status),
                    MPI_SUCCESS);
        break;
    case SENDTAKE:
        CHECK_CLASS(OPI_Sendtake(out, (int)sent, MPI_BYTE, to, tag, &in, (int)got + 8, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status),
                    MPI_SUCCESS);
        break;
    case GIVETAKE:
        CHECK_CLASS(OPI_Givetake(&out, (int)sent, MPI_BYTE, to, tag, &in, (int)got + 8, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status),
                    MPI_SUCCESS);
        break;
    default:
        MPI_Isend(out, (int)sent, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
        MPI_Recv(in, (int)got + 8, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(status.MPI_SOURCE == from && status.MPI_TAG == tag);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == (int)got);
    CHECK(in != NULL && differs(in, got, seed + (unsigned)from) == 0);
    if (take && in != NULL)
        memset(in, 3, got + 8);
    CHECK((out == NULL) == give);
    if (!give)
        drop_buffer(PRIVATE, out);
    drop_buffer(take ? ALLOCATED : PRIVATE, in);
}

/* What was sent is replaced; the neighbours do it with or without passing ownership. */
static void replaced(int gives, size_t bytes, int to, int from, unsigned seed, int wild)
{
    MPI_Status status;
    int source = wild ? MPI_ANY_SOURCE : from, tag = 12, count = -1;
    void *p = new_buffer(gives ? ALLOCATED : PRIVATE, bytes);

    fill(p, bytes, seed + (unsigned)world_rank);
    if (gives)
        CHECK_CLASS(OPI_Givetake_replace(&p, (int)bytes, MPI_BYTE, to, tag, source, tag, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    else
        CHECK_CLASS(MPI_Sendrecv_replace(p, (int)bytes, MPI_BYTE, to, tag, source, tag, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    CHECK(status.MPI_SOURCE == from && status.MPI_TAG == tag);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == (int)bytes);
    CHECK(p != NULL && differs(p, bytes, seed + (unsigned)from) == 0);
    drop_buffer(gives ? ALLOCATED : PRIVATE, p);
}

static size_t size_of(int base, int rank)
{
    static const size_t sizes[] = {0, 8, 40, 200, 4096, 70000, 1 << 20};
    return sizes[(base + rank) % 7];
}

int main(int argc, char **argv)
{
    unsigned seed = 0;

    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int base = 0; base < 7; base++)
        for (int mine = 0; mine < CALLS; mine++)
            for (int step = 0; step < CALLS; step++)
                for (int wild = 0; wild < 2; wild++) {
                    int to = (world_rank + 1) % ranks, from = (world_rank + ranks - 1) % ranks;
                    int call = (mine + world_rank * step) % CALLS; /* neighbours use different calls */

                    trying("ring of %s by rank %d, sizes from %d, wild %d", call_name[call], world_rank, base, wild);
                    shift(call, size_of(base, world_rank), size_of(base, from), to, from, seed += 100, wild);
                    if (wild) /* a wildcard must not take the next round's message */
                        MPI_Barrier(MPI_COMM_WORLD);
                }
    for (int base = 0; base < 7; base++)
        for (int who = 0; who < 4; who++)
            for (int wild = 0; wild < 2; wild++) {
                int gives = who == 2 ? world_rank % 2 : who == 3 ? world_rank % 3 == 0 : who;

                trying("ring of replaces, size %d, %d, wild %d", base, who, wild);
                replaced(gives, size_of(base, 0), (world_rank + 1) % ranks, (world_rank + ranks - 1) % ranks, seed += 100, wild);
                if (wild)
                    MPI_Barrier(MPI_COMM_WORLD);
            }
    return finish("exchange");
}
