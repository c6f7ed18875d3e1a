/* alive.c - ranks of this node that have died.
 *
 * As a rule the launcher ends a job of which a rank was killed, before anybody here can tell.  But not every launcher does, nor always, and then a wait for that
 * rank's part of a copy, or for its message, would last for ever.  So a wait that lasts looks twice a second whether the node's processes are there.  One that
 * was gone both times, and had not begun MPI_Finalize, has died.  What it sent before arrives; what needs more of it ends with an error: MPI_ERR_PROC_FAILED where
 * the MPI has that, else MPI_ERR_OTHER.  A receive from any source ends so as well, where a member of its communicator has died.
 *
 * Only what lies in shared memory is looked at, and /proc: no signal is sent, nothing is asked of the MPI.  Owner thread only. */
#include "process/base/alive.h"
#include "process/base/error.h"
#include "process/below/net.h"
#include "process/engine/deliver.h"
#include "process/engine/match.h"
#include "process/engine/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#if defined(MPI_ERR_PROC_FAILED)
#define LOST MPI_ERR_PROC_FAILED
#elif defined(MPIX_ERR_PROC_FAILED)
#define LOST MPIX_ERR_PROC_FAILED
#else
#define LOST MPI_ERR_OTHER
#endif
#define LOOK_NS 500000000u
#define AT_ONCE 64 /* processes of a large node that are looked at in one look */

enum { HERE, MISSED, DEAD };

/* By local index: when the process began, in the kernel's ticks (another process with its number began later); what is known of it. */
static uint64_t *began;
static uint8_t *is;
static uint64_t last; /* ns: when it was looked */

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* State, number of threads and beginning of a process.  False: there is no such process; what cannot be read leaves *begun 0. */
static bool stat_of(int pid, char *state, long *threads, uint64_t *begun) {
    char path[64], text[1024];
    *begun = OPI_ALIVE_UNKNOWN;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int f = open(path, O_RDONLY | O_CLOEXEC);
    if (f < 0)
        return !(errno == ENOENT && kill(pid, 0) != 0 && errno == ESRCH);
    ssize_t n = read(f, text, sizeof text - 1);
    int failed = errno;
    close(f);
    if (n <= 0)
        return !(n < 0 && failed == ESRCH);
    text[n] = 0;
    const char *after = strrchr(text, ')'); /* the name may hold anything */
    unsigned long long t = 0;
    if (after && sscanf(after + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s %llu", state, threads, &t) == 3)
        *begun = t;
    return true;
}

/* When that process began; OPI_ALIVE_UNKNOWN where it does not show. */
uint64_t opi_alive_begun(int pid) {
    char state;
    long threads;
    uint64_t begun;
    return stat_of(pid, &state, &threads, &begun) ? begun : OPI_ALIVE_UNKNOWN;
}

/* `begun` by local index becomes ours; NULL or an unknown one: nobody is looked at. */
void opi_alive_begin(uint64_t *begun) {
    bool known = begun != NULL;
    for (int i = 0; known && i < opi.nlocal; i++)
        known = begun[i] != OPI_ALIVE_UNKNOWN;
    is = known ? calloc((size_t)opi.nlocal, 1) : NULL;
    if (!is) {
        free(begun);
        return;
    }
    began = begun;
}

void opi_alive_end(void) {
    free(began);
    free(is);
    began = NULL;
    is = NULL;
}

/* Has it ended, without having begun MPI_Finalize?  One whose parent has yet to hear of its end is a zombie with no thread but the first. */
static bool missed(int local) {
    char state = 'R';
    long threads = 1;
    uint64_t begun;
    const struct opi_arena *a = opi.peer[local];
    if (atomic_load_explicit(&((struct opi_arena *)(uintptr_t)a)->left, memory_order_acquire))
        return false;
    bool there = stat_of(a->pid, &state, &threads, &begun);
    if (there && begun == OPI_ALIVE_UNKNOWN)
        return false;
    return !there || begun != began[local] || state == 'X' || (state == 'Z' && threads <= 1);
}

static void look_at(int local) {
    if (is[local] == DEAD || local == opi.me)
        return;
    if (!missed(local)) {
        is[local] = HERE;
    } else if (is[local] == HERE) {
        is[local] = MISSED; /* the launcher has until the next look to end the job */
    } else {
        is[local] = DEAD;
        opi.broken = true;
        opi_queue_drop(local);
        opi_say("a rank of this node has died: process %d", opi.peer[local]->pid);
    }
}

/* From waits that last, and from calls that look in vain again and again. */
OPI_COLD void opi_look_alive(void) {
    static int next;
    if (!is)
        return;
    uint64_t now = now_ns();
    if (now - last < LOOK_NS)
        return;
    bool begins = now - last > 4 * (uint64_t)LOOK_NS; /* the first look of a wait: what was missed in another one was long ago */
    last = now;
    for (int n = 0; n < opi.nlocal && n < AT_ONCE; n++) {
        next = next + 1 < opi.nlocal ? next + 1 : 0;
        if (begins && is[next] == MISSED)
            is[next] = HERE;
        look_at(next);
    }
}

bool opi_died(int local) {
    for (int i = 0; is && local < 0 && i < opi.nlocal; i++)
        if (is[i] == DEAD)
            return true;
    return is && local >= 0 && is[local] == DEAD;
}

int opi_lost_class(void) {
    return LOST;
}

/* Can nothing come from that rank any more; with -1, from some member of the communicator? */
bool opi_comm_lost(const struct opi_comm *c, int local) {
    if (!is || !c->active)
        return false;
    if (local >= 0)
        return is[local] == DEAD && !opi_ring_from(local);
    for (int i = 0; i < opi.nlocal; i++)
        if (is[i] == DEAD && c->rank_of_local[i] >= 0 && !opi_ring_from(i))
            return true;
    return false;
}

static bool lost_receive(struct opi_req *r) {
    if (r->pipe) { /* matched, and some of it has yet to come */
        if (!opi_died(r->src))
            return false;
        if (opi_pipe_poll(r)) { /* all had come */
            struct opi_req *own = r;
            opi_stream_drop(own);
            return true;
        }
        opi_stream_drop(r); /* what the two had of it stays where it is: nobody can tell what the other was at */
    } else {
        if (!r->posted || !opi_comm_lost(r->comm, r->any_source ? -1 : r->src))
            return false;
        opi_unpost(r);
        if (r->held)
            opi_net_unhold(r);
    }
    r->block = NULL;
    r->r_source = MPI_ANY_SOURCE;
    r->r_tag = MPI_ANY_TAG;
    r->r_bytes = 0;
    r->r_error = LOST;
    r->done = true;
    return true;
}

/* A request that is not complete, when some rank has died: true when it is over now. */
OPI_COLD bool opi_req_lost(struct opi_req *r) {
    if (r->kind == OPI_R_RECV && is)
        return lost_receive(r);
    if (r->kind != OPI_R_DESC || !opi_died(r->src))
        return false;
    if (atomic_load_explicit(&r->desc->state, memory_order_acquire) == OPI_D_DONE)
        return false; /* it was received before */
    if (!opi_desc_withdraw(r)) { /* it was being received */
        opi_lent_over(r);
        r->desc = NULL;
    }
    r->r_error = LOST;
    r->done = true;
    return true;
}

/* What an error class means, of a message of ours. */
const char *opi_reason(int class) {
    return class == MPI_ERR_TRUNCATE ? "message longer than the buffer"
           : class == MPI_ERR_NO_MEM ? "no memory"
           : class == LOST           ? "a rank that it waits for has died"
                                     : "the communicator was revoked";
}
