/*
 * Random traffic, every outcome judged by a model of MPI's matching (model.h). Each rank draws for itself: sends of all
 * modes, blocking, nonblocking, persistent, given and freed; receives with and without wildcards that may never match,
 * with too little room, cancelled; probes and matched probes, and what they found received in every form; layouts that
 * differ on both sides; four communicators; any call of the Test and Wait families.
 *
 * At the end of a round each rank receives what is left by probes, until it has all that was sent to it (a nonblocking
 * collective tells it how much), and cancels the receives that nothing matched.
 *
 *   traffic [rounds [first seed]]          TRAFFIC_CAREFUL=1: nothing that only libopi promises,
 *                                        which is blocking sends that nobody receives yet, and unharmed memory after
 *                                        a message too long; for messages that the MPI below carries
 */
#include "model.h"

#include <time.h>

#define COMMS 4
#define TAGS 4
#define MOST_OPS 900
#define READY_TAG 50
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

/* ---- operations ---------------------------------------------------------------------------------------------------- */

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

/* ---- sending ------------------------------------------------------------------------------------------------------- */

static void start_send(void)
{
    int comm = (int)draw(COMMS), dest = (int)draw((unsigned)size_of[comm]), tag = (int)draw(TAGS), n = draw_length(), form = (int)draw(16), count, rc = 0;
    struct op *o = new_op();
    MPI_Request *q = REQUEST(o);

    o->layout = n ? (int)draw(draw(2) ? 1 : LAYOUTS) : PLAIN;
    o->owned = (int)draw(2) || form >= 13;
    if ((form == 3 || form == 4 || form == 9) && n > 5000)
        n = 100;
    if (form >= 11 && form != 14 && form != 15 && n > SMALL)
        n = SMALL;
    if (form >= 13 && (o->layout == STRIDED || o->layout == SWAPPED))
        o->layout = SPREAD;
    o->span = span_of(o->layout, n);
    o->buffer = new_ints(o->owned, o->span);
    o->type = type_of(o->layout, n, &count);
    o->sends = new_message(comm, dest, tag, n, o->layout, o->buffer);
    trying("seed %d, send %d: form %d, comm %d, to %d, tag %d, %d elements", round_number, o->sends, form, comm, dest, tag, n);
    switch (form) {
    case 0: rc = MPI_Isend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
#if MPI_VERSION >= 4
    case 1: rc = MPI_Isend_c(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
#else
    case 1: rc = MPI_Isend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
#endif
    case 2:
    case 5: o->sync = 1, rc = MPI_Issend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 3: rc = MPI_Ibsend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 4: rc = MPI_Bsend(o->buffer, count, o->type, dest, tag, comms[comm]); break;
    case 6: /* nobody waits for it; its buffer lives until the round is over */
        rc = MPI_Isend(o->buffer, count, o->type, dest, tag, comms[comm], q);
        MPI_Request_free(q);
        CHECK(*q == MPI_REQUEST_NULL);
        return;
    case 7: rc = MPI_Send_init(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 8: o->sync = 1, rc = MPI_Ssend_init(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 9: rc = MPI_Bsend_init(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 10:
    case 11:
    case 12: rc = n <= SMALL && !careful ? MPI_Send(o->buffer, count, o->type, dest, tag, comms[comm])
                             : MPI_Isend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 13: rc = careful ? OPI_Igive(&o->buffer, count, o->type, dest, tag, comms[comm], q) : OPI_Give(&o->buffer, count, o->type, dest, tag, comms[comm]); break;
    default: rc = OPI_Igive(&o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    }
    CHECK_CLASS(rc, MPI_SUCCESS);
    if (form >= 7 && form <= 9) {
        o->persistent = 1;
        o->spare = (int)draw(3);
        rc = draw(2) ? MPI_Start(q) : MPI_Startall(1, q);
        CHECK_CLASS(rc, MPI_SUCCESS);
    }
    if (form >= 13)
        CHECK(o->buffer == NULL);
    if (*q == MPI_REQUEST_NULL)
        leave(o);
}

/* ---- receiving ----------------------------------------------------------------------------------------------------- */

static void post_receive(void)
{
    int comm = (int)draw(COMMS), form = (int)draw(7), count, rc = 0;
    int source = draw(3) ? (int)draw((unsigned)size_of[comm]) : MPI_ANY_SOURCE, tag = draw(3) ? (int)draw(TAGS) : MPI_ANY_TAG;
    struct op *o = new_op();
    MPI_Request *q = REQUEST(o);

    o->room = careful || draw(6) ? longest : (int)draw(200);
    o->layout = o->room ? (int)draw(draw(2) ? 1 : LAYOUTS) : PLAIN;
    o->type = MPI_DATATYPE_NULL;
    if (form >= 4) {
        o->layout = draw(2) ? PLAIN : SPREAD;
        o->owned = 1;
    } else {
        o->span = span_of(o->layout, o->room);
        o->buffer = new_ints(0, o->span);
    }
    o->type = type_of(o->layout, o->room, &count);
    o->takes = new_taken(comm, source, tag, o->room, now());
    trying("seed %d, receive %d: form %d, comm %d, from %d, tag %d, room %d", round_number, o->takes, form, comm, source, tag, o->room);
    switch (form) {
    case 0:
    case 1: rc = MPI_Irecv(o->buffer, count, o->type, source, tag, comms[comm], q); break;
#if MPI_VERSION >= 4
    case 2: rc = MPI_Irecv_c(o->buffer, count, o->type, source, tag, comms[comm], q); break;
#else
    case 2: rc = MPI_Irecv(o->buffer, count, o->type, source, tag, comms[comm], q); break;
#endif
    case 3:
        rc = MPI_Recv_init(o->buffer, count, o->type, source, tag, comms[comm], q);
        o->persistent = 1;
        o->spare = (int)draw(3);
        CHECK_CLASS(draw(2) ? MPI_Start(q) : MPI_Startall(1, q), MPI_SUCCESS);
        break;
    default: rc = OPI_Itake(&o->buffer, count, o->type, source, tag, comms[comm], q); CHECK(o->buffer == NULL || rc);
    }
    CHECK_CLASS(rc, MPI_SUCCESS);
}

/* A message for the sending side of a Sendrecv: small, so that it waits for nobody. */
static int *small_message(int comm, int n, int *dest, int *tag)
{
    int *b = new_ints(0, n);
    *dest = (int)draw((unsigned)size_of[comm]);
    *tag = (int)draw(TAGS);
    new_message(comm, *dest, *tag, n, PLAIN, b);
    return b;
}

/* Receives a message that a probe found, in any of the forms that bring it. */
static void receive_found(int comm, const MPI_Status *seen, MPI_Message *message, int source, int tag, double begin)
{
    int n, count, dest, stag, rc = 0, form = message ? 20 + (int)draw(2) : draining ? (int)draw(4) : (int)draw(11);
    struct op *o = new_op();
    MPI_Request *q = REQUEST(o);
    MPI_Status status;

    o->probed = now();
    MPI_Get_elements(seen, MPI_INT, &n);
    CHECK(n >= 0);
    o->room = n + (int)draw(3);
    o->owned = form == 2 || form == 3;
    o->layout = o->room && !o->owned && (form < 6 || form >= 20) ? (int)draw(draw(2) ? 1 : LAYOUTS) : PLAIN;
    o->span = span_of(o->layout, o->room);
    o->type = type_of(o->layout, o->room, &count);
    o->takes = new_taken(comm, source, tag, o->room, begin);
    if (!o->owned)
        o->buffer = new_ints(0, o->span);
    int from = seen->MPI_SOURCE, with = seen->MPI_TAG;
    trying("seed %d, receive %d of a message found: form %d, comm %d, from %d, tag %d", round_number, o->takes, form, comm, from, with);
    switch (form) {
    case 0: rc = MPI_Recv(o->buffer, count, o->type, from, with, comms[comm], &status); break;
    case 1: rc = MPI_Irecv(o->buffer, count, o->type, from, with, comms[comm], q); break;
    case 2: rc = OPI_Take(&o->buffer, count, o->type, from, with, comms[comm], &status); break;
    case 3: rc = OPI_Itake(&o->buffer, count, o->type, from, with, comms[comm], q); break;
    case 4:
    case 5:
        dest = MPI_PROC_NULL, stag = 0;
        o->second = careful ? new_ints(0, SMALL) : small_message(comm, SMALL, &dest, &stag);
        rc = MPI_Sendrecv(o->second, SMALL, MPI_INT, dest, stag, o->buffer, count, o->type, from, with, comms[comm], &status);
        break;
    case 6: /* what is sent has the count of what is received */
        if (o->room <= SMALL && !careful) {
            o->second = small_message(comm, o->room, &dest, &stag);
            memcpy(o->buffer, o->second, sizeof(int) * (size_t)o->room);
            rc = MPI_Sendrecv_replace(o->buffer, count, o->type, dest, stag, from, with, comms[comm], &status);
        } else {
            rc = MPI_Sendrecv_replace(o->buffer, count, o->type, MPI_PROC_NULL, 0, from, with, comms[comm], &status);
        }
        break;
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
    case 7:
        o->second = small_message(comm, o->room, &dest, &stag);
        o->sends = nsent - 1;
        memcpy(o->buffer, o->second, sizeof(int) * (size_t)o->room);
        rc = MPI_Isendrecv_replace(o->buffer, count, o->type, dest, stag, from, with, comms[comm], q);
        break;
    case 8:
        n = draw_length();
        o->second = small_message(comm, n, &dest, &stag);
        o->sends = nsent - 1;
        rc = MPI_Isendrecv(o->second, n, MPI_INT, dest, stag, o->buffer, count, o->type, from, with, comms[comm], q);
        break;
#endif
    case 20: rc = MPI_Mrecv(o->buffer, count, o->type, message, &status); break;
    case 21: rc = MPI_Imrecv(o->buffer, count, o->type, message, q); break;
    default: /* a probe waits for nothing now */
        CHECK_CLASS(MPI_Probe(from, with, comms[comm], &status), MPI_SUCCESS);
        CHECK(status.MPI_SOURCE == from && status.MPI_TAG == with);
        rc = MPI_Recv(o->buffer, count, o->type, from, with, comms[comm], &status);
    }
    if (message)
        CHECK(*message == MPI_MESSAGE_NULL);
    if (*q == MPI_REQUEST_NULL) {
        arrive(o, &status, rc);
        leave(o);
    } else {
        CHECK_CLASS(rc, MPI_SUCCESS);
    }
}

static int look(int comm, int source, int tag)
{
    int flag = 0;
    MPI_Status seen;
    MPI_Message message;
    double begin = now();

    if (nops == MOST_OPS)
        return 0;
    if (draw(2)) {
        CHECK_CLASS(MPI_Improbe(source, tag, comms[comm], &flag, &message, &seen), MPI_SUCCESS);
        if (flag)
            receive_found(comm, &seen, &message, source, tag, begin);
    } else {
        CHECK_CLASS(MPI_Iprobe(source, tag, comms[comm], &flag, &seen), MPI_SUCCESS);
        if (flag)
            receive_found(comm, &seen, NULL, source, tag, begin);
    }
    return flag;
}

/* ---- completion ---------------------------------------------------------------------------------------------------- */

static void test_some(void)
{
    static MPI_Status statuses[MOST_OPS];
    static int index[MOST_OPS];
    int first = nops ? (int)draw((unsigned)nops) : 0, n = nops - first, done = 0, flag = 0, i, rc;
    MPI_Status status;

    switch (n ? draw(4) : 9) {
    case 0:
        rc = MPI_Testsome(n, requests + first, &done, index, statuses);
        CHECK(rc == MPI_SUCCESS || class_of(rc) == MPI_ERR_IN_STATUS);
        for (int k = 0; done != MPI_UNDEFINED && k < done; k++)
            completed(first + index[k], &statuses[k], rc == MPI_SUCCESS ? MPI_SUCCESS : statuses[k].MPI_ERROR);
        break;
    case 1:
        rc = MPI_Testany(n, requests + first, &i, &flag, &status);
        if (flag && i != MPI_UNDEFINED)
            completed(first + i, &status, rc);
        break;
    case 2:
        for (i = first; i < nops && i < first + 8; i++)
            if (ops[i].live && requests[i] != MPI_REQUEST_NULL) {
                rc = MPI_Test(&requests[i], &flag, &status);
                if (flag)
                    completed(i, &status, rc);
            }
        break;
    case 3: /* looking does not complete it */
        for (i = first; i < nops && !(ops[i].live && requests[i] != MPI_REQUEST_NULL); i++)
            ;
        if (i < nops && !(careful && ops[i].persistent)) { /* MPICH's own persistent requests are lost by it */
            rc = MPI_Request_get_status(requests[i], &flag, &status);
            if (flag) {
                rc = MPI_Wait(&requests[i], &status);
                completed(i, &status, rc);
            } else {
                CHECK_CLASS(rc, MPI_SUCCESS);
            }
        }
        break;
    default: break;
    }
}

static void cancel_receive(int i)
{
    MPI_Status status;
    struct op *o = &ops[i];

    o->cancelling = 1;
    o->spare = 0;
    double begin = now();
    CHECK_CLASS(MPI_Cancel(&requests[i]), MPI_SUCCESS);
    int rc = MPI_Wait(&requests[i], &status), cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    if (cancelled)
        taken[o->takes].begin = begin;
    completed(i, &status, rc);
}

static int may_be_cancelled(int i)
{
    return ops[i].live && ops[i].takes >= 0 && ops[i].sends < 0 && !(ops[i].probed > 0 || ops[i].probed < 0) && requests[i] != MPI_REQUEST_NULL;
}

/* One receive, or one send: whether that succeeds is up to the MPI, and known when it completes. */
static void cancel_one(void)
{
    int i = nops ? (int)draw((unsigned)nops) : 0;

    if (i < nops && may_be_cancelled(i)) {
        cancel_receive(i);
    } else if (i < nops && !careful && ops[i].live && ops[i].sync && !ops[i].persistent && !ops[i].cancelling) {
        ops[i].cancelling = 1;
        CHECK_CLASS(MPI_Cancel(&requests[i]), MPI_SUCCESS);
    }
}

/* ---- a round ------------------------------------------------------------------------------------------------------- */

/* Messages in ready mode have their receives from the start. */
static int ready_between(int source, int dest)
{
    unsigned x = (unsigned)(round_number * 31 + source * 7 + dest) * 2654435761u;
    return (int)((x >> 20) % 3);
}

static void post_for_ready(int source)
{
    struct op *o = new_op();
    int count;

    o->room = longest;
    o->span = span_of(PLAIN, o->room);
    o->buffer = new_ints(0, o->span);
    o->type = type_of(PLAIN, o->room, &count);
    o->takes = new_taken(0, source, READY_TAG, o->room, now());
    o->probed = -1; /* not to be cancelled */
    CHECK_CLASS(MPI_Irecv(o->buffer, count, o->type, source, READY_TAG, comms[0], REQUEST(o)), MPI_SUCCESS);
}

static void send_ready(int dest)
{
    struct op *o = new_op();
    int n = draw_length(), rc;
    MPI_Request *q = REQUEST(o);

    o->type = MPI_INT;
    o->span = n;
    o->buffer = new_ints(0, n);
    o->sends = new_message(0, dest, READY_TAG, n, PLAIN, o->buffer);
    trying("seed %d, ready send %d to %d, %d elements", round_number, o->sends, dest, n);
    switch (draw(3)) {
    case 0: rc = MPI_Rsend(o->buffer, n, MPI_INT, dest, READY_TAG, comms[0]); break;
    case 1: rc = MPI_Irsend(o->buffer, n, MPI_INT, dest, READY_TAG, comms[0], q); break;
    default:
        o->persistent = 1;
        CHECK_CLASS(MPI_Rsend_init(o->buffer, n, MPI_INT, dest, READY_TAG, comms[0], q), MPI_SUCCESS);
        rc = MPI_Start(q);
    }
    CHECK_CLASS(rc, MPI_SUCCESS);
    if (*q == MPI_REQUEST_NULL)
        leave(o);
}

static int withdrawing(void)
{
    for (int i = 0; i < nops; i++)
        if (ops[i].live && ops[i].takes < 0 && ops[i].cancelling)
            return 1;
    return 0;
}

/* Until everything that was sent here has arrived. */
static void drain(void)
{
    MPI_Request told = MPI_REQUEST_NULL;
    int asked = 0, known = 0, all = 0;

    draining = 1;
    trying("seed %d, what is left", round_number);
    for (;;) {
        if (!asked && !withdrawing()) {
            MPI_Ialltoall(counts, 1, MPI_INT, due, 1, MPI_INT, MPI_COMM_WORLD, &told);
            asked = 1;
        }
        if (asked && !known) {
            MPI_Test(&told, &known, MPI_STATUS_IGNORE);
            for (int i = 0; known && i < ranks; i++)
                all += due[i];
        }
        if (known && arrived >= all)
            break;
        test_some();
        look((int)draw(COMMS), MPI_ANY_SOURCE, draw(3) ? MPI_ANY_TAG : (int)draw(TAGS));
    }
    CHECK(arrived == all);
    for (int i = 0; i < nops; i++)
        if (may_be_cancelled(i))
            cancel_receive(i);
    CHECK(arrived == all); /* nothing was left that a receive could have taken */
}

static void wait_for_sends(void)
{
    static MPI_Status statuses[MOST_OPS];
    static int index[MOST_OPS];
    MPI_Status status;
    int i, done, rc;

    trying("seed %d, the end of sends", round_number);
    for (;;) {
        int live = 0;
        for (i = 0; i < nops; i++)
            live += requests[i] != MPI_REQUEST_NULL;
        if (!live)
            break;
        switch (draw(4)) {
        case 0:
            rc = MPI_Waitany(nops, requests, &i, &status);
            CHECK(i != MPI_UNDEFINED);
            if (i != MPI_UNDEFINED)
                completed(i, &status, rc);
            break;
        case 1:
            CHECK_CLASS(MPI_Waitsome(nops, requests, &done, index, statuses), MPI_SUCCESS);
            CHECK(done > 0);
            for (int k = 0; k < done; k++)
                completed(index[k], &statuses[k], MPI_SUCCESS);
            break;
        case 2: {
            static int was[MOST_OPS];
            for (i = 0; i < nops; i++)
                was[i] = requests[i] != MPI_REQUEST_NULL;
            CHECK_CLASS(MPI_Waitall(nops, requests, statuses), MPI_SUCCESS);
            for (i = 0; i < nops; i++)
                if (was[i])
                    completed(i, &statuses[i], MPI_SUCCESS);
            break;
        }
        default: test_some();
        }
    }
}

/* Everybody's messages are compared with what arrived here. */
static void judge_round(void)
{
    static struct sent mine[MOST_EVENTS];
    int bytes = nsent * (int)sizeof *sent, n = 0, total = 0, *lengths = malloc(sizeof(int) * (size_t)ranks), *at = malloc(sizeof(int) * (size_t)ranks);
    struct sent *all;

    trying("seed %d, judged", round_number);
    MPI_Allgather(&bytes, 1, MPI_INT, lengths, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        at[i] = total;
        total += lengths[i];
    }
    all = malloc((size_t)total + 1);
    MPI_Allgatherv(sent, bytes, MPI_BYTE, all, lengths, at, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < total / (int)sizeof *sent; i++)
        if (all[i].dest == world_rank && n < MOST_EVENTS)
            mine[n++] = all[i];
    judge(mine, n, taken, ntaken);
    free(all), free(lengths), free(at);
}

static void one_round(void)
{
    int steps, *ready = calloc((size_t)ranks, sizeof *ready);

    state = (unsigned long long)round_number * 0x9e3779b97f4a7c15ull;
    longest = draw(8) ? LONG : LONGER;
    state += (unsigned long long)world_rank * 0xda942042e4dd58b5ull;
    nsent = ntaken = nops = arrived = draining = 0;
    memset(counts, 0, sizeof *counts * (size_t)ranks);
    for (int i = 0; i < ranks; i++) {
        ready[i] = ready_between(world_rank, i);
        for (int k = ready_between(i, world_rank); k > 0; k--)
            post_for_ready(i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    steps = 10 + (int)draw(60);
    for (int i = 0; i < steps; i++) {
        int to = (int)draw((unsigned)ranks);
        switch (draw(10)) {
        case 0:
        case 1:
        case 2: start_send(); break;
        case 3:
        case 4: post_receive(); break;
        case 5:
        case 6: {
            int comm = (int)draw(COMMS);
            look(comm, draw(2) ? MPI_ANY_SOURCE : (int)draw((unsigned)size_of[comm]), draw(2) ? MPI_ANY_TAG : (int)draw(TAGS));
            break;
        }
        case 7: draw(3) ? test_some() : cancel_one(); break;
        case 8:
            if (ready[to] > 0) {
                ready[to]--;
                send_ready(to);
            }
            break;
        default: test_some();
        }
    }
    for (int i = 0; i < ranks; i++)
        for (; ready[i] > 0; ready[i]--)
            send_ready(i);
    drain();
    wait_for_sends();
    MPI_Barrier(MPI_COMM_WORLD); /* probes must not see the next round, freed requests are through */
    for (int i = 0; i < nops; i++)
        if (ops[i].live)
            leave(&ops[i]);
    judge_round();
    free(ready);
}

static void learn(int comm)
{
    MPI_Group g, world;

    MPI_Comm_size(comms[comm], &size_of[comm]);
    MPI_Comm_rank(comms[comm], &me_in[comm]);
    MPI_Comm_set_errhandler(comms[comm], MPI_ERRORS_RETURN);
    world_of[comm] = malloc(sizeof(int) * (size_t)size_of[comm]);
    MPI_Comm_group(comms[comm], &g);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < size_of[comm]; i++)
        MPI_Group_translate_ranks(g, 1, &i, world, &world_of[comm][i]);
    MPI_Group_free(&g);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 40, first = argc > 2 ? atoi(argv[2]) : 1, bytes = 1 << 25;
    void *attached = malloc((size_t)bytes);

    start(&argc, &argv);
    careful = getenv("TRAFFIC_CAREFUL") != NULL;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    counts = malloc(sizeof *counts * (size_t)ranks);
    due = malloc(sizeof *due * (size_t)ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    comms[1] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[2]);
    comms[3] = MPI_COMM_SELF;
    for (int c = 0; c < COMMS; c++)
        learn(c);
    MPI_Type_create_resized(MPI_INT, 0, 3 * (MPI_Aint)sizeof(int), &spread);
    MPI_Type_commit(&spread);
    MPI_Buffer_attach(attached, bytes);
    for (int i = 0, bad = 0; i < rounds && !bad; i++) {
        round_number = first + i;
        one_round();
        MPI_Allreduce(&failures, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Buffer_detach(&attached, &bytes);
    free(attached);
    MPI_Type_free(&spread);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[2]);
    for (int c = 0; c < COMMS; c++)
        free(world_of[c]);
    free(counts), free(due);
    return finish("traffic");
}
