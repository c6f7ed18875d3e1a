/* expose.c - the desk of this process (shared/onesided/ask.c), which it has while it has windows over private memory. */
#include "process/below/outside.h"
#include "process/heap/pool.h"
#include "shared/onesided/onesided.h"

static unsigned exposed; /* windows in which others reach memory of this process by the kernel; inside the section */

/* For one more window with private memory of this process; NULL: others use the kernel alone.  While ranks wait in calls of the MPI below it lets us look, but not
 * where several threads may be in it at once. */
struct opiw_desk *opi_expose(void) {
    struct opiw_desk *d = opiw_own_desk;
    if (!d && (d = opi_pool_alloc(sizeof *d))) {
        memset(d, 0, sizeof *d);
        opiw_own_desk = d;
    }
    if (!d)
        return NULL;
    exposed++;
    if (!opi.multiple)
        opi_hook_set();
    return d;
}

void opi_cover(void) {
    if (--exposed)
        return;
    struct opiw_desk *d = opiw_own_desk;
    opiw_own_desk = NULL;
    opi_pool_free(d);
}
