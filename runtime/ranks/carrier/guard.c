/* guard.c - the lock of a rank's queues, where it is shared. */
#include "ranks/carrier/guard.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALONE 256 /* a barrier takes some microseconds, a mutex some hundredths of one */

void opir_guards_init(void) {
    for (int i = 0; i < opir.here; i++)
        atomic_init(&opir.rank[i].guard.shared, !opir.shoots);
}

/* Not inside, as it is now: whoever waits for that may go on. */
void opir_own_lock_slow(struct opir_guard *g) {
    atomic_store_explicit(&g->inside, false, memory_order_release);
    pthread_mutex_lock(&g->mutex);
    g->by_mutex = true;
    if (g->visited) {
        g->visited = false;
        g->alone = 0;
    } else if (opir.shoots && ++g->alone == ALONE) {
        atomic_store_explicit(&g->shared, false, memory_order_relaxed); /* who comes next sees it, by the mutex */
        g->alone = 0;
    }
}

void opir_own_unlock_slow(struct opir_guard *g) {
    g->by_mutex = false;
    pthread_mutex_unlock(&g->mutex);
}

void opir_their_lock(struct opir_guard *g) {
    pthread_mutex_lock(&g->mutex);
    g->visited = true;
    if (atomic_load_explicit(&g->shared, memory_order_relaxed))
        return;
    atomic_store_explicit(&g->shared, true, memory_order_relaxed);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); /* either we see the owner inside, or it sees `shared` */
    while (atomic_load_explicit(&g->inside, memory_order_acquire)) /* what it did inside */
        sched_yield();
}

void opir_their_unlock(struct opir_guard *g) {
    pthread_mutex_unlock(&g->mutex);
}
