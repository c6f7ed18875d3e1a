/* Random traffic, every outcome checked against MPI's matching rule.
 *
 *   torture [rounds [seed]]
 *
 * Each round every rank sends a random list of messages to random ranks on four communicators, in all forms at once, and posts as many receives as are due:
 * exact ones on communicator 0, (any source, tag) on 1, (source, any tag) on 2 and (any, any) on 3.  The lists follow from the seed, so each rank knows what
 * the others send.  Going through the receives in posting order, each must have taken the earliest message of its source that fits it. */
#include "check.h"

#define MAX_MSG 40
#define COMMS 4
#define TAGS 3

struct msg {
    int dest, comm, tag, n, form, taken;
};

struct want {
    int comm, source, tag, n, take, done;
    int *buf;
    MPI_Status st;
};

static unsigned long long state;

static unsigned rnd(unsigned n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((state >> 33) % n);
}

static int length(void) {
    switch (rnd(6)) {
    case 0: return (int)rnd(4);
    case 1: return 1 + (int)rnd(12);
    case 2: return 10 + (int)rnd(100);
    case 3: return 900 + (int)rnd(300);
    case 4: return (int)rnd(5000);
    default: return rnd(8) ? 20 : 30000 + (int)rnd(40000);
    }
}

static int value(int src, int index, int i) {
    return src * 1000003 + index * 4099 + i;
}

