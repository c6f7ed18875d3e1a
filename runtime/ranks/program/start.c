/* start.c - the process: its main, its ranks' mains, and their ends. */
#include "ranks/transport/net.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "opi_ranks.h"
#include "opix.h"
#include "ranks/program/out.h"

struct opir_process opir = {.eager = 32768, .eager_cap = (size_t)64 << 20};
_Thread_local struct opir_rank *opir_self;

extern char **environ;
int __real_main(int argc, char **argv, char **envp);
int __wrap_main(int argc, char **argv, char **envp);
_Noreturn void __real_exit(int code);
_Noreturn void __wrap_exit(int code);
int __real_atexit(void (*function)(void));
int __wrap_atexit(void (*function)(void));

static int arg_count;
static char **arg_values;
static atomic_bool aborting;

struct opir_exit {
    struct opir_exit *next;
    void (*function)(void);
};

/* ---- lines to the user ---------------------------------------------------------------------------------------------------------------- */

static void say(const char *format, va_list ap) {
    char text[2048];
    int n = snprintf(text, sizeof text, opir_self ? "libopi: rank %d: " : "libopi: ", opir_self ? opir_self->world : 0);
    n += vsnprintf(text + n, sizeof text - (size_t)n - 1, format, ap);
    if ((size_t)n > sizeof text - 2)
        n = sizeof text - 2;
    text[n++] = '\n';
    for (int at = 0; at < n;) {
        ssize_t w = write(STDERR_FILENO, text + at, (size_t)(n - at));
        if (w < 0 && errno != EINTR)
            return;
        at += w > 0 ? (int)w : 0;
    }
}

void opir_say(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    say(format, ap);
    va_end(ap);
}

/* Ends the job: all ranks, with this code. */
_Noreturn void opir_job_abort(int code) {
    if (atomic_exchange_explicit(&aborting, true, memory_order_relaxed)) /* another rank is at it */
        for (;;)
            pause();
    if (opir_self)
        opir_out_end(opir_self);
    fflush(stdout);
    int below = 0;
    PMPI_Initialized(&below);
    if (opir.several) { /* launchers lose what was said just before */
        struct timespec t = {0, 100000000};
        nanosleep(&t, NULL);
    }
    if (below)
        PMPI_Abort(MPI_COMM_WORLD, code);
    _exit(code);
}

_Noreturn void opir_die(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    say(format, ap);
    va_end(ap);
    opir_job_abort(1);
}

_Noreturn void opir_missing(const char *call) {
    opir_die("%s: not available with %s ranks", call, opir.fibers ? "fiber" : "thread");
}

OPIR_COLD struct opir_rank *opir_no_rank(const char *call) {
    struct opir_rank *r = opir_self;
    if (!r)
        opir_die("%s: called by a thread that is no rank", call);
    opir_die("%s: called %s", call, r->finalized ? "after MPI_Finalize" : "before MPI_Init");
}

void *opir_alloc(size_t bytes) {
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p)
        opir_die("out of memory: %zu bytes", bytes);
    return p;
}

uint64_t opir_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- one rank -------------------------------------------------------------------------------------------------------------------------- */

/* Arguments of its own for each rank: programs write to them. */
static char **copied_arguments(void) {
    size_t bytes = ((size_t)arg_count + 1) * sizeof(char *);
    for (int i = 0; i < arg_count; i++)
        bytes += strlen(arg_values[i]) + 1;
    char **copy = opir_alloc(bytes);
    char *at = (char *)(copy + arg_count + 1);
    for (int i = 0; i < arg_count; i++) {
        copy[i] = at;
        at = stpcpy(at, arg_values[i]) + 1;
    }
    return copy;
}

/* A rank has returned from main, or called exit. */
static void rank_ends(struct opir_rank *r) {
    while (r->exits) {
        struct opir_exit *e = r->exits;
        r->exits = e->next;
        e->function();
        free(e);
    }
    if (r->initialized && !r->finalized) {
        opir_say("ended with code %d and without MPI_Finalize", r->code);
        opir_job_abort(r->code ? r->code : 1);
    }
    opir_out_end(r);
    opir_libc_end(r);
    opir_blocks_end(r);
    free(r->argv);
    r->argv = NULL;
    atomic_store_explicit(&r->ended, true, memory_order_relaxed);
}

static int run_main(struct opir_rank *r) {
    MPIX_Main chosen = MPIX_Main_of_rank ? MPIX_Main_of_rank(arg_count, r->argv, r->world, opir.size) : NULL;
    return chosen ? chosen(arg_count, r->argv) : __real_main(arg_count, r->argv, environ);
}

