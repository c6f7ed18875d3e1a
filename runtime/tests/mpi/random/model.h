/*
 * What MPI's matching rules allow, as a judge of one receiver's round.
 *
 * Every message that arrived, and every send or receive that was cancelled, is an event with an interval of time in
 * which it must have happened: a match neither before the receive was posted and the send begun, nor after somebody saw
 * it complete (a synchronous send included). An outcome is legal when there are times, one inside each interval, that
 * keep both rules of MPI's "order":
 *
 *   senders    a receive that took a message would have matched an earlier one of the same source: that one was matched
 *              or cancelled before
 *   receivers  an earlier receive would have matched the message: that one was matched or cancelled before
 *
 * and every message that was not cancelled arrives once, whole, at a receive that matches it. Which message a receive
 * took follows from the rules: those of one communicator, source and tag are matched in the order in which they were
 * sent, by the receives in the order in which they were posted. The numbers inside the messages have to agree.
 */
#ifndef OPI_TEST_MODEL_H
#define OPI_TEST_MODEL_H

#include "../check.h"

#define MOST_SENT 256  /* by a rank in a round */
#define MOST_TAKEN 1024 /* receives of a rank in a round */
#define MOST_EVENTS (2 * MOST_TAKEN)
#define NEVER 1e300

/* A message as its sender knows it. Ranks are those of MPI_COMM_WORLD. */
struct sent {
    int source, dest, number, comm, tag, n, cancelled;
    double begin, end; /* matched in between; of a cancelled one: withdrawn in between */
};

/* A receive as its receiver knows it, in the order of posting. -1: any. */
struct taken {
    int comm, source, tag, room;             /* what it asked for; room in elements */
    int from, with, n, number, whole;        /* what it got: number of the message at its sender, -1 where it is empty */
    int cancelled;
    double begin, end;
};

struct event {
    double begin, end, at;
    int before; /* events that must come first and have no time yet */
};

static struct event model_event[MOST_EVENTS];
static unsigned char model_edge[MOST_EVENTS][MOST_EVENTS];

static int asks_for(const struct taken *r, const struct sent *m)
{
    return r->comm == m->comm && (r->source < 0 || r->source == m->source) && (r->tag < 0 || r->tag == m->tag);
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

static double sooner(double a, double b)
{
    return a < b ? a : b;
}

static void first_then(int a, int b)
{
    if (a != b && !model_edge[a][b]) {
        model_edge[a][b] = 1;
        model_event[b].before++;
    }
}

/* Gives each event the earliest time that its interval and its predecessors leave. */
static void find_times(int events)
{
    static int ready[MOST_EVENTS];
    int n = 0, done = 0;

    for (int i = 0; i < events; i++) {
        model_event[i].at = model_event[i].begin;
        if (model_event[i].before == 0)
            ready[n++] = i;
    }
    while (done < n) {
        int a = ready[done++];
        CHECK(model_event[a].at <= model_event[a].end); /* else: overtaken, or matched before it was possible */
        for (int b = 0; b < events; b++)
            if (model_edge[a][b]) {
                model_event[b].at = later(model_event[b].at, model_event[a].at);
                if (--model_event[b].before == 0)
                    ready[n++] = b;
            }
    }
    CHECK(done == events); /* else: a circle, no order of matches explains what was received */
}

/* Judges what rank `me` received. m: the messages sent to it, in the order of each source; r: its receives. */
static void judge(const struct sent *m, int sent, const struct taken *r, int takes)
{
    static int by[MOST_EVENTS], what[MOST_TAKEN]; /* message -> receive, receive -> event */
    int events = sent;

    CHECK(sent <= MOST_EVENTS - MOST_TAKEN && takes <= MOST_TAKEN);
    for (int i = 0; i < sent; i++) {
        by[i] = -1;
        model_event[i] = (struct event){m[i].begin, m[i].end, 0, 0};
    }
    for (int k = 0; k < takes; k++) {
        int i;
        what[k] = -1;
        if (r[k].cancelled) {
            what[k] = events;
            model_event[events++] = (struct event){r[k].begin, r[k].end, 0, 0};
            continue;
        }
        for (i = 0; i < sent; i++)
            if (by[i] < 0 && !m[i].cancelled && m[i].comm == r[k].comm && m[i].source == r[k].from && m[i].tag == r[k].with)
                break;
        CHECK(i < sent); /* else: nobody sent that, or it arrived twice */
        if (i == sent)
            return;
        CHECK(asks_for(&r[k], &m[i]));
        CHECK(r[k].n == (m[i].n < r[k].room ? m[i].n : r[k].room) && r[k].whole == (m[i].n <= r[k].room));
        CHECK(r[k].number < 0 || r[k].number == m[i].number);
        by[i] = k;
        what[k] = i;
        model_event[i].begin = later(model_event[i].begin, r[k].begin);
        model_event[i].end = sooner(model_event[i].end, r[k].end);
    }
    for (int i = 0; i < events; i++)
        memset(model_edge[i], 0, (size_t)events);
    for (int i = 0; i < sent; i++) {
        CHECK(m[i].cancelled || by[i] >= 0); /* else: lost */
        if (by[i] < 0)
            continue;
        for (int j = 0; j < i; j++)
            if (m[j].source == m[i].source && asks_for(&r[by[i]], &m[j]))
                first_then(j, i);
        for (int k = 0; k < by[i]; k++)
            if (what[k] >= 0 && asks_for(&r[k], &m[i]))
                first_then(what[k], i);
    }
    find_times(events);
}

#endif
