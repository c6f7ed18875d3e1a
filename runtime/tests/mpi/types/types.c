/*
 * Datatypes with gaps: vectors, structs, indexed and resized types, sent and received by every form, against contiguous
 * types on the other side. Bytes in the gaps of a receive buffer stay as they were; counts are those of the type.
 */
#include <stddef.h>

#include "../forms.h"

#define BLOCKS 300
#define STRIDE 5
#define INTS (BLOCKS * STRIDE)

struct mixed {
    char c;
    double d;
    short s[3];
};

static MPI_Datatype column, mixed_type, indexed, resized;

static void make_types(void)
{
    int lengths[3] = {1, 1, 3}, block[4] = {2, 1, 3, 1}, at[4] = {0, 5, 9, 20};
    MPI_Aint offsets[3] = {offsetof(struct mixed, c), offsetof(struct mixed, d), offsetof(struct mixed, s)};
    MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, raw;

    MPI_Type_vector(BLOCKS, 2, STRIDE, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Type_create_struct(3, lengths, offsets, parts, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct mixed), &mixed_type);
    MPI_Type_commit(&mixed_type);
    MPI_Type_free(&raw);
    MPI_Type_indexed(4, block, at, MPI_INT, &indexed);
    MPI_Type_commit(&indexed);
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &resized);
    MPI_Type_commit(&resized);
}

