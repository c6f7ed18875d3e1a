/* expose.c - what windows over private memory have in shared memory: the desk of this process (shared/onesided/ask.c), at which it looks while it has such windows, and
 * what is left to others (batch.c). */
#include "process/below/outside.h"
#include "process/heap/heap.h"
#include "shared/onesided/onesided.h"

static unsigned exposed;        /* windows in which others reach memory of this process by the kernel; inside the section */
static struct opiw_desk *place; /* never given back, so that nobody need know who may still look at it */

/* For one more window with private memory of this process; NULL: others use the kernel alone.  While ranks wait in calls of the MPI below it lets us look, but not
 * where several threads may be in it at once. */
struct opiw_desk *opi_expose(void) {
    if (!place && (place = opi_pool_alloc(sizeof *place)))
        memset(place, 0, sizeof *place);
    if (!place)
        return NULL;
    atomic_store_explicit(&opiw_own_desk, place, memory_order_release);
    exposed++;
    if (!opi.multiple)
        opi_hook_set();
    return place;
}

/* A window less.  All its members have settled what they had to ask, so after the last one nobody asks. */
void opi_cover(void) {
    if (!--exposed)
        atomic_store_explicit(&opiw_own_desk, NULL, memory_order_relaxed);
}

static size_t common; /* bytes of blocks that are given out below: no more than `opi_pool_keep`; inside the section */

void *opiw_common(size_t n) {
    void *p = opi_pool_alloc(n);
    if (!p)
        return NULL;
    size_t size = opi_class_size(opi_class_of(p));
    if (opi_reachable(p, n) && size <= opi_pool_keep - common) {
        common += size;
        return p;
    }
    opi_pool_free(p);
    return NULL;
}

void opiw_common_free(void *p) {
    common -= opi_class_size(opi_class_of(p));
    opi_pool_free(p);
}
