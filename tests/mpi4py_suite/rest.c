/* rest.c - preloaded where there are no fewer ranks than processors, with libopi and without: a rank that waits sleeps for a moment instead of asking
 * for its turn again at once.  Open MPI has no setting for that. */
#include <sched.h>
#include <time.h>

int sched_yield(void)
{
    struct timespec moment = {0, 1000};
    nanosleep(&moment, 0);
    return 0;
}
