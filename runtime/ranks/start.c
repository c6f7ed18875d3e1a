/* start.c - the process: its main, its ranks' mains, and their ends. */
#include "ranks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "opi_ranks.h"
#include "opix.h"
#include "out.h"

struct opir_process opir = {.eager = 8192, .eager_cap = (size_t)64 << 20};
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
    free(r->argv);
    r->argv = NULL;
    r->ended = true;
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
    size_t n = size_setting("OPI_RANKS", 1);
    if (n < 1 || n > INT32_MAX / 2)
        opir_die("OPI_RANKS=%zu: a number of ranks is wanted", n);
    opir.size = (int)n;
    opir.rr = scheduler && strcmp(scheduler, "rr") == 0;
    opir.eager = size_setting("OPI_RANKS_EAGER", opir.eager);
    opir.stack = size_setting("OPI_RANKS_STACK", opir.fibers ? (size_t)256 << 10 : 0);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    opir.crowded = opir.size > processors;
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
    for (int i = 0; i < opir.size; i++) {
        void *block = NULL;
        if (posix_memalign(&block, align < 64 ? 64 : align, size ? size : 1))
            opir_die("out of memory for the globals of %d ranks", opir.size);
        memset(block, 0, size);
        opi_rank_fill(image, block);
        opir.rank[i].globals = (uintptr_t)block;
    }
    opi_rank_enter(image);
    opir.base = image->base;
}

static void make_ranks(void) {
    opir.rank = calloc((size_t)opir.size, sizeof *opir.rank);
    if (!opir.rank)
        opir_die("out of memory for %d ranks", opir.size);
    atomic_init(&opir.next_ctx, 1);
    opir.world_group = opir_group_new(opir.size, true);
    opir.world = opir_shared_new(opir.world_group, opir.world_group, false, opir.size);
    for (int i = 0; i < opir.size; i++) {
        opir.rank[i].world = i;
        if (opir.threads)
            pthread_mutex_init(&opir.rank[i].lock, NULL);
    }
}

int __wrap_main(int argc, char **argv, char **envp) {
    (void)envp;
    arg_count = argc;
    arg_values = argv;
    read_settings();
    int provided, processes;
    int wanted = opir.threads && opir.size > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    if (PMPI_Init_thread(NULL, NULL, wanted, &provided) != MPI_SUCCESS || provided < wanted)
        opir_die("the MPI below does not allow calls from several threads (MPI_THREAD_MULTIPLE)");
    PMPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (processes > 1)
        opir_die("built for thread and fiber ranks, which are those of one process: start it with opirun -n N --threads, or build it without --ranks");
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    opir_types_init();
    make_ranks();
    if (&opi_rank_image)
        lay_out(&opi_rank_image);
    if (opir.fibers)
        opir_fiber_run();
    else
        opir_thread_run();
    int code = 0;
    for (int i = 0; i < opir.size; i++)
        code = opir.rank[i].code > code ? opir.rank[i].code : code;
    fflush(stdout);
    PMPI_Finalize();
    return code;
}
