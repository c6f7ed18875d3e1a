/* net.c - packets and transfers between the processes of a job, over the MPI below. */
#include "ranks/transport/net.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/onesided/order.h"

#define SLOTS 16
#define LEAST ((size_t)64)
#define PIECE ((size_t)1 << 30) /* the most that one message of the MPI below carries */
#define ROUNDS 64 /* packets handled before others get their turn */

struct opir_net opir_net = {.eager = 16384, .cap = (uint64_t)16 << 20};

/* `waiting`: packets are in the queue, which `out_lock` guards.  `driving` guards everything below it. */
static pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
static struct opir_packet *out_head, *out_tail;
static atomic_bool waiting, driving;

static MPI_Comm comm;
static struct {
    MPI_Request request;
    char *data;
} slot[SLOTS]; /* receives for packets, the oldest first */
static int oldest;

/* Packets that are not sent yet, the oldest first: only the first few are looked at, since all that hangs on the others is their memory. */
static struct opir_packet *flying_head, *flying_tail;

/* Transfers: for each request of the MPI below what it is part of. */
static MPI_Request *request;
static struct opir_xfer **flight;
static int *indices;
static int flights, room;
static uint64_t sent, received; /* packets, those of dead.c apart */
static int tag_most;
static _Atomic unsigned tags;

static void below(int rc, const char *call) {
    char text[MPI_MAX_ERROR_STRING];
    if (OPIR_LIKELY(rc == MPI_SUCCESS))
        return;
    opir_text(rc, text);
    opir_die("%s between processes: %s", call, text);
}

struct opir_packet *opir_packet_new(int kind, size_t payload) {
    struct opir_packet *p = malloc(sizeof *p + payload);
    if (!p)
        opir_die("out of memory for a message of %zu bytes", payload);
    p->bytes = payload;
    p->with = NULL;
    memset(&p->head, 0, sizeof p->head);
    p->head.kind = (uint8_t)kind;
    return p;
}

/* A tag for a transfer; those of senders and those of receivers are never the same. */
int opir_net_tag(bool of_sender) {
    unsigned n = atomic_fetch_add_explicit(&tags, 1, memory_order_relaxed); /* only its being different counts */
    return 1 + (int)(n % (unsigned)(tag_most / 2)) * 2 - of_sender + 1;
}

/* ---- the driver's part ------------------------------------------------------------------------------------------------------------------ */

static MPI_Request *flying(struct opir_xfer *x) {
    if (flights == room) {
        room = room ? room * 2 : 64;
        request = realloc(request, (size_t)room * sizeof *request);
        flight = realloc(flight, (size_t)room * sizeof *flight);
        indices = realloc(indices, (size_t)room * sizeof *indices);
        if (!request || !flight || !indices)
            opir_die("out of memory for %d messages under way", room);
    }
    flight[flights] = x;
    return &request[flights++];
}

void opir_net_start(struct opir_xfer *x) {
    x->left = 0;
    for (size_t done = 0; done < x->bytes; done += PIECE) {
        int n = (int)(x->bytes - done < PIECE ? x->bytes - done : PIECE);
        MPI_Request *q = flying(x);
        x->left++;
        if (x->receives)
            below(PMPI_Irecv((char *)x->buf + done, n, MPI_BYTE, x->peer, x->tag, comm, q), "MPI_Irecv");
        else
            below(PMPI_Isend((char *)x->buf + done, n, MPI_BYTE, x->peer, x->tag, comm, q), "MPI_Isend");
    }
}

static bool flush(void) {
    bool some = false;
    while (atomic_load_explicit(&waiting, memory_order_relaxed)) {
        opir_lock(&out_lock);
        struct opir_packet *p = out_head;
        out_head = out_tail = NULL;
        atomic_store_explicit(&waiting, false, memory_order_relaxed); /* under the lock, as is setting it */
        opir_unlock(&out_lock);
        for (struct opir_packet *next; p; p = next) {
            next = p->next;
            if (p->with && p->with->receives)
                opir_net_start(p->with);
            sent += p->head.kind < OPIR_P_IDLE;
            below(PMPI_Isend(&p->head, (int)(sizeof p->head + p->bytes), MPI_BYTE, p->to, 0, comm, &p->request), "MPI_Isend");
            p->next = NULL;
            *(flying_tail ? &flying_tail->next : &flying_head) = p;
            flying_tail = p;
            if (p->with && !p->with->receives)
                opir_net_start(p->with);
            some = true;
        }
    }
    return some;
}

static void handle(int process, const struct opir_head *h, const void *data) {
    received += h->kind < OPIR_P_IDLE;
    opi_order_heard(&opir_net);
    if (h->kind == OPIR_P_BUNDLE)
        opir_around_packet(process, h, data);
    else if (h->kind < OPIR_P_BUNDLE)
        opir_far_packet(process, h, data);
    else if (h->kind == OPIR_P_WAKE)
        opir_wake(opir_rank_of(h->dst));
    else
        opir_dead_packet(process, h, data);
}

/* What a slot holds; the packets of dead.c are not bound by the setting. */
static size_t slot_bytes(void) {
    return sizeof(struct opir_head) + (opir_net.eager < LEAST ? LEAST : opir_net.eager);
}

static void listen(int k) {
    below(PMPI_Irecv(slot[k].data, (int)slot_bytes(), MPI_BYTE, MPI_ANY_SOURCE, 0, comm, &slot[k].request), "MPI_Irecv");
}

