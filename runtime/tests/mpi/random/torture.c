/*
 * Random matching patterns, each outcome checked to be legal. All ranks draw the same script of messages: who sends what
 * to whom, on which of two communicators, with which tag, size and form. Receives are exact or wildcards, posted before,
 * between and after the sends, or led by probes.
 *
 * Wildcards leave several outcomes open. Legal is one in which every message arrives once and whole, and (MPI standard,
 * "order") for two messages of one sender on one communicator, of which the receive that brought the second would also
 * have matched the first, the first was brought by a receive posted earlier.
 *
 *   torture [rounds [first seed]]
 */
#include "../forms.h"

#define MESSAGES 60 /* per round, over all ranks and both communicators */
#define TAGS 3

struct message {
    int source, dest, comm, tag;
    size_t bytes;
    enum send_form form;
    enum memory memory;
};

/* What travels at the start of every message. */
struct header {
    int round, number;
};

struct posted {
    int comm, source, tag, take, done, number;
    void *buffer;
};

enum { EXACT, ANY_SOURCE_THEN, ANY_TAG_THEN, ANY_THEN, PROBES, MODES };

static MPI_Comm comms[2];
static int ranks, round_number;
static struct message script[MESSAGES];
static size_t largest;

static unsigned state;
static unsigned draw(unsigned below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static void draw_script(void)
{
    static const size_t sizes[] = {8, 16, 40, 48, 49, 64, 200, 1500, 8192, 40000, 200000};
    static const enum send_form forms[] = {ISEND, ISSEND, IGIVE};

    largest = 0;
    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = &script[i];
        m->source = (int)draw((unsigned)ranks);
        m->dest = (int)draw((unsigned)ranks);
        m->comm = (int)draw(2);
        m->tag = (int)draw(TAGS);
        m->bytes = sizes[draw(11)];
        m->form = forms[draw(3)];
        m->memory = draw(2) ? ALLOCATED : PRIVATE;
        if (m->bytes > largest)
            largest = m->bytes;
    }
}

/* The receive of message `number` would also have matched this one. */
static int matches(const struct posted *p, const struct message *m)
{
    return p->comm == m->comm && (p->source == MPI_ANY_SOURCE || p->source == m->source) && (p->tag == MPI_ANY_TAG || p->tag == m->tag);
}

static void check_message(struct posted *p, const MPI_Status *status)
{
    struct header head;
    int count;

    p->done = 1;
    p->number = -1;
    CHECK(p->buffer != NULL);
    MPI_Get_count(status, MPI_BYTE, &count);
    if (p->buffer == NULL || count < (int)sizeof head) {
        fail_at(__FILE__, __LINE__, "no message");
        return;
    }
    memcpy(&head, p->buffer, sizeof head);
    CHECK(head.round == round_number && head.number >= 0 && head.number < MESSAGES);
    if (head.round != round_number || head.number < 0 || head.number >= MESSAGES)
        return;
    const struct message *m = &script[head.number];
    p->number = head.number;
    CHECK(m->dest == world_rank && matches(p, m));
    CHECK(status->MPI_SOURCE == m->source && status->MPI_TAG == m->tag && count == (int)m->bytes);
    CHECK(differs((char *)p->buffer + sizeof head, m->bytes - sizeof head, (unsigned)head.number) == 0);
}

static void check_order(const struct posted *all, int n)
{
    int by[MESSAGES];

    for (int i = 0; i < MESSAGES; i++)
        by[i] = -1;
    for (int i = 0; i < n; i++) {
        CHECK(all[i].done && all[i].number >= 0);
        if (all[i].number < 0)
            return;
        CHECK(by[all[i].number] < 0);
        by[all[i].number] = i;
    }
    for (int second = 0; second < MESSAGES; second++)
        for (int first = 0; first < second && by[second] >= 0; first++)
            if (by[first] >= 0 && script[first].source == script[second].source && matches(&all[by[second]], &script[first]))
                CHECK(by[first] < by[second]);
}

struct sent {
    MPI_Request request;
    void *buffer;
    enum memory memory;
};

static void start_send(struct sent *s, int number)
{
    const struct message *m = &script[number];
    struct header head = {round_number, number};
    int n = (int)m->bytes;

    s->memory = m->form == IGIVE ? ALLOCATED : m->memory;
    s->buffer = new_buffer(s->memory, m->bytes);
    memcpy(s->buffer, &head, sizeof head);
    fill((char *)s->buffer + sizeof head, m->bytes - sizeof head, (unsigned)number);
    if (m->form == IGIVE)
        OPI_Igive(&s->buffer, n, MPI_BYTE, m->dest, m->tag, comms[m->comm], &s->request);
    else if (m->form == ISSEND)
        MPI_Issend(s->buffer, n, MPI_BYTE, m->dest, m->tag, comms[m->comm], &s->request);
    else
        MPI_Isend(s->buffer, n, MPI_BYTE, m->dest, m->tag, comms[m->comm], &s->request);
}

/* The receives that serve this rank's messages: some exact ones first, which then cannot be left without, then the rest
 * by wildcards of one kind, so that every outcome completes. */