static void send_type(enum send_form form, void *data, size_t bytes, int count, MPI_Datatype type, int dest, int tag)
{
    void *p = data;
    MPI_Request request;

    if (gives(form)) {
        OPI_Alloc(&p, bytes);
        memcpy(p, data, bytes);
    }
    switch (form) {
    case SEND: CHECK_CLASS(MPI_Send(p, count, type, dest, tag, MPI_COMM_WORLD), MPI_SUCCESS); break;
    case SSEND: CHECK_CLASS(MPI_Ssend(p, count, type, dest, tag, MPI_COMM_WORLD), MPI_SUCCESS); break;
    case ISEND:
        CHECK_CLASS(MPI_Isend(p, count, type, dest, tag, MPI_COMM_WORLD, &request), MPI_SUCCESS);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        break;
    case GIVE: CHECK_CLASS(OPI_Give(&p, count, type, dest, tag, MPI_COMM_WORLD), MPI_SUCCESS); break;
    case SGIVE: CHECK_CLASS(OPI_Sgive(&p, count, type, dest, tag, MPI_COMM_WORLD), MPI_SUCCESS); break;
    default:
        CHECK_CLASS(OPI_Igive(&p, count, type, dest, tag, MPI_COMM_WORLD, &request), MPI_SUCCESS);
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    if (gives(form))
        CHECK(p == NULL);
}

/* Returns the buffer: `mine` itself, or for takes a new one, whose gaps hold anything. */
static void *receive_type(enum recv_form form, void *mine, int count, MPI_Datatype type, int source, int tag, int expected)
{
    void *p = mine;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int got = -1;

    switch (form) {
    case RECV: CHECK_CLASS(MPI_Recv(p, count, type, source, tag, MPI_COMM_WORLD, &status), MPI_SUCCESS); break;
    case IRECV: CHECK_CLASS(MPI_Irecv(p, count, type, source, tag, MPI_COMM_WORLD, &request), MPI_SUCCESS); break;
    case TAKE: CHECK_CLASS(OPI_Take(&p, count, type, source, tag, MPI_COMM_WORLD, &status), MPI_SUCCESS); break;
    default: CHECK_CLASS(OPI_Itake(&p, count, type, source, tag, MPI_COMM_WORLD, &request), MPI_SUCCESS);
    }
    if (request != MPI_REQUEST_NULL)
        CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    MPI_Get_count(&status, type, &got);
    CHECK(got == expected);
    return p;
}

static const enum send_form senders[] = {SEND, SSEND, ISEND, GIVE, IGIVE, SGIVE};
static const enum recv_form receivers[] = {RECV, IRECV, TAKE, ITAKE};

/* layout 0: vector to vector, 1: vector to contiguous, 2: contiguous to vector; also `count` vectors in a row. */
static void vectors(enum send_form sender, enum recv_form receiver, int layout, int count)
{
    static int out[4 * INTS], in[4 * INTS];
    int used = count * BLOCKS * 2, from_vector = layout != 2, to_vector = layout != 1;
    MPI_Aint lower, extent;

    MPI_Type_get_extent(column, &lower, &extent);
    int step = (int)(extent / (MPI_Aint)sizeof(int));

    trying("vectors by %s to %s, layout %d, count %d", send_name[sender], recv_name[receiver], layout, count);
    for (int i = 0; i < 4 * INTS; i++) {
        out[i] = 1000 + i;
        in[i] = -1;
    }
    if (world_rank == 0) {
        send_type(sender, out, sizeof out, from_vector ? count : used, from_vector ? column : MPI_INT, 1, 1);
    } else if (world_rank == 1) {
        int *p = receive_type(receiver, in, to_vector ? count : used, to_vector ? column : MPI_INT, 0, 1, to_vector ? count : used);
        int wrong = 0, touched = 0, seen = 0;
        for (int i = 0; p != NULL && i < count * step; i++) {
            int inside = i % step % STRIDE < 2 && i % step / STRIDE < BLOCKS;
            if (!inside && to_vector) {
                touched += p == in && p[i] != -1;
                continue;
            }
            if (!to_vector && i >= used)
                break;
            /* the seen-th int of the message is the int at this index of the sender's layout */
            int k = seen++, v = k / (2 * BLOCKS), b = k / 2 % BLOCKS;
            wrong += p[i] != 1000 + (from_vector ? v * step + b * STRIDE + k % 2 : k);
        }
        CHECK(wrong == 0);
        CHECK(touched == 0);
        CHECK(seen == used);
        if (p != in)
            OPI_Free(&p);
    }
}

static void structs(enum send_form sender, enum recv_form receiver, int count)
{
    static struct mixed out[200], in[200];

    trying("structs by %s to %s, count %d", send_name[sender], recv_name[receiver], count);
    memset(in, 0x7f, sizeof in);
    memset(out, 0, sizeof out);
    for (int i = 0; i < 200; i++)
        out[i] = (struct mixed){(char)i, i * 0.5, {(short)i, (short)(i + 1), (short)(i + 2)}};
    if (world_rank == 0) {
        send_type(sender, out, sizeof out, count, mixed_type, 1, 2);
    } else if (world_rank == 1) {
        struct mixed *p = receive_type(receiver, in, 200, mixed_type, 0, 2, count);
        int wrong = 0;
        for (int i = 0; p != NULL && i < count; i++)
            wrong += p[i].c != (char)i || p[i].d != i * 0.5 || p[i].s[0] != i || p[i].s[1] != i + 1 || p[i].s[2] != i + 2;
        CHECK(wrong == 0);
        if (p == in) {
            const unsigned char *gap = (const unsigned char *)in + 1;
            for (int i = 0; i < 7; i++) /* between c and d of the first one */
                CHECK(gap[i] == 0x7f);
            for (int i = count; i < 200; i++)
                CHECK(in[i].c == 0x7f);
        } else {
            OPI_Free(&p);
        }
    }
}

/* indexed and resized types against plain ints; part of a type's worth arrives and Get_elements counts it. */
static void others(enum send_form sender, enum recv_form receiver)
{
    static const int at[7] = {0, 1, 5, 9, 10, 11, 20};
    int out[64], in[64], wrong = 0;

    trying("indexed and resized by %s to %s", send_name[sender], recv_name[receiver]);
    for (int i = 0; i < 64; i++) {
        out[i] = 500 + i;
        in[i] = -1;
    }
    if (world_rank == 0) {
        send_type(sender, out, sizeof out, 1, indexed, 1, 3);
        send_type(sender, out, sizeof out, 20, resized, 1, 4);
        send_type(sender, out, sizeof out, 7, MPI_INT, 1, 5);
    } else if (world_rank == 1) {
        int *p = receive_type(receiver, in, 10, MPI_INT, 0, 3, 7);
        for (int i = 0; p != NULL && i < 7; i++)
            wrong += p[i] != 500 + at[i];
        if (p != in)
            OPI_Free(&p);
        for (int i = 0; i < 64; i++)
            in[i] = -1;
        p = receive_type(receiver, in, 20, resized, 0, 4, 20);
        for (int i = 0; p != NULL && i < 60; i++)
            wrong += i % 3 == 0 ? p[i] != 500 + i : p == in && p[i] != -1;
        if (p != in)
            OPI_Free(&p);
        for (int i = 0; i < 64; i++)
            in[i] = -1;
        p = receive_type(receiver, in, 1, indexed, 0, 5, 1);
        for (int i = 0; p != NULL && i < 7; i++)
            wrong += p[at[i]] != 500 + i;
        if (p == in)
            wrong += in[2] != -1 || in[6] != -1 || in[12] != -1;
        else
            OPI_Free(&p);
        CHECK(wrong == 0);
    }
}

static void partial(void)
{
    int out[3] = {1, 2, 3}, in[64], count = 0, elements = 0;
    MPI_Status status;

    trying("part of a type");
    memset(in, 0, sizeof in);
    if (world_rank == 0) {
        MPI_Send(out, 3, MPI_INT, 1, 6, MPI_COMM_WORLD);
    } else if (world_rank == 1) {
        CHECK_CLASS(MPI_Recv(in, 1, indexed, 0, 6, MPI_COMM_WORLD, &status), MPI_SUCCESS);
        MPI_Get_count(&status, indexed, &count);
        CHECK(count == MPI_UNDEFINED);
        MPI_Get_elements(&status, indexed, &elements);
        CHECK(elements == 3);
        CHECK(in[0] == 1 && in[1] == 2 && in[5] == 3 && in[9] == 0);
    }
}

/* MPI_BOTTOM with absolute addresses: a NULL buffer that is none. */
static void bottom(void)
{
    int value[4] = {1, 2, 3, 4}, length = 4;
    MPI_Aint address;
    MPI_Datatype absolute;

    trying("MPI_BOTTOM");
    MPI_Get_address(value, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
    MPI_Type_commit(&absolute);
    if (world_rank == 0) {
        for (int i = 0; i < 4; i++)
            value[i] = 10 * i;
        MPI_Send(MPI_BOTTOM, 1, absolute, 1, 7, MPI_COMM_WORLD);
    } else if (world_rank == 1) {
        CHECK_CLASS(MPI_Recv(MPI_BOTTOM, 1, absolute, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK(value[0] == 0 && value[1] == 10 && value[2] == 20 && value[3] == 30);
    }
    MPI_Type_free(&absolute);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    make_types();
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++) {
            for (int layout = 0; layout < 3; layout++) {
                vectors(senders[i], receivers[j], layout, 1);
                vectors(senders[i], receivers[j], layout, 3);
            }
            structs(senders[i], receivers[j], 1);
            structs(senders[i], receivers[j], 150);
            others(senders[i], receivers[j]);
        }
    partial();
    bottom();
    MPI_Type_free(&column);
    MPI_Type_free(&mixed_type);
    MPI_Type_free(&indexed);
    MPI_Type_free(&resized);
    return finish("types");
}
