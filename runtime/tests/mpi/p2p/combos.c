/*
 * Every form of sending against every form of receiving: sizes, private and shared memory on each side, wildcards,
 * probes, the receive posted first or not, a receive longer than the message. Rank 0 sends to each other rank.
 *   combos [part, number of parts]   runs one part of the combinations
 */
#include "../forms.h"

static const size_t sizes[] = {0, 8, 40, 4096, 600000};
#define SIZES (sizeof sizes / sizeof sizes[0])
#define GO_TAG 30000

/* What a receiver does before it receives. */
enum { PLAIN, PROBE, IPROBE, POSTED_FIRST, WAYS };
static const char *const way_name[WAYS] = {"", "Probe", "Iprobe", "posted first"};

static void receive_one(enum recv_form form, enum memory memory, size_t bytes, size_t room, int way, int wild, unsigned seed, int tag)
{
    struct reception r;
    MPI_Status seen;
    int source = wild & 1 ? MPI_ANY_SOURCE : 0, want = wild & 2 ? MPI_ANY_TAG : tag, flag = 0, count = -1;

    if (way == PROBE) {
        CHECK_CLASS(MPI_Probe(source, want, MPI_COMM_WORLD, &seen), MPI_SUCCESS);
        flag = 1;
    }
    while (way == IPROBE && !flag)
        CHECK_CLASS(MPI_Iprobe(source, want, MPI_COMM_WORLD, &flag, &seen), MPI_SUCCESS);
    if (flag) {
        MPI_Get_count(&seen, MPI_BYTE, &count);
        CHECK(count == (int)bytes);
        CHECK(seen.MPI_SOURCE == 0);
        CHECK(seen.MPI_TAG == tag);
    }
    begin_receive(&r, form, memory, bytes + room, source, want, MPI_COMM_WORLD);
    if (way == POSTED_FIRST)
        MPI_Send(NULL, 0, MPI_BYTE, 0, GO_TAG, MPI_COMM_WORLD);
    end_receive(&r, bytes, seed, 0, tag);
}

int main(int argc, char **argv)
{
    int ranks, part = argc > 1 ? atoi(argv[1]) : 0, parts = argc > 2 ? atoi(argv[2]) : 1;
    unsigned seed = 0;

    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t size = 0; size < SIZES; size++)
        for (int sender = 0; sender < SEND_FORMS; sender++)
            for (int receiver = 0; receiver < RECV_FORMS; receiver++)
                for (int memories = 0; memories < MEMORIES * MEMORIES; memories++)
                    for (int way = 0; way < WAYS; way++)
                        for (int wild = 0; wild < 4; wild++) {
                            enum memory from = memories & 1 ? ALLOCATED : PRIVATE, to = memories & 2 ? ALLOCATED : PRIVATE;
                            size_t bytes = sizes[size], room = seed % 3 == 0 ? 0 : 72;
                            int tag = (int)(seed % 1000);

                            if (way == POSTED_FIRST && receiver != IRECV && receiver != ITAKE)
                                continue;
                            if (bytes > 100000 && (way == PROBE || way == IPROBE || wild != 0))
                                continue; /* time */
                            if ((int)(++seed % (unsigned)parts) != part)
                                continue;
                            trying("%s -> %s, %zu bytes, room %zu, memory %d -> %d, wild %d, %s", send_name[sender],
                                   recv_name[receiver], bytes, room, from, to, wild, way_name[way]);
                            if (world_rank != 0) {
                                receive_one(receiver, to, bytes, room, way, wild, seed, tag);
                                continue;
                            }
                            for (int peer = 1; peer < ranks; peer++) {
                                if (way == POSTED_FIRST)
                                    MPI_Recv(NULL, 0, MPI_BYTE, peer, GO_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                                send_by(sender, from, bytes, seed, peer, tag, MPI_COMM_WORLD);
                            }
                        }
    return finish("combos");
}
