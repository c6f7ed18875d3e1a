/*
 * What a rank knows of a round of random traffic (traffic.c): its random numbers, the layouts and contents of messages, and
 * the operations that are under way.
 */
#ifndef OPI_TEST_TRAFFIC_STATE_H
#define OPI_TEST_TRAFFIC_STATE_H

#include "../model.h"

#include <time.h>

#define COMMS 4
#define TAGS 4
#define MOST_OPS 900
#define READY_TAG 50
/* The messages that their senders may cancel.  A probe that does not take such a message says nothing about a receive after it: what was found may be gone. */
#define WITHDRAWABLE (TAGS - 1)
#define LONG 6000    /* elements of the longest message of most rounds, */
#define LONGER 171000 /* and of the others */
#define SMALL 60 /* elements; such a send does not wait for its receive in any MPI */

enum layout { PLAIN, STRIDED, SPREAD, SWAPPED, LAYOUTS };

/* A request, or a blocking call under way. */
struct op {
    int sends, takes; /* index of struct sent, struct taken; -1 */
    int live, owned, persistent, cancelling, sync, layout, room, spare, span;
    int *buffer, *second; /* second: what an Isendrecv sends */
    MPI_Datatype type;
    double probed; /* when the probe ended that found the message; 0: none did */
};

static MPI_Comm comms[COMMS];
static int *world_of[COMMS], size_of[COMMS], me_in[COMMS];
static MPI_Datatype spread;
static int ranks, round_number, longest, careful, draining;

static struct sent sent[MOST_SENT];
static struct taken taken[MOST_TAKEN];
static struct op ops[MOST_OPS];
static MPI_Request requests[MOST_OPS];
static int nsent, ntaken, nops, arrived, *counts, *due;

static unsigned long long state;
static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % below;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int draw_length(void)
{
    switch (draw(10)) {
    case 0: return 0;
    case 1:
    case 2: return 1 + (int)draw(12);
    case 3:
    case 4: return 10 + (int)draw(55);
    case 5: return 60 + (int)draw(200);
    case 6: return 900 + (int)draw(300);
    case 7: return (int)draw(5000);
    default: return longest <= LONG ? (int)draw(30) : draw(4) ? 8000 + (int)draw(30000) : 120000 + (int)draw(50000);
    }
}

/* ---- layouts ------------------------------------------------------------------------------------------------------- */

static int place(enum layout layout, int n, int i)
{
    int half = n / 2;
    return layout == PLAIN ? i : layout == STRIDED ? 2 * i : layout == SPREAD ? 3 * i : i < half ? n - half + 5 + i : i - half;
}

static int span_of(enum layout layout, int n)
{
    return layout == PLAIN ? n : layout == STRIDED ? 2 * n : layout == SPREAD ? 3 * n : n + 5;
}

/* The datatype for n elements, and how many of it. */
static MPI_Datatype type_of(enum layout layout, int n, int *count)
{
    MPI_Datatype t;
    int lengths[2] = {n / 2, n - n / 2}, at[2] = {n - n / 2 + 5, 0};

    *count = layout == PLAIN || layout == SPREAD ? n : 1;
    if (layout == PLAIN)
        return MPI_INT;
    if (layout == SPREAD)
        return spread;
    if (layout == STRIDED)
        MPI_Type_vector(n, 1, 2, MPI_INT, &t);
    else
        MPI_Type_indexed(2, lengths, at, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

static void done_with(MPI_Datatype *t, int layout)
{
    if (layout == STRIDED || layout == SWAPPED)
        MPI_Type_free(t);
}

/* ---- what is in a message ------------------------------------------------------------------------------------------ */

static int word(int source, int number, int i)
{
    unsigned first = (unsigned)(round_number & 0xfff) << 16 | (unsigned)source << 12 | (unsigned)number;
    return i == 0 ? (int)first : (int)((first + (unsigned)i) * 2654435761u >> 1);
}

static int *new_ints(int owned, int n)
{
    void *b = NULL;
    size_t bytes = sizeof(int) * (size_t)(n + 1);
    if (owned)
        CHECK_CLASS(OPI_Alloc(&b, bytes), MPI_SUCCESS);
    else
        b = malloc(bytes);
    if (b == NULL)
        abort();
    memset(b, 0x55, bytes);
    return b;
}

static void drop_ints(int owned, int *b)
{
    if (owned)
        OPI_Free(&b);
    else
        free(b);
}

#endif
