/* The life of an operation: noted when it starts, judged by itself and put away when it is over. */
#ifndef OPI_TEST_TRAFFIC_OPERATIONS_H
#define OPI_TEST_TRAFFIC_OPERATIONS_H

#include "state.h"

static struct op *new_op(void)
{
    int i = nops++;

    if (nops > MOST_OPS || nsent > MOST_SENT - 4 || ntaken > MOST_TAKEN - 4)
        abort();
    requests[i] = MPI_REQUEST_NULL;
    ops[i] = (struct op){.sends = -1, .takes = -1, .live = 1};
    return &ops[i];
}

#define REQUEST(o) (&requests[(o)-ops])

/* Notes a message of n elements and fills it in. */
static int new_message(int comm, int dest, int tag, int n, enum layout layout, int *buffer)
{
    sent[nsent] = (struct sent){world_rank, world_of[comm][dest], nsent, comm, tag, n, 0, now(), NEVER};
    for (int i = 0; i < n; i++)
        buffer[place(layout, n, i)] = word(world_rank, nsent, i);
    counts[sent[nsent].dest]++;
    return nsent++;
}

static int new_taken(int comm, int source, int tag, int room, double begin)
{
    int from = source == MPI_ANY_SOURCE ? -1 : world_of[comm][source];
    taken[ntaken] = (struct taken){.comm = comm, .source = from, .tag = tag == MPI_ANY_TAG ? -1 : tag, .room = room, .number = -1, .begin = begin};
    return ntaken++;
}

/* A receive is over: what it brought. */
static void arrive(struct op *o, MPI_Status *status, int error)
{
    struct taken *t = &taken[o->takes];
    int n = -1, cancelled = 0;

    trying("seed %d, receive %d over: %s, layout %d, room %d, source %d, error %d", round_number, o->takes,
           o->probed > 0 ? "found by a probe" : o->owned ? "take" : o->persistent ? "persistent" : "posted", o->layout, o->room, status->MPI_SOURCE, error);
    t->end = o->probed > 0 ? o->probed : now();
    MPI_Test_cancelled(status, &cancelled);
    if (cancelled) {
        CHECK(o->cancelling);
        t->cancelled = 1;
        return;
    }
    arrived++;
    CHECK(error == MPI_SUCCESS || class_of(error) == MPI_ERR_TRUNCATE);
    t->whole = error == MPI_SUCCESS;
    CHECK(status->MPI_SOURCE >= 0 && status->MPI_SOURCE < size_of[t->comm]);
    if (status->MPI_SOURCE < 0 || status->MPI_SOURCE >= size_of[t->comm])
        return;
    t->from = world_of[t->comm][status->MPI_SOURCE];
    t->with = status->MPI_TAG;
    if (t->whole)
        MPI_Get_elements(status, o->type, &n);
    else
        n = o->room; /* what the count of a truncated message says differs between MPIs; libopi's is bounded (errors.c) */
    t->n = n;
    CHECK(o->buffer != NULL && n <= o->room);
    if (o->buffer == NULL || n <= 0 || n > o->room)
        return;
    if (!t->whole && !o->owned)
        return; /* what of it is written is not defined */
    int first = o->buffer[place(o->layout, o->room, 0)], wrong = 0;
    t->number = first & 0xfff;
    CHECK(first == word(t->from, t->number, 0));
    for (int i = 1; i < n && t->whole; i++)
        wrong += o->buffer[place(o->layout, o->room, i)] != word(t->from, t->number, i);
    CHECK(wrong == 0);
    if (!o->owned) {
        int gap = o->layout == SPREAD || o->layout == STRIDED;
        for (int i = 0; gap && i < n; i++)
            wrong += o->buffer[place(o->layout, o->room, i) + 1] != 0x55555555;
        CHECK(wrong == 0 && o->buffer[o->span] == 0x55555555);
    }
}

static void leave(struct op *o)
{
    o->live = 0;
    if (o->buffer)
        drop_ints(o->owned, o->buffer);
    if (o->second)
        drop_ints(0, o->second);
    if (o->type != MPI_DATATYPE_NULL)
        done_with(&o->type, o->layout);
    if (o->persistent)
        MPI_Request_free(REQUEST(o));
    CHECK(*REQUEST(o) == MPI_REQUEST_NULL);
}

/* A request completed. */
static void completed(int i, MPI_Status *status, int error)
{
    struct op *o = &ops[i];
    int cancelled = 0;

    CHECK(o->live);
    if (!o->live)
        return;
    if (o->takes >= 0)
        arrive(o, status, error);
    else
        CHECK_CLASS(error, MPI_SUCCESS);
    if (o->sends >= 0) {
        struct sent *m = &sent[o->sends];
        if (o->takes < 0 && o->cancelling)
            MPI_Test_cancelled(status, &cancelled);
        if (cancelled) {
            m->cancelled = 1;
            m->end = now();
            counts[m->dest]--;
        } else if (o->sync) {
            m->end = now();
        }
    }
    if (o->persistent && o->spare-- > 0 && !draining) { /* once more */
        if (o->sends >= 0) {
            struct sent *m = &sent[o->sends];
            int dest = 0;
            while (world_of[m->comm][dest] != m->dest)
                dest++;
            o->sends = new_message(m->comm, dest, m->tag, m->n, o->layout, o->buffer);
        } else {
            struct taken *t = &taken[o->takes];
            int source = 0;
            while (t->source >= 0 && world_of[t->comm][source] != t->source)
                source++;
            memset(o->buffer, 0x55, sizeof(int) * (size_t)(o->span + 1));
            o->takes = new_taken(t->comm, t->source < 0 ? MPI_ANY_SOURCE : source, t->tag < 0 ? MPI_ANY_TAG : t->tag, t->room, now());
        }
        o->cancelling = 0;
        CHECK_CLASS(MPI_Start(REQUEST(o)), MPI_SUCCESS);
        return;
    }
    leave(o);
}

#endif