static bool arrivals(void) {
    for (int n = 0; n < ROUNDS; n++) {
        MPI_Status status;
        int flag = 0;
        below(PMPI_Test(&slot[oldest].request, &flag, &status), "MPI_Test");
        if (!flag)
            return n > 0;
        struct opir_head h;
        memcpy(&h, slot[oldest].data, sizeof h);
        handle(status.MPI_SOURCE, &h, slot[oldest].data + sizeof h);
        listen(oldest);
        oldest = (oldest + 1) % SLOTS;
    }
    return true;
}

static void sent_packets(void) {
    while (flying_head) {
        struct opir_packet *p = flying_head;
        int flag = 0;
        below(PMPI_Test(&p->request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
        if (!flag)
            return;
        flying_head = p->next;
        if (!flying_head)
            flying_tail = NULL;
        free(p);
    }
}

static bool completions(void) {
    int n = 0;
    if (!flights)
        return false;
    below(PMPI_Testsome(flights, request, &n, indices, MPI_STATUSES_IGNORE), "MPI_Testsome");
    if (n <= 0)
        return false;
    for (int i = 0; i < n; i++) {
        struct opir_xfer *x = flight[indices[i]];
        if (--x->left == 0)
            x->over(x); /* starts nothing by itself: what it has to say it leaves in the queue */
    }
    int kept = 0;
    for (int i = 0; i < flights; i++)
        if (request[i] != MPI_REQUEST_NULL) {
            request[kept] = request[i];
            flight[kept++] = flight[i];
        }
    flights = kept;
    return true;
}

/* Sends what waits to be sent, and with `all` receives too; true when something has happened.  idle_ns: see opir_net_watch.  All orders are seq_cst: who
 * leaves a packet stores `waiting` and then finds `driving` held, who drives gives it up and then reads `waiting`; so one of them sees the other. */
static bool drive(bool all, uint64_t idle_ns) {
    bool some = false;
    do {
        if (atomic_exchange_explicit(&driving, true, memory_order_seq_cst))
            return some;
        some |= flush();
        sent_packets();
        if (all) {
            some |= arrivals();
            some |= completions();
            if (idle_ns && !some)
                opir_dead_idle(idle_ns);
            flush();
        }
        struct opir_around *ready = opir_around_ready();
        atomic_store_explicit(&driving, false, memory_order_seq_cst);
        if (ready)
            opir_around_run(ready);
    } while (atomic_load_explicit(&waiting, memory_order_seq_cst));
    return some;
}

bool opir_net_watch(uint64_t idle_ns) {
    int own_errno = errno; /* the program's */
    bool some = drive(true, idle_ns);
    errno = own_errno;
    return some;
}

bool opir_net_poll(void) {
    return opir_net_watch(0);
}

void opir_net_send(int process, struct opir_packet *p) {
    p->to = process;
    p->next = NULL;
    opi_order_tells(&opir_net);
    opir_lock(&out_lock);
    if (out_tail)
        out_tail->next = p;
    else
        out_head = p;
    out_tail = p;
    atomic_store_explicit(&waiting, true, memory_order_seq_cst);
    opir_unlock(&out_lock);
    drive(false, 0);
}

/* For dead.c, called by the driver or where one thread has all ranks. */
bool opir_net_quiet(void) {
    return !flights && !flying_head && !atomic_load_explicit(&waiting, memory_order_relaxed);
}

void opir_net_counts(uint64_t *s, uint64_t *r) {
    *s = sent;
    *r = received;
}

/* ---- the beginning and the end -------------------------------------------------------------------------------------------------------------- */

void opir_net_begin(void) {
    int *most, there = 0;
    below(PMPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
    PMPI_Comm_get_attr(comm, MPI_TAG_UB, &most, &there);
    tag_most = there ? *most - 2 : 32765;
    for (int k = 0; k < SLOTS; k++) {
        slot[k].data = opir_alloc(slot_bytes());
        listen(k);
    }
}

/* Polls until a collective of the MPI below is complete. */
static void complete(MPI_Request q) {
    uint64_t begun = opir_now();
    for (int flag = 0; !flag;) {
        if (opir_net_poll())
            begun = opir_now();
        below(PMPI_Test(&q, &flag, MPI_STATUS_IGNORE), "MPI_Test");
        if (!flag) {
            uint64_t ns = opir_now() - begun;
            opir_dead_idle(ns);
            opir_idle(ns);
        }
    }
}

/* All ranks of this process have ended.  Waits until those of all others have, and no packet is on its way; the highest of all codes. */
int opir_net_end(int code) {
    MPI_Request q;
    int highest = code;
    below(PMPI_Iallreduce(&code, &highest, 1, MPI_INT, MPI_MAX, comm, &q), "MPI_Iallreduce");
    complete(q);
    uint64_t before[2] = {1, 0}, now[2] = {0, 0};
    while (now[0] != now[1] || memcmp(now, before, sizeof now) != 0) { /* the same twice: nothing was on its way between */
        memcpy(before, now, sizeof now);
        uint64_t mine[2] = {sent, received};
        below(PMPI_Iallreduce(mine, now, 2, MPI_UINT64_T, MPI_SUM, comm, &q), "MPI_Iallreduce");
        complete(q);
    }
    while (!opir_net_quiet())
        opir_net_poll();
    for (int k = 0; k < SLOTS; k++) {
        PMPI_Cancel(&slot[k].request);
        PMPI_Wait(&slot[k].request, MPI_STATUS_IGNORE);
        free(slot[k].data);
    }
    PMPI_Comm_free(&comm);
    return highest;
}