void opir_rank_body(struct opir_rank *r) {
    r->argv = copied_arguments();
    if (opir.fibers) {
        r->code = run_main(r) & 0xff;
    } else {
        const struct opi_rank_image *image = &opi_rank_image;
        if (image && image->form == OPI_RANKS_TLS)
            for (void (*const *init)(void) = image->inits; init != image->inits_end; init++)
                (*init)();
        if (opir.base)
            *opir.base() = r->globals;
        jmp_buf leave;
        r->leave = &leave;
        if (_setjmp(leave) == 0)
            r->code = run_main(r) & 0xff;
    }
    rank_ends(r);
}

_Noreturn void __wrap_exit(int code) {
    struct opir_rank *r = opir_self;
    if (!r)
        __real_exit(code);
    r->code = code & 0xff;
    if (opir.fibers) {
        rank_ends(r);
        opir_fiber_end();
    }
    _longjmp(*r->leave, 1);
}

int __wrap_atexit(void (*function)(void)) {
    struct opir_rank *r = opir_self;
    if (!r)
        return __real_atexit(function);
    struct opir_exit *e = opir_alloc(sizeof *e);
    e->function = function;
    e->next = r->exits;
    r->exits = e;
    return 0;
}

/* ---- the process ----------------------------------------------------------------------------------------------------------------------- */

/* How many ranks each process has: OPI_RANKS in blocks as even as can be, or as OPI_RANKS_PER_PROCESS says. */
static void divide(void) {
    const char *told = getenv("OPI_RANKS_PER_PROCESS");
    int n = opir.processes, *firsts = opir.firsts = opir_alloc(((size_t)n + 1) * sizeof(int));
    for (int k = 0; k <= n; k++)
        firsts[k] = (int)((int64_t)opir.size * k / n);
    if (told && *told) {
        const char *at = told;
        for (int k = 0; k < n; k++) {
            char *end;
            long ranks = strtol(at, &end, 10);
            if (end == at || ranks < 1 || ranks > INT32_MAX / 2 - firsts[k] || *end != (k < n - 1 ? ',' : 0))
                opir_die("OPI_RANKS_PER_PROCESS=%s: %d numbers are wanted, one for each process", told, n);
            firsts[k + 1] = firsts[k] + (int)ranks;
            at = end + 1;
        }
        if (getenv("OPI_RANKS") && firsts[n] != opir.size)
            opir_die("OPI_RANKS_PER_PROCESS=%s: these are %d ranks, OPI_RANKS says %d", told, firsts[n], opir.size);
        opir.size = firsts[n];
    }
    if (opir.size < n)
        opir_die("%d ranks in %d processes: each process needs one", opir.size, n);
    opir.first = firsts[opir.process];
    opir.here = firsts[opir.process + 1] - opir.first;
}

/* Who shares a node with whom; OPI_NODE_RANKS pretends nodes of so many processes. */
static int find_nodes(void) {
    const char *pretended = getenv("OPI_NODE_RANKS");
    int n = opir.processes, per = pretended ? atoi(pretended) : 0, own = 0, mates = 0, any = opir.profile;
    opir.node = opir_alloc((size_t)n * sizeof(int));
    opir.pid = opir_alloc((size_t)n * sizeof(int));
    if (n > 1) {
        MPI_Comm shared;
        PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
        own = opir.process;
        PMPI_Bcast(&own, 1, MPI_INT, 0, shared);
        PMPI_Comm_free(&shared);
        PMPI_Allgather(&own, 1, MPI_INT, opir.node, 1, MPI_INT, MPI_COMM_WORLD);
        int pid = (int)getpid();
        PMPI_Allgather(&pid, 1, MPI_INT, opir.pid, 1, MPI_INT, MPI_COMM_WORLD);
        PMPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        opir.profile = any; /* its report is collective */
    }
    for (int k = 0; k < n; k++)
        mates += opir.node[k] == own ? opir.firsts[k + 1] - opir.firsts[k] : 0;
    for (int k = 0; per > 0 && k < n; k++)
        opir.node[k] = k / per * per;
    return mates;
}

static size_t size_setting(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    if (!text || !*text)
        return otherwise;
    char *end;
    unsigned long long v = strtoull(text, &end, 10);
    int shift = *end == 'k' || *end == 'K' ? 10 : *end == 'm' || *end == 'M' ? 20 : *end == 'g' || *end == 'G' ? 30 : 0;
    end += shift > 0;
    if (*end || v > SIZE_MAX >> shift)
        opir_die("%s=%s is no size", name, text);
    return (size_t)v << shift;
}

