/* fiber.c - ranks as fibers: their stacks, the scheduler, and what it says when nobody can run.
 *
 * All fibers share the thread that called main; one runs until it waits, then the next does.  Two schedulers: `block` (a rank that waits is not run until
 * somebody wakes it) and `rr` (it takes its turn and looks again). */
#include "ranks/transport/net.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ranks/carrier/switch.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#define STACK_LEAST ((size_t)16384)
#define RELIEF_NS 1000000 /* with several processes a send that waits this long, while nobody here can run, is copied aside */
#define WATCH_NS 50000 /* between looks at what other processes have sent, while ranks sleep */
#define MPROTECT_MOST 16384 /* each guard by mprotect takes two of the system's 65,530 mappings */

static struct opir_rank *ready_head, *ready_tail, *sleepers;
static int started, live;
static int fruitless; /* rr: looks in vain one after the other */
static uint64_t idle_since; /* with several processes: nothing was to be done here since; 0: something was */
static bool looked; /* and no send could be copied aside */
static bool attentive; /* somebody sleeps, or there are other processes: to be looked after now and then */
static void *main_sp;
static uint64_t control; /* of the floating-point unit, where no rank has begun: each begins so */
static uintptr_t *globals_base;
static char *stacks;
static size_t page, stride; /* of the processor: 4096, and up to 65536 on aarch64; from one stack to the next */
static enum { GUARD_MADVISE, GUARD_MPROTECT, GUARD_NONE } guard;

/* ---- stacks ---------------------------------------------------------------------------------------------------------------------------------- */

static void fiber_main(void) {
    opir_rank_body(opir_self);
    opir_fiber_end();
}

/* One page below each stack is never touched.  Stacks begin at different places in their pages, as far as memory allows: they would share few lines of the
 * cache otherwise. */
static void *stack_of(int i) {
    char *base = stacks + (size_t)i * stride;
    if (guard == GUARD_MADVISE && madvise(base, page, MADV_GUARD_INSTALL))
        guard = opir.here <= MPROTECT_MOST ? GUARD_MPROTECT : GUARD_NONE;
    if (guard == GUARD_MPROTECT && mprotect(base, page, PROT_NONE))
        guard = GUARD_NONE;
    size_t shift = opir.here <= 4096 ? (size_t)(i % 32) * 192 : 0;
    return opir_switch_prepare(base + stride - shift, stride - shift - page, fiber_main, control);
}

static int rank_of_guard(const char *address) {
    if (!stacks || address < stacks || address >= stacks + (size_t)opir.here * stride)
        return -1;
    size_t offset = (size_t)(address - stacks);
    return offset % stride < page ? opir.first + (int)(offset / stride) : -1;
}

static void on_fault(int number, siginfo_t *info, void *context) {
    (void)context;
    int rank = rank_of_guard(info->si_addr);
    if (rank >= 0) {
        char text[160];
        int n = snprintf(text, sizeof text, "libopi: rank %d: its stack of %zu KiB is full; opirun --stack SIZE gives more\n", rank, (stride - page) >> 10);
        if (write(STDERR_FILENO, text, (size_t)n) < 0)
            _exit(1);
        _exit(1);
    }
    signal(number, SIG_DFL); /* comes again */
}

static void watch_stacks(void) {
    struct sigaction before, own = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t alternate = {.ss_size = 65536};
    if (sigaction(SIGSEGV, NULL, &before) || before.sa_handler != SIG_DFL)
        return;
    alternate.ss_sp = malloc(alternate.ss_size);
    if (alternate.ss_sp && sigaltstack(&alternate, NULL) == 0)
        sigaction(SIGSEGV, &own, NULL);
}

static void map_stacks(void) {
    page = (size_t)sysconf(_SC_PAGESIZE);
    stride = ((opir.stack < STACK_LEAST ? STACK_LEAST : opir.stack) + page - 1) / page * page + page;
    stacks = mmap(NULL, (size_t)opir.here * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED)
        opir_die("no room for %d stacks of %zu KiB; opirun --stack SIZE makes them smaller", opir.here, stride >> 10);
    madvise(stacks, (size_t)opir.here * stride, MADV_NOHUGEPAGE);
}

/* ---- the queue --------------------------------------------------------------------------------------------------------------------------------- */

