/* What must not hang: head-to-head sends, and posted receives that complete sends while their rank is inside the MPI. */
#include "../forms.h"

static void head_to_head(enum send_form form, size_t bytes, int messages)
{
    int peer = world_rank ^ 1;

    trying("%d head-to-head %s of %zu bytes", messages, send_name[form], bytes);
    for (int i = 0; i < messages; i++)
        send_by(form, PRIVATE, bytes, (unsigned)i, peer, i, MPI_COMM_WORLD);
    for (int i = 0; i < messages; i++) {
        struct reception r;
        begin_receive(&r, i % 2 ? RECV : TAKE, PRIVATE, bytes, peer, i, MPI_COMM_WORLD);
        end_receive(&r, bytes, (unsigned)i, peer, i);
    }
}

/* The even rank posts, enters a native call, then waits; the odd rank's send must end before that call does. */
static void posted_then_native(enum send_form sender, enum recv_form receiver, enum memory memory, size_t bytes, int native)
{
    int peer = world_rank ^ 1, in = 1, out = 0;
    struct reception r;

    trying("%s posted, native call %d, against %s of %zu bytes, memory %d", recv_name[receiver], native, send_name[sender], bytes, memory);
    if (world_rank % 2 == 0)
        begin_receive(&r, receiver, memory, bytes, peer, 3, MPI_COMM_WORLD);
    else
        send_by(sender, memory, bytes, 77, peer, 3, MPI_COMM_WORLD);
    if (native == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (native == 1) {
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else {
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Comm_free(&dup);
    }
    if (world_rank % 2 == 0)
        end_receive(&r, bytes, 77, peer, 3);
}

/* A native nonblocking collective advances while a rank waits in a receive of ours. */
static void collective_under_a_receive(void)
{
    int peer = world_rank ^ 1, in = world_rank, out = -1, ranks;
    MPI_Request request;
    struct reception r;

    trying("Iallreduce under a receive");
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (world_rank % 2 == 0) {
        begin_receive(&r, TAKE, PRIVATE, 64, peer, 4, MPI_COMM_WORLD);
        end_receive(&r, 64, 5, peer, 4);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        send_by(GIVE, PRIVATE, 64, 5, peer, 4, MPI_COMM_WORLD);
    }
    CHECK(out == ranks * (ranks - 1) / 2);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 8, 40, 4096, 1 << 20};

    start(&argc, &argv);
    head_to_head(SEND, 8, 20);
    head_to_head(GIVE, 8, 20);
    if (argc < 2 || strcmp(argv[1], "small") != 0) { /* across nodes the MPI below decides what it buffers */
        head_to_head(SEND, 4096, 10);
        head_to_head(SEND, 60000, 2);
        head_to_head(GIVE, 60000, 4);
    }
    for (int s = 0; s < 5; s++)
        for (int sender = SEND; sender <= IGIVE; sender++)
            for (int native = 0; native < (s == 1 || s == 4 ? 3 : 1); native++) /* which call it is changes little for how many bytes there are, and where */
                for (int memory = 0; memory < (native == 0 ? MEMORIES : 1); memory++) {
                    posted_then_native(sender, IRECV, memory, sizes[s], native);
                    posted_then_native(sender, ITAKE, memory, sizes[s], native);
                }
    for (int i = 0; i < 20; i++)
        collective_under_a_receive();
    return finish("progress");
}
