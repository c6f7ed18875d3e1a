/* A rank and itself: nonblocking forms and the two-sided calls, on any number of ranks. */
#include "../forms.h"

static void one(enum send_form sender, enum recv_form receiver, enum memory memory, size_t bytes, unsigned seed, int receive_first)
{
    struct reception r;

    trying("%s -> %s to myself, %zu bytes, receive first %d", send_name[sender], recv_name[receiver], bytes, receive_first);
    if (receive_first) {
        begin_receive(&r, receiver, memory, bytes + 16, world_rank, 5, MPI_COMM_WORLD);
        send_by(sender, memory, bytes, seed, world_rank, 5, MPI_COMM_WORLD);
    } else { /* a buffer that stays until the request completes */
        MPI_Request request;
        void *buffer = new_buffer(sender == IGIVE ? ALLOCATED : memory, bytes);

        fill(buffer, bytes, seed);
        if (sender == IGIVE)
            CHECK_CLASS(OPI_Igive(&buffer, (int)bytes, MPI_BYTE, world_rank, 5, MPI_COMM_WORLD, &request), MPI_SUCCESS);
        else if (sender == ISEND)
            CHECK_CLASS(MPI_Isend(buffer, (int)bytes, MPI_BYTE, world_rank, 5, MPI_COMM_WORLD, &request), MPI_SUCCESS);
        else
            CHECK_CLASS(MPI_Issend(buffer, (int)bytes, MPI_BYTE, world_rank, 5, MPI_COMM_WORLD, &request), MPI_SUCCESS);
        begin_receive(&r, receiver, memory, bytes + 16, world_rank, 5, MPI_COMM_WORLD);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        if (sender != IGIVE)
            drop_buffer(memory, buffer);
        else
            CHECK(buffer == NULL);
    }
    end_receive(&r, bytes, seed, world_rank, 5);
}

static void both_at_once(size_t bytes)
{
    MPI_Status status;
    double *p = new_buffer(ALLOCATED, bytes), *q = NULL;
    int count;

    trying("Givetake to myself with one pointer, %zu bytes", bytes);
    fill(p, bytes, 9);
    CHECK_CLASS(OPI_Givetake(&p, (int)bytes, MPI_BYTE, world_rank, 1, &p, (int)bytes, MPI_BYTE, world_rank, 1, MPI_COMM_WORLD, &status),
                MPI_SUCCESS);
    CHECK(p != NULL && differs(p, bytes, 9) == 0);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == (int)bytes && status.MPI_SOURCE == world_rank && status.MPI_TAG == 1);
    trying("Givetake_replace to myself, %zu bytes", bytes);
    CHECK_CLASS(OPI_Givetake_replace(&p, (int)bytes, MPI_BYTE, world_rank, 1, world_rank, 1, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    CHECK(p != NULL && differs(p, bytes, 9) == 0);
    trying("Sendtake to myself, %zu bytes", bytes);
    CHECK_CLASS(OPI_Sendtake(p, (int)bytes, MPI_BYTE, world_rank, 2, &q, (int)bytes, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status),
                MPI_SUCCESS);
    CHECK(q != NULL && q != p && differs(q, bytes, 9) == 0 && differs(p, bytes, 9) == 0);
    memset(p, 0, bytes);
    trying("Giverecv to myself, %zu bytes", bytes);
    CHECK_CLASS(OPI_Giverecv(&q, (int)bytes, MPI_BYTE, world_rank, 3, p, (int)bytes, MPI_BYTE, world_rank, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
                MPI_SUCCESS);
    CHECK(q == NULL && differs(p, bytes, 9) == 0);
    drop_buffer(ALLOCATED, p);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {0, 8, 40, 4096, 1 << 20};
    static const enum send_form early[] = {ISEND, ISSEND, IGIVE};
    unsigned seed = 0;

    start(&argc, &argv);
    for (size_t s = 0; s < 5; s++)
        for (int memory = 0; memory < MEMORIES; memory++) {
            for (int sender = 0; sender < SEND_FORMS; sender++) {
                one(sender, IRECV, memory, sizes[s], seed++, 1);
                one(sender, ITAKE, memory, sizes[s], seed++, 1);
            }
            for (int sender = 0; sender < 3; sender++)
                for (int receiver = 0; receiver < RECV_FORMS; receiver++)
                    one(early[sender], receiver, memory, sizes[s], seed++, 0);
            both_at_once(sizes[s]);
        }
    return finish("self");
}
