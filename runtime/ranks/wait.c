/* wait.c - waiting, whatever carries the rank. */
#include "ranks.h"

#include <sched.h>

void opir_relax(struct opir_wait *w) {
    if (opir.fibers)
        opir_fiber_relax();
    else
        opir_thread_relax(w);
}

void opir_yield(void) {
    if (opir.fibers)
        opir_fiber_yield();
    else if (opir.crowded)
        sched_yield();
}