static void push(struct opir_rank *r) {
    r->fiber.next = NULL;
    if (ready_tail)
        ready_tail->fiber.next = r;
    else
        ready_head = r;
    ready_tail = r;
}

static void wake_sleepers(void) {
    uint64_t now = opir_now();
    while (sleepers && sleepers->fiber.until <= now) {
        struct opir_rank *r = sleepers;
        sleepers = r->fiber.next;
        r->fiber.state = OPIR_F_READY;
        push(r);
    }
}

static void wait_for_sleepers(void) {
    uint64_t now = opir_now(), until = sleepers->fiber.until;
    if (opir.several && opir_net_poll())
        return;
    if (until > now) {
        uint64_t ns = opir.several && until - now > WATCH_NS ? WATCH_NS : until - now;
        struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
        nanosleep(&t, NULL);
    }
    wake_sleepers();
}

/* ---- when nobody can run ---------------------------------------------------------------------------------------------------------------------- */

static void tell(const struct opir_rank *r) {
    const struct opir_req *q = r->waits;
    const char *call = r->call ? r->call : "?";
    char from[64], tag[32], comm[80];
    if (q && q->kind == OPIR_R_PAIR)
        q = opir_is_done(q->first) ? q->second : q->first;
    if (!q || (q->kind != OPIR_R_RECV && q->kind != OPIR_R_SEND)) {
        if (q && q->kind == OPIR_R_COLL)
            fprintf(stderr, "libopi:   rank %d waits in %s for the other members of a communicator of %d ranks\n", r->world, q->call ? q->call : call,
                    q->comm->local->size);
        else
            fprintf(stderr, "libopi:   rank %d waits in %s\n", r->world, call);
        return;
    }
    if (q->comm && q->comm != r->world_comm)
        snprintf(comm, sizeof comm, " of a communicator of %d ranks", q->comm->local->size);
    else
        comm[0] = 0;
    if (q->peer == MPI_ANY_SOURCE)
        snprintf(from, sizeof from, "any rank");
    else
        snprintf(from, sizeof from, "rank %d", q->peer);
    if (q->tag == MPI_ANY_TAG)
        snprintf(tag, sizeof tag, "any tag");
    else
        snprintf(tag, sizeof tag, "tag %d", q->tag);
    if (q->kind == OPIR_R_RECV)
        fprintf(stderr, "libopi:   rank %d waits in %s for a message from %s%s with %s\n", r->world, call, from, comm, tag);
    else
        fprintf(stderr, "libopi:   rank %d waits in %s for %s%s to receive %zu bytes with %s\n", r->world, call, from, comm, q->bytes, tag);
}

int opir_waiting(void) {
    int waiting = 0;
    for (int i = 0; i < opir.here; i++)
        waiting += !atomic_load_explicit(&opir.rank[i].ended, memory_order_relaxed);
    return waiting;
}

/* What the ranks of this process wait for, as many as told; how many that are. */
int opir_tell_waiting(int most) {
    int shown = 0;
    for (int i = 0; i < opir.here && shown < most; i++)
        if (!atomic_load_explicit(&opir.rank[i].ended, memory_order_relaxed)) {
            tell(&opir.rank[i]);
            shown++;
        }
    return shown;
}

_Noreturn void opir_report_deadlock(void) {
    int waiting = opir_waiting();
    fprintf(stderr, "libopi: deadlock: all %d ranks that have not ended wait, and no message is under way\n", waiting);
    int shown = opir_tell_waiting(OPIR_TOLD);
    if (waiting > shown)
        fprintf(stderr, "libopi:   and %d more\n", waiting - shown);
    opir_job_abort(1);
}

/* Sends that wait to be received may be copied aside: then their senders go on. */
static bool relieved(void) {
    bool some = false;
    for (int i = 0; i < opir.here; i++)
        if (opir.rank[i].lent)
            opir_relieve(&opir.rank[i], &some);
    return some;
}

/* Nobody here can run.  With several processes a message may come at any time: looks for one, relieves senders after a while, and has the processes find
 * out whether all of them wait for ever (dead.c). */
