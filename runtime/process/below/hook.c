/* hook.c - receives that other nodes may serve, while their rank sits in a call of the MPI below that does not return.
 *
 * Such a receive is held (net.c): only libopi looks for its message, so that nobody would while the rank waits in a barrier, a window's fence or a file's
 * collective write, and a peer whose synchronous or large send it is would never come to that barrier.  Two ways:
 *
 *   - Where all threads may call the MPI, the helper looks (helper.c).  A job that may have several nodes asks its MPI for that, whatever the program asked
 *     for, and goes on to tell the program what that asked for; between the program's threads and the helper nothing else changes.
 *   - Else the MPI calls us from its own progress, on the thread that waits.  Open MPI has a call for that which is not of its public interface, but all that
 *     waits inside goes through it: there the first way is not taken, which would cost each of its calls a lock.  MPICH has a public one, which the waits of
 *     one-sided communication pass by; it is the second choice. */
#include "process/below/net.h"
#include "process/below/outside.h"
#include "process/engine/section.h"
#include "shared/onesided/onesided.h"

#include <dlfcn.h>
#include <stdlib.h>

static bool looking; /* what we call progresses, too */

/* Looks for messages of held receives; nothing where the thread is inside libopi, which looks by itself. */
static void look(void) {
    if (!opi.nheld || looking || opi_in_section())
        return;
    looking = true;
    opi_enter();
    opi_below_begin();
    opi_net_try();
    opi_below_end();
    opi_leave();
    looking = false;
}

#if defined(MPIX_STREAM_NULL) && defined(MPICH_VERSION) && !defined(MPI_ABI_VERSION)

#pragma weak PMPIX_Async_start

static bool set;

static int poll(MPIX_Async_thing thing) {
    (void)thing;
    opiw_look_seldom();
    if (looking) /* the call that looks ends it */
        return MPIX_ASYNC_NOPROGRESS;
    look();
    set = (opi.nheld || atomic_load_explicit(&opiw_own_desk, memory_order_relaxed)) && opi.ready;
    return set ? MPIX_ASYNC_NOPROGRESS : MPIX_ASYNC_DONE;
}

static bool whole(void) {
    return false;
}

void opi_hook_set(void) {
    if (!set && PMPIX_Async_start && PMPIX_Async_start(poll, NULL, MPIX_STREAM_NULL) == MPI_SUCCESS)
        set = true;
}

void opi_hook_end(void) {
}

#else

typedef int (*callback)(void);
typedef int (*registers)(callback);

static int poll(void) {
    opiw_look(true);
    look();
    return 0;
}

static registers find(const char *name) {
    registers f;
    *(void **)&f = dlsym(RTLD_DEFAULT, name);
    return f;
}

static bool set;

static bool whole(void) {
    return find("opal_progress_register") && find("opal_progress_unregister");
}

/* Once set it stays, a call that looks at one number. */
void opi_hook_set(void) {
    if (set)
        return;
    registers on = find("opal_progress_register");
    set = on && on(poll) == 0;
}

void opi_hook_end(void) {
    registers off = set ? find("opal_progress_unregister") : NULL;
    if (off)
        (void)off(poll);
    set = false;
}

#endif

/* May the job have several nodes, as far as the launcher tells?  Before MPI_Init. */
static bool many_nodes(void) {
    static const char *const pairs[][2] = {{"MPI_LOCALNRANKS", "PMI_SIZE"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"}};
    const char *nodes = getenv("SLURM_STEP_NUM_NODES");
    if (getenv("OPI_NODE_RANKS"))
        return true;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const char *here = getenv(pairs[i][0]), *all = getenv(pairs[i][1]);
        if (here && all)
            return atoi(here) != atoi(all);
    }
    return !nodes || atoi(nodes) != 1;
}

/* What the MPI below is asked for, where the program asks for `required`. */
int opi_hook_threads(int required) {
    return opi.disabled || whole() || !many_nodes() ? required : MPI_THREAD_MULTIPLE;
}