static void read_settings(void) {
    const char *carrier = getenv("OPI_RANKS_CARRIER"), *scheduler = getenv("OPI_RANKS_SCHEDULER");
    opir.fibers = carrier && strcmp(carrier, "fibers") == 0;
    opir.threads = !opir.fibers;
    if (opir.fibers) {
        opir.eager = 2048;
        opir.eager_cap = (size_t)1 << 20;
    }
    size_t n = size_setting("OPI_RANKS", 0);
    if (n == 0)
        n = getenv("OPI_RANKS") ? 0 : (size_t)opir.processes;
    if (n < 1 || n > INT32_MAX / 2)
        opir_die("OPI_RANKS=%zu: a number of ranks is wanted", n);
    opir.size = (int)n;
    opir.rr = scheduler && strcmp(scheduler, "rr") == 0;
    opir_net.eager = size_setting("OPI_RANKS_EAGER", opir_net.eager);
    if (opir_net.eager > 65536)
        opir_net.eager = 65536;
    opir.eager = size_setting("OPI_RANKS_EAGER", opir.eager);
    opir_watch_load();
    opir.stack = size_setting("OPI_RANKS_STACK", opir.fibers ? (size_t)256 << 10 : 0);
    divide();
    opir.crowded = find_nodes() > sysconf(_SC_NPROCESSORS_ONLN);
    opir.spins = opir.crowded ? 20 : 2000;
}

/* The private globals of every rank, in the form struct. */
static void lay_out(const struct opi_rank_image *image) {
    if (image->version != OPI_RANKS_VERSION)
        opir_die("the program's globals were made private by another version of opi-xform");
    if (image->form == OPI_RANKS_TLS) {
        if (opir.fibers)
            opir_die("the program's globals are thread-local (--privatize=tls): fibers need --privatize=struct");
        return;
    }
    size_t align, size = opi_rank_layout(image, &align);
    for (int i = 0; i < opir.here; i++) {
        void *block = NULL;
        if (posix_memalign(&block, align < 64 ? 64 : align, size ? size : 1))
            opir_die("out of memory for the globals of %d ranks", opir.here);
        memset(block, 0, size);
        opi_rank_fill(image, block);
        opir.rank[i].globals = (uintptr_t)block;
    }
    opi_rank_enter(image);
    opir.base = image->base;
}

static void make_ranks(void) {
    opir.rank = calloc((size_t)opir.here, sizeof *opir.rank);
    if (!opir.rank)
        opir_die("out of memory for %d ranks", opir.here);
    atomic_init(&opir.next_ctx, ((uint64_t)opir.process << 40) + 2); /* of each process its own */
    opir.world_group = opir_group_new(opir.size, true);
    opir.world = opir_shared_new(opir.world_group, opir.world_group, false, 1);
    for (int i = 0; i < opir.here; i++) {
        opir.rank[i].world = opir.first + i;
        if (opir.threads)
            pthread_mutex_init(&opir.rank[i].guard.mutex, NULL);
    }
}

int __wrap_main(int argc, char **argv, char **envp) {
    (void)envp;
    arg_count = argc;
    arg_values = argv;
    const char *carrier = getenv("OPI_RANKS_CARRIER");
    const char *ranks = getenv("OPI_RANKS");
    bool one = (carrier && strcmp(carrier, "fibers") == 0) || ((!ranks || strcmp(ranks, "1") == 0) && !getenv("OPI_RANKS_PER_PROCESS"));
    int provided, wanted = one ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE; /* of all its threads one at a time sends, but others ask about types */
    if (PMPI_Init_thread(NULL, NULL, wanted, &provided) != MPI_SUCCESS)
        opir_die("the MPI below cannot be started");
    PMPI_Comm_rank(MPI_COMM_WORLD, &opir.process);
    PMPI_Comm_size(MPI_COMM_WORLD, &opir.processes);
    opir.several = opir.processes > 1;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    read_settings();
    if (provided < wanted && opir.here > 1)
        opir_die("the MPI below does not allow calls from several threads (MPI_THREAD_MULTIPLE)");
    opir_types_init();
    if (opir.several) {
        static char lines[1 << 16];
        setvbuf(stdout, lines, _IOFBF, sizeof lines); /* out.c sends them on */
        opir_far_begin();
        opir_net_begin();
    }
    make_ranks();
    if (&opi_rank_image)
        lay_out(&opi_rank_image);
    if (opir.fibers)
        opir_fiber_run();
    else
        opir_thread_run();
    int code = 0;
    for (int i = 0; i < opir.here; i++)
        code = opir.rank[i].code > code ? opir.rank[i].code : code;
    fflush(stdout);
    if (opir.several)
        code = opir_net_end(code);
    for (int i = 0; i < opir.here; i++)
        opir_blocks_end(&opir.rank[i]);
    opir_stores_end();
    opir_profile_finish();
    PMPI_Finalize();
    return code;
}