static void stuck(void) {
    if (!opir.several) {
        if (!relieved())
            opir_report_deadlock();
        return;
    }
    if (opir_net_poll()) {
        idle_since = 0;
        return;
    }
    uint64_t now = opir_now();
    if (!idle_since)
        idle_since = now;
    uint64_t ns = now - idle_since;
    if (ns > RELIEF_NS && relieved()) {
        idle_since = 0;
        return;
    }
    looked = ns > RELIEF_NS;
    opir_dead_idle(ns);
    opir_idle(ns);
}

/* Whatever could go on here without other processes has gone on. */
bool opir_fibers_stuck(void) {
    return !live || (idle_since && looked);
}

/* ---- the scheduler ------------------------------------------------------------------------------------------------------------------------------ */

static void look_around(void) {
    if (sleepers)
        wake_sleepers();
    if (opir.several)
        opir_net_poll();
    attentive = sleepers || opir.several;
}

static struct opir_rank *next_to_run(void) {
    static unsigned picked;
    for (;;) {
        if (OPIR_UNLIKELY(attentive) && (++picked & 63) == 0)
            look_around();
        if (OPIR_UNLIKELY(started < opir.here))
            return &opir.rank[started++];
        struct opir_rank *r = ready_head;
        if (OPIR_LIKELY(r != NULL)) {
            ready_head = r->fiber.next;
            if (!ready_head)
                ready_tail = NULL;
            return r;
        }
        if (sleepers)
            wait_for_sleepers();
        else
            stuck();
    }
}

static void enter(struct opir_rank *r, void **from) {
    if (OPIR_UNLIKELY(!r->fiber.sp)) {
        r->fiber.sp = stack_of((int)(r - opir.rank));
        errno = 0;
    }
    r->fiber.state = OPIR_F_RUNNING;
    opir_self = r;
    if (globals_base)
        *globals_base = r->globals;
    opir_switch(from, r->fiber.sp);
}

/* errno is the thread's: each rank finds its own again. */
static void leave(struct opir_rank *me) {
    int own_errno = errno;
    struct opir_rank *next = next_to_run();
    if (next == me)
        me->fiber.state = OPIR_F_RUNNING;
    else
        enter(next, &me->fiber.sp);
    errno = own_errno;
}

void opir_fiber_relax(void) {
    struct opir_rank *me = opir_self;
    me->fiber.state = OPIR_F_WAITING;
    if (opir.rr) {
        push(me);
        if (++fruitless > live + 1 && started == opir.here && !sleepers) {
            fruitless = 0;
            stuck();
        }
    }
    leave(me);
}

void opir_fiber_wake_slow(struct opir_rank *r) {
    fruitless = 0;
    idle_since = 0;
    r->fiber.state = OPIR_F_READY;
    if (!opir.rr) /* else it is in the queue */
        push(r);
}

void opir_fiber_yield(void) {
    struct opir_rank *me = opir_self;
    fruitless = 0;
    idle_since = 0;
    if (!ready_head && started == opir.here) {
        if (attentive)
            look_around();
        if (!ready_head)
            return;
    }
    me->fiber.state = OPIR_F_READY;
    push(me);
    leave(me);
}

void opir_fiber_sleep(uint64_t ns) {
    struct opir_rank *me = opir_self, **at = &sleepers;
    fruitless = 0;
    me->fiber.state = OPIR_F_SLEEPING;
    me->fiber.until = opir_now() + ns;
    while (*at && (*at)->fiber.until <= me->fiber.until)
        at = &(*at)->fiber.next;
    me->fiber.next = *at;
    *at = me;
    attentive = true;
    leave(me);
}

_Noreturn void opir_fiber_end(void) {
    struct opir_rank *me = opir_self;
    me->fiber.state = OPIR_F_ENDED;
    if (--live) {
        fruitless = 0;
        enter(next_to_run(), &me->fiber.sp);
    } else {
        opir_self = NULL;
        opir_switch(&me->fiber.sp, main_sp);
    }
    abort(); /* nobody enters a fiber that has ended */
}

void opir_fiber_run(void) {
    live = opir.here;
    attentive = opir.several;
    if (opir.base)
        globals_base = opir.base();
    map_stacks();
    watch_stacks();
    control = opir_switch_control();
    enter(next_to_run(), &main_sp);
    munmap(stacks, (size_t)opir.here * stride);
    stacks = NULL;
}
