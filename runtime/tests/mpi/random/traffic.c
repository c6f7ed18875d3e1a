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
 *                                        TRAFFIC_LONG=1: long messages in every round, else in one of 8
 *                                        TRAFFIC_PATIENCE=60: seconds without an arrival after which a message counts as lost
 */
#include "traffic/complete.h"
#include "traffic/receive.h"
#include "traffic/send.h"

static double patience = 60;
static int always_long;

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

/* A message was sent here and does not come: nothing can be judged, and the others would wait for ever. */
static void lost(int known, int all)
{
    if (known)
        trying("seed %d, %d messages of %d arrived, then none for %g s", round_number, arrived, all, patience);
    else
        trying("seed %d, %d messages arrived, then none for %g s", round_number, arrived, patience);
    fail_at(__FILE__, __LINE__, "a message was lost");
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Until everything that was sent here has arrived. */
static void drain(void)
{
    MPI_Request told = MPI_REQUEST_NULL;
    int asked = 0, known = 0, all = 0, before = arrived;
    double since = now();

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
        if (arrived != before) {
            before = arrived;
            since = now();
        } else if (now() - since > patience) {
            lost(known, all);
        }
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
    longest = draw(8) && !always_long ? LONG : LONGER;
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
    always_long = getenv("TRAFFIC_LONG") != NULL;
    if (getenv("TRAFFIC_PATIENCE"))
        patience = atof(getenv("TRAFFIC_PATIENCE"));
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
