/* check_report.c - OPI_CHECK: what a fault on a closed page means, and where in the source it was.
 *
 * A fault inside libopi opens the buffer: what came back through the pool or a message is libopi's to touch, and what the user passed was looked at when
 * the call began.  Any other fault is the program's, and ends it. */
#include "process/base/error.h"
#include "process/heap/pool.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;

static struct sigaction before; /* what handled SIGSEGV before us */

/* ---- file:line ------------------------------------------------------------------------------------------------------------------------------ */

/* One line of a command's output, without its end.  Not through fork: its handlers copy the heap. */
static bool output_of(char *const *command, char *text, size_t room) {
    int ends[2];
    posix_spawn_file_actions_t actions;
    pid_t pid;
    char *env[512];
    size_t n = 0;
    for (char **e = environ; *e && n < 511; e++)
        if (strncmp(*e, "LD_PRELOAD=", 11) != 0 && strncmp(*e, "OPI_", 4) != 0)
            env[n++] = *e;
    env[n] = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int rc = posix_spawnp(&pid, command[0], &actions, NULL, command, env);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t got = 0;
    if (rc == 0) {
        ssize_t k;
        while (got < room - 1 && (k = read(ends[0], text + got, room - 1 - got)) > 0)
            got += (size_t)k;
        (void)waitpid(pid, NULL, 0);
    }
    close(ends[0]);
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return got > 0;
}

/* file:line of an address; false when the debug information does not tell. */
static bool line_of(const void *pc, char *text, size_t room) {
    Dl_info info;
    if (!dladdr(pc, &info) || !info.dli_fname || !info.dli_fbase)
        return false;
    const Elf64_Ehdr *elf = info.dli_fbase;
    uintptr_t at = (uintptr_t)pc - (elf->e_type == ET_DYN ? (uintptr_t)info.dli_fbase : 0);
    char hex[32], link[512];
    snprintf(hex, sizeof hex, "0x%zx", (size_t)at);
    const char *name = info.dli_fname;
    if (access(name, R_OK) != 0) { /* a program's own name may be relative to another directory */
        ssize_t n = readlink("/proc/self/exe", link, sizeof link - 1);
        if (n <= 0)
            return false;
        link[n] = '\0';
        name = link;
    }
    char *command[] = {(char[]){"addr2line"}, (char[]){"-e"}, (char *)(uintptr_t)name, hex, NULL};
    if (!output_of(command, text, room) || text[0] == '?' || strstr(text, ":?") != NULL)
        return false;
    text[strcspn(text, " ")] = '\0'; /* "(discriminator 2)" */
    return true;
}

/* Where `pc` is in the source; `call`: it is a return address.  Without debug information: function and offset. */
void opi_check_where(void *pc, bool call, char *text, size_t room) {
    const char *at = (const char *)pc - (call ? 1 : 0);
    Dl_info info;
    if (!pc)
        snprintf(text, room, "an unknown place");
    else if (line_of(at, text, room))
        return;
    else if (dladdr(at, &info) && info.dli_sname)
        snprintf(text, room, "%s+0x%zx", info.dli_sname, (size_t)(at - (const char *)info.dli_saddr));
    else if (dladdr(at, &info) && info.dli_fname)
        snprintf(text, room, "%s+0x%zx", info.dli_fname, (size_t)(at - (const char *)info.dli_fbase));
    else
        snprintf(text, room, "%p", pc);
}

/* Is this line libopi's own? */
static bool ours(const char *text) {
    static const char *const folders[] = {"runtime/process/", "runtime/malloc/", "runtime/shared/", "opi_"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strstr(text, folders[i]) != NULL)
            return true;
    return false;
}

/* The innermost frame of the program: the first with a line that is not libopi's.  frames[0] is exact, the others are return addresses. */
static bool program_line(void **frames, int n, bool exact, char *text, size_t room) {
    for (int i = 0; i < n && i < 24; i++)
        if (line_of((char *)frames[i] - (exact && i == 0 ? 0 : 1), text, room) && !ours(text))
            return true;
    return false;
}

void opi_check_here(char *text, size_t room) {
    void *frames[32];
    int n = backtrace(frames, 32);
    if (!program_line(frames, n, false, text, room))
        opi_check_where(n > 3 ? frames[3] : NULL, true, text, room);
}

/* ---- faults --------------------------------------------------------------------------------------------------------------------------------- */

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
    if (!program_line(frames + first, n - first, true, here, sizeof here))
        opi_check_where(pc, false, here, sizeof here);
    if (b->state == OPI_B_HELD) {
        opi_check_where(b->born, true, there, sizeof there);
        opi_say("buffer taken at %s: %zu bytes arrived, byte %zu read at %s", there, b->arrived, (size_t)(address - b->start), here);
        return;
    }
    opi_check_where(b->gone, true, there, sizeof there);
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
