/* dead.c - do all ranks of all processes wait for ever?
 *
 * A process is idle when none of its ranks can run (of threads: all sleep inside the library, and nobody has been woken), none sleeps by itself, no send
 * can be copied aside, and nothing that it sends or receives is under way.  Only a packet ends that.  Process 0, idle for a while, asks all: are you idle,
 * how many packets have you sent and received?  When in two rounds all are idle, no number has changed between them, and as many were received as sent,
 * then at the end of the first round nothing was on its way, and nothing can happen. */
#include "ranks/transport/net.h"

#include <stdio.h>

#ifndef ASK_NS
#define ASK_NS 100000000u /* before the first question, and between rounds that lead to nothing */
#endif

struct state {
    uint64_t sent, received, waiting;
    bool idle;
};

/* Only of process 0: what the processes said in this round, and in the one before. */
static struct state *now, *before;
static uint64_t question, asked;
static int answers;
static bool asking, told;

static struct state own_state(void) {
    struct state s = {.waiting = (uint64_t)opir_waiting()};
    opir_net_counts(&s.sent, &s.received);
    s.idle = (opir.fibers ? opir_fibers_stuck() : opir_threads_stuck()) && opir_net_quiet();
    return s;
}

static void pass_on(uint64_t shown, uint64_t waiting) {
    shown += (uint64_t)opir_tell_waiting(OPIR_TOLD - (int)shown);
    fflush(stderr);
    if (opir.process < opir.processes - 1) {
        struct opir_packet *p = opir_packet_new(OPIR_P_TELL, 0);
        p->head.bytes = shown;
        p->head.id = waiting;
        opir_net_send(opir.process + 1, p);
        return;
    }
    if (waiting > shown)
        fprintf(stderr, "libopi:   and %d more\n", (int)(waiting - shown));
    opir_job_abort(1);
}

/* All have answered. */
static void judge(void) {
    uint64_t sent = 0, received = 0, waiting = 0;
    bool idle = true, same = true;
    for (int k = 0; k < opir.processes; k++) {
        idle &= now[k].idle;
        same &= before[k].idle && now[k].sent == before[k].sent && now[k].received == before[k].received;
        sent += now[k].sent;
        received += now[k].received;
        waiting += now[k].waiting;
    }
    memcpy(before, now, (size_t)opir.processes * sizeof *now);
    asking = false;
    if (idle && !same && sent == received)
        asked = 0; /* once more, at once */
    if (!idle || !same || sent != received || !waiting)
        return;
    told = true;
    fprintf(stderr, "libopi: deadlock: all %d ranks that have not ended wait, and no message is under way\n", (int)waiting);
    pass_on(0, waiting);
}

static void answered(int process, const struct state *s) {
    now[process] = *s;
    if (++answers == opir.processes)
        judge();
}

/* Nothing was to be done in this process for so long.  Of threads, called by the driver, as all of this file. */
void opir_dead_idle(uint64_t idle_ns) {
    uint64_t time = opir_now();
    if (opir.process || told || asking || idle_ns < ASK_NS || time - asked < ASK_NS)
        return;
    struct state s = own_state(); /* before the questions are under way */
    if (!s.idle)
        return;
    if (!now) {
        now = opir_alloc((size_t)opir.processes * sizeof *now);
        before = opir_alloc((size_t)opir.processes * sizeof *before);
    }
    asking = true;
    asked = time;
    answers = 0;
    question++;
    for (int k = 1; k < opir.processes; k++) {
        struct opir_packet *p = opir_packet_new(OPIR_P_IDLE, 0);
        p->head.id = question;
        opir_net_send(k, p);
    }
    answered(0, &s);
}

void opir_dead_packet(int process, const struct opir_head *h, const void *data) {
    struct state s;
    if (h->kind == OPIR_P_IDLE) {
        s = own_state();
        struct opir_packet *p = opir_packet_new(OPIR_P_STATE, sizeof s);
        p->head.id = h->id;
        memcpy(p->data, &s, sizeof s);
        opir_net_send(process, p);
    } else if (h->kind == OPIR_P_STATE) {
        memcpy(&s, data, sizeof s);
        answered(process, &s);
    } else {
        pass_on(h->bytes, h->id);
    }
}
