/* wait.c - waiting, whatever carries the rank. */
#include "ranks/transport/net.h"

#include <sched.h>
#include <time.h>

/* Who leaves a chore raises the number, then wakes: so a rank that is about to sleep finds it here, or finds itself woken.  The lock orders the rest. */
static inline bool chore(void) {
    if (OPIR_LIKELY(!opir.several || !atomic_load_explicit(&opir_self->chores, memory_order_relaxed)))
        return false;
    opir_chore(opir_self);
    return true;
}

void opir_relax(struct opir_wait *w) {
    if (chore())
        return;
    if (opir.fibers)
        opir_fiber_relax();
    else
        opir_thread_relax(w);
}

/* Of so many tests in vain one gives the processor away.  A test takes some 50 ns, so the others wait no longer than they would for a change of threads;
 * and beside programs of other people each time costs a round of all of them. */
enum { VAIN = 16 };

static inline void let_others(bool processor) {
    if (chore())
        return;
    if (opir.fibers) {
        opir_fiber_yield();
        return;
    }
    if (opir.several)
        opir_net_poll();
    if (processor && opir.crowded)
        sched_yield();
}

void opir_yield(void) {
    let_others(true);
}

void opir_vain(void) {
    let_others(++opir_self->vain % VAIN == 0);
}

/* A thread that has found nothing to do for so long, and has looked again and again: lets others have the processor, later for a while. */
void opir_idle(uint64_t ns) {
    if (ns < 20000 && !opir.crowded)
        return;
    if (ns < 500000) {
        sched_yield();
        return;
    }
    struct timespec t = {0, 50000};
    nanosleep(&t, NULL);
}