int main(int argc, char **argv) {
    start(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    MPI_Comm comm[COMMS] = {MPI_COMM_WORLD};
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    struct msg(*sent)[MAX_MSG] = calloc((size_t)size, sizeof *sent);
    int *count = calloc((size_t)size, sizeof *count), top = size * MAX_MSG;
    struct want *want = calloc((size_t)top, sizeof *want);
    MPI_Request *req = calloc((size_t)(top + MAX_MSG), sizeof *req);
    int **sbuf = calloc(MAX_MSG, sizeof *sbuf);
    void *attached = malloc(1 << 24);
    MPI_Buffer_attach(attached, 1 << 24);

    for (int round = 0; round < rounds; round++) {
        /* What everybody sends: the same on all ranks. */
        state = seed * 7919u + (unsigned)round;
        for (int s = 0; s < size; s++) {
            count[s] = 1 + (int)rnd(MAX_MSG);
            for (int i = 0; i < count[s]; i++)
                sent[s][i] = (struct msg){(int)rnd((unsigned)size), (int)rnd(COMMS), (int)rnd(TAGS), length(), (int)rnd(8), 0};
        }
        /* What I receive. */
        state += (unsigned)rank * 104729u;
        int nwant = 0;
        for (int s = 0; s < size; s++)
            for (int i = 0; i < count[s]; i++)
                if (sent[s][i].dest == rank) {
                    const struct msg *m = &sent[s][i];
                    want[nwant++] = (struct want){.comm = m->comm,
                                                  .source = m->comm == 1 || m->comm == 3 ? MPI_ANY_SOURCE : s,
                                                  .tag = m->comm == 2 || m->comm == 3 ? MPI_ANY_TAG : m->tag,
                                                  .n = 80000,
                                                  .take = (int)rnd(2)};
                }
        for (int i = nwant - 1; i > 0; i--) {
            int j = (int)rnd((unsigned)i + 1);
            struct want t = want[i];
            want[i] = want[j];
            want[j] = t;
        }
        int posted = 0, started = 0, nreq = nwant;
        for (int i = 0; i < nwant + MAX_MSG; i++)
            req[i] = MPI_REQUEST_NULL;
        while (posted < nwant || started < count[rank]) {
            if (started == count[rank] || (posted < nwant && rnd(2))) {
                struct want *w = &want[posted];
                if (w->take)
                    OPI_Itake(&w->buf, w->n, MPI_INT, w->source, w->tag, comm[w->comm], &req[posted]);
                else {
                    w->buf = malloc(sizeof(int) * (size_t)w->n);
                    MPI_Irecv(w->buf, w->n, MPI_INT, w->source, w->tag, comm[w->comm], &req[posted]);
                }
                posted++;
                continue;
            }
            struct msg *m = &sent[rank][started];
            int *b, reach = m->form & 1;
            if (reach || m->form >= 6)
                OPI_Alloc(&b, sizeof(int) * (size_t)m->n);
            else
                b = malloc(sizeof(int) * (size_t)m->n + 1);
            for (int i = 0; i < m->n; i++)
                b[i] = value(rank, started, i);
            MPI_Request *q = &req[nwant + started];
            sbuf[started] = NULL;
            switch (m->form) {
            case 0:
            case 1: MPI_Isend(b, m->n, MPI_INT, m->dest, m->tag, comm[m->comm], q); sbuf[started] = b; break;
            case 2:
            case 3: MPI_Issend(b, m->n, MPI_INT, m->dest, m->tag, comm[m->comm], q); sbuf[started] = b; break;
            case 4:
            case 5: MPI_Ibsend(b, m->n, MPI_INT, m->dest, m->tag, comm[m->comm], q); sbuf[started] = b; break;
            default: OPI_Igive(&b, m->n, MPI_INT, m->dest, m->tag, comm[m->comm], q); CHECK(!b);
            }
            started++;
        }
        nreq = nwant + started;
        /* Completion in a random form. */
        switch (rnd(4)) {
        case 0: {
            MPI_Status *st = malloc(sizeof *st * (size_t)(nreq + 1));
            MPI_Waitall(nreq, req, st);
            for (int i = 0; i < nwant; i++)
                want[i].st = st[i];
            free(st);
            break;
        }
        case 1:
            for (int i = 0; i < nreq; i++) {
                int index;
                MPI_Status st;
                MPI_Waitany(nreq, req, &index, &st);
                CHECK(index != MPI_UNDEFINED);
                if (index < nwant)
                    want[index].st = st;
            }
            break;
        case 2: {
            int left = nreq, got, *at = malloc(sizeof *at * (size_t)(nreq + 1));
            MPI_Status *st = malloc(sizeof *st * (size_t)(nreq + 1));
            while (left) {
                if (rnd(2))
                    MPI_Waitsome(nreq, req, &got, at, st);
                else
                    MPI_Testsome(nreq, req, &got, at, st);
                CHECK(got != MPI_UNDEFINED);
                for (int i = 0; i < got; i++)
                    if (at[i] < nwant)
                        want[at[i]].st = st[i];
                left -= got;
            }
            free(at);
            free(st);
            break;
        }
        default:
            for (int i = nreq - 1; i >= 0; i--) {
                MPI_Status st;
                int flag = 0;
                while (!flag)
                    MPI_Test(&req[i], &flag, &st);
                if (i < nwant)
                    want[i].st = st;
            }
        }
        for (int i = 0; i < started; i++)
            if (sbuf[i]) {
                if (sent[rank][i].form & 1)
                    OPI_Free(&sbuf[i]);
                else
                    free(sbuf[i]);
            }
        for (int i = 0; i < nwant; i++) {
            struct want *w = &want[i];
            int s = w->st.MPI_SOURCE, n, k;
            CHECK(s >= 0 && s < size);
            CHECK(w->source == MPI_ANY_SOURCE || w->source == s);
            CHECK(w->tag == MPI_ANY_TAG || w->tag == w->st.MPI_TAG);
            for (k = 0; k < count[s]; k++) {
                struct msg *m = &sent[s][k];
                if (!m->taken && m->dest == rank && m->comm == w->comm && (w->tag == MPI_ANY_TAG || m->tag == w->tag))
                    break;
            }
            CHECK(k < count[s]);
            struct msg *m = &sent[s][k];
            m->taken = 1;
            MPI_Get_count(&w->st, MPI_INT, &n);
            CHECK(w->st.MPI_TAG == m->tag && n == m->n && w->buf);
            for (int j = 0; j < n; j++)
                CHECK(w->buf[j] == value(s, k, j));
            if (w->take)
                OPI_Free(&w->buf);
            else
                free(w->buf);
        }
        MPI_Barrier(MPI_COMM_WORLD); /* a wildcard must not take a message of the next round */
    }
    MPI_Buffer_detach(&attached, &(int){0});
    free(attached);
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comm[i]);
    free(sent), free(count), free(want), free(req), free(sbuf);
    return finish();
}