static int plan_receives(int mode, struct posted *all)
{
    int mine[MESSAGES], n = 0, exact;

    for (int i = 0; i < MESSAGES; i++)
        if (script[i].dest == world_rank)
            mine[n++] = i;
    for (int i = n - 1; i > 0; i--) { /* in any order */
        int j = (int)draw((unsigned)i + 1), t = mine[i];
        mine[i] = mine[j];
        mine[j] = t;
    }
    exact = mode == EXACT ? n : n / 3;
    for (int i = 0; i < n; i++) {
        const struct message *m = &script[mine[i]];
        int wild = i >= exact;
        all[i] = (struct posted){.comm = m->comm, .source = m->source, .tag = m->tag, .take = (int)draw(2)};
        if (wild && (mode == ANY_SOURCE_THEN || mode == ANY_THEN))
            all[i].source = MPI_ANY_SOURCE;
        if (wild && (mode == ANY_TAG_THEN || mode == ANY_THEN))
            all[i].tag = MPI_ANY_TAG;
    }
    return n;
}

static void post(struct posted *p, MPI_Request *request)
{
    if (p->take) {
        OPI_Itake(&p->buffer, (int)largest, MPI_BYTE, p->source, p->tag, comms[p->comm], request);
    } else {
        p->buffer = malloc(largest);
        MPI_Irecv(p->buffer, (int)largest, MPI_BYTE, p->source, p->tag, comms[p->comm], request);
    }
}

static void drop(struct posted *p)
{
    drop_buffer(p->take ? ALLOCATED : PRIVATE, p->buffer);
}

/* Sends and posted receives in any order, completed by Waitany. */
static void posted_round(int mode)
{
    struct posted all[MESSAGES];
    struct sent sent[MESSAGES];
    MPI_Request request[2 * MESSAGES];
    int n = plan_receives(mode, all), sends = 0, next = 0, number = 0, index;
    MPI_Status status;

    while (next < n || number < MESSAGES) {
        if (next < n && (number == MESSAGES || draw(2))) {
            post(&all[next], &request[next]);
            next++;
        } else {
            if (script[number].source == world_rank)
                start_send(&sent[sends++], number);
            number++;
        }
    }
    for (int i = 0; i < sends; i++)
        request[n + i] = sent[i].request;
    for (int i = 0; i < n + sends; i++) {
        CHECK_CLASS(MPI_Waitany(n + sends, request, &index, &status), MPI_SUCCESS);
        if (index >= 0 && index < n)
            check_message(&all[index], &status);
    }
    check_order(all, n);
    for (int i = 0; i < n; i++)
        drop(&all[i]);
    for (int i = 0; i < sends; i++)
        if (sent[i].buffer != NULL)
            drop_buffer(sent[i].memory, sent[i].buffer);
}

/* All sends first, then probes choose what is received, by blocking calls. */
static void probed_round(void)
{
    struct posted all[MESSAGES];
    struct sent sent[MESSAGES];
    MPI_Request request[MESSAGES];
    int n = 0, sends = 0, flag;

    for (int i = 0; i < MESSAGES; i++) {
        if (script[i].source == world_rank) {
            start_send(&sent[sends], i);
            request[sends] = sent[sends].request;
            sends++;
        }
        n += script[i].dest == world_rank;
    }
    for (int i = 0; i < n; i++) {
        MPI_Status seen, status;
        struct posted *p = &all[i];
        int c = 0;

        do {
            c = 1 - c;
            CHECK_CLASS(MPI_Iprobe(MPI_ANY_SOURCE, draw(2) ? MPI_ANY_TAG : (int)draw(TAGS), comms[c], &flag, &seen), MPI_SUCCESS);
        } while (!flag);
        *p = (struct posted){.comm = c, .source = seen.MPI_SOURCE, .tag = seen.MPI_TAG, .take = (int)draw(2)};
        if (p->take) {
            OPI_Take(&p->buffer, (int)largest, MPI_BYTE, p->source, p->tag, comms[c], &status);
        } else {
            p->buffer = malloc(largest);
            MPI_Recv(p->buffer, (int)largest, MPI_BYTE, p->source, p->tag, comms[c], &status);
        }
        check_message(p, &status);
    }
    CHECK_CLASS(MPI_Waitall(sends, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    check_order(all, n);
    for (int i = 0; i < n; i++)
        drop(&all[i]);
    for (int i = 0; i < sends; i++)
        if (sent[i].buffer != NULL)
            drop_buffer(sent[i].memory, sent[i].buffer);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 300, first = argc > 2 ? atoi(argv[2]) : 1;

    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int i = 0; i < rounds; i++) {
        int mode;
        round_number = first + i;
        state = (unsigned)round_number * 2654435761u;
        mode = (int)draw(MODES);
        draw_script();
        state ^= (unsigned)world_rank * 40503u; /* from here on each rank draws for itself */
        trying("seed %d, mode %d", round_number, mode);
        if (mode == PROBES)
            probed_round();
        else
            posted_round(mode);
        MPI_Barrier(MPI_COMM_WORLD); /* wildcards must not see the next round */
    }
    MPI_Comm_free(&comms[1]);
    return finish("torture");
}
