/* order.h - order that another process passes on, for ThreadSanitizer.
 *
 * It sees the atomics of its own process alone.  Where rank 1 writes, rank 2 of another process learns of that and tells rank 0, which is in rank 1's process
 * and reads, it misses the order that rank 2 passes on, and reports a race.  So whoever tells something that leaves the process, by a window or by a message,
 * and whoever has heard something from outside, says so here: all that was told before is then taken to be ordered.  In other builds this does nothing. */
#ifndef OPI_ORDER_H
#define OPI_ORDER_H

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

/* `order`: the same address for all of a process; NULL: nothing leaves it. */
static inline void opi_order_tells(void *order) {
    (void)order;
#ifdef __SANITIZE_THREAD__
    if (order)
        __tsan_release(order);
#endif
}

static inline void opi_order_heard(void *order) {
    (void)order;
#ifdef __SANITIZE_THREAD__
    if (order)
        __tsan_acquire(order);
#endif
}

#endif
