/* check_fault.c - OPI_CHECK: what a fault on a closed page means.
 *
 * A fault inside libopi opens the buffer: what came back through the pool or a message is libopi's to touch, and what the user passed was looked at when
 * the call began.  Any other fault is the program's, and ends it. */
#include "process/base/error.h"
#include "process/heap/pool.h"

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

static struct sigaction before; /* what handled SIGSEGV before us */

static void *pc_of(const ucontext_t *u) {
#if defined(__x86_64__)
    return (void *)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)u->uc_mcontext.pc;
#else
    (void)u;
    return NULL;
#endif
}

/* Was the access a write?  Where the machine does not tell, reads beyond what arrived go unnoticed. */
static bool writes(const ucontext_t *u) {
#if defined(__x86_64__)
    return (u->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    (void)u;
    return true;
#endif
}

static void report(const struct opi_book *b, const char *address, void *pc, bool write) {
    char here[512], there[512];
    void *frames[48];
    int n = backtrace(frames, 48), first = 0;
    while (first < n && frames[first] != pc)
        first++;
    if (first == n) {
        frames[0] = pc;
        n = 1;
        first = 0;
    }
    if (!opi_check_line(frames + first, n - first, true, here, sizeof here))
        opi_where(pc, false, here, sizeof here);
    if (b->state == OPI_B_HELD) {
        opi_where(b->born, true, there, sizeof there);
        opi_say("buffer taken at %s: %zu bytes arrived, byte %zu read at %s", there, b->arrived, (size_t)(address - b->start), here);
        return;
    }
    opi_where(b->gone, true, there, sizeof there);
    opi_say("buffer %s at %s, touched at %s (%s, byte %td)", b->state == OPI_B_FREED ? "freed" : "given", there, here, write ? "written" : "read",
            address - b->start);
}

static void on_fault(int signal, siginfo_t *info, void *context) {
    struct opi_book *b = opi.check && opi_in_region(info->si_addr) ? opi_book_at(info->si_addr) : NULL;
    const ucontext_t *u = context;
    if (!b) { /* no affair of ours: as if we were not there */
        (void)sigaction(signal, &before, NULL);
        return;
    }
    if (opi_in_library) {
        opi_book_open(b);
        if (b->state != OPI_B_HELD)
            b->state = OPI_B_NONE;
        return;
    }
    if (b->state == OPI_B_HELD && writes(u) && opi_book_wrote(b, info->si_addr))
        return;
    report(b, info->si_addr, pc_of(u), writes(u));
    usleep(50000); /* the launcher should read the line before it hears of the end */
    struct sigaction dies = {.sa_handler = SIG_DFL};
    (void)sigaction(signal, &dies, NULL);
}

void opi_check_handler(void) {
    struct sigaction now, mine = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    void *warm[1];
    (void)backtrace(warm, 1); /* loads the unwinder now, not in the handler */
    if (sigaction(SIGSEGV, NULL, &now) != 0 || ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault))
        return;
    before = now;
    (void)sigaction(SIGSEGV, &mine, NULL);
}
