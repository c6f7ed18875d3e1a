/* ask.c - small copies to and from private memory that its owner makes, where it waits in a call of MPI anyway.
 *
 * A copy by the kernel takes a microsecond or two, whatever its size.  Who waits looks at its desk again and again, and does what it is asked there: a few transfers of a
 * cache line between two processors.  It need not look: a question that it does not take up in time is withdrawn, and the kernel copies as ever.  Nor does
 * anybody wait for an owner that does not look: its looks are counted, and after a question in vain none follows before it has looked again. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "shared/onesided/onesided.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#define SMALL ((size_t)2 << 10) /* bytes of several pieces that the owner copies sooner than the kernel */
#define MORE ((size_t)1 << 9)   /* and so many for each piece but one: the kernel looks up the page of each */
#define FIRST 16                /* copies of one piece go by turns at first, and are timed */
#define TIMED 8                 /* then every so many-th is */
#define OTHER 32                /* and goes the way that took longer the last time */
#define PATIENCE_NS 2000 /* about what the kernel takes: to have waited in vain costs at most as much again */
#define LOOKS 16         /* at the answer, between two looks at the clock */
#define MOST_PASSED 63   /* questions that are not asked after one in vain, and after several */
#define YIELD_AFTER 1000 /* looks at the answer of an owner that is at work: it has lost its processor */
#define SLEEP_AFTER 2000 /* and may be of lower priority than we */
#define NAP_NS 20000

struct opiw_desk *_Atomic opiw_own_desk;

static void pause_a_little(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void opiw_answer(struct opiw_desk *d, uint32_t number) {
    if (!atomic_compare_exchange_strong_explicit(&d->asked, &number, 0, memory_order_acquire, memory_order_relaxed))
        return;
    struct opiw_piece piece;
    const char *next = d->question, *from = next + d->pieces * sizeof piece;
    char *to = d->answer;
    for (uint32_t i = 0; i < d->pieces; i++) {
        memcpy(&piece, next, sizeof piece);
        memcpy(d->write ? piece.at : to, d->write ? from : piece.at, piece.n);
        next += sizeof piece;
        from += piece.n;
        to += piece.n;
    }
    atomic_store_explicit(&d->answered, number, memory_order_release);
}

/* The owner has taken the question up.  It copies and needs nobody for that, so it is waited for; false where it has died. */
static bool wait_out(struct opiw_target *t, uint32_t number) {
    const struct timespec nap = {0, NAP_NS};
    for (unsigned n = 0; atomic_load_explicit(&t->desk->answered, memory_order_acquire) != number; n++) {
        opiw_look();
        if (n < YIELD_AFTER) {
            pause_a_little();
        } else if (n < SLEEP_AFTER) {
            sched_yield();
        } else {
            if (opiw_gone(t))
                return false;
            nanosleep(&nap, NULL);
        }
    }
    return true;
}

/* Until the answer is there.  False: the question was withdrawn, or nobody lives to answer it. */
static bool answered(struct opiw_target *t, uint32_t number) {
    struct opiw_desk *d = t->desk;
    uint64_t until = 0;
    for (unsigned n = 1; atomic_load_explicit(&d->answered, memory_order_acquire) != number; n++) {
        opiw_look(); /* whom we ask may be asking us */
        pause_a_little();
        if (n % LOOKS)
            continue;
        uint64_t now = now_ns();
        if (!until)
            until = now + PATIENCE_NS;
        uint32_t still = number;
        if (now >= until) {
            if (!atomic_compare_exchange_strong_explicit(&d->asked, &still, 0, memory_order_relaxed, memory_order_relaxed))
                return t->answers = wait_out(t, number);
            t->looks = atomic_load_explicit(&d->looks, memory_order_relaxed);
            t->passed = t->passing = (uint8_t)(t->passing * 2 < MOST_PASSED ? t->passing * 2 + 1 : MOST_PASSED);
            t->answers = false;
            return false;
        }
    }
    t->passing = 0;
    t->answers = true;
    return true;
}

bool opiw_ask(struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write) {
    struct opiw_desk *d = t->desk;
    uint32_t idle = 0;
    if (!d || pieces > OPIW_DESK_PIECES || n > OPIW_DESK_BYTES)
        return false;
    if (t->passed) {
        t->passed--;
        return false;
    }
    /* What the owner counts lies in a line that it has just written: to read it costs as much as a part of the answer. */
    if ((!t->answers && atomic_load_explicit(&d->looks, memory_order_relaxed) == t->looks) ||
        !atomic_compare_exchange_strong_explicit(&d->busy, &idle, 1, memory_order_acquire, memory_order_relaxed))
        return false;
    uint32_t number = d->number, before = atomic_load_explicit(&d->answered, memory_order_relaxed);
    do
        number = number < UINT32_MAX ? number + 1 : 1;
    while (number == before);
    d->number = number;
    d->write = write;
    d->pieces = (uint16_t)pieces;
    memcpy(d->question, theirs, pieces * sizeof *theirs);
    if (write)
        memcpy(d->question + pieces * sizeof *theirs, mine, n);
    atomic_store_explicit(&d->asked, number, memory_order_release);
    bool ok = answered(t, number);
    if (ok && !write)
        memcpy(mine, d->answer, n);
    atomic_store_explicit(&d->busy, 0, memory_order_release);
    return ok;
}

/* One that took longer has lost its processor, or is the first and met cold caches. */
static void note(uint32_t *pace, uint64_t ns) {
    uint32_t now = ns > UINT32_MAX ? UINT32_MAX : ns ? (uint32_t)ns : 1;
    if (!*pace)
        *pace = now;
    else if (now < *pace)
        *pace -= (*pace - now + 1) / 2;
    else
        *pace += (now - *pace < *pace ? now - *pace : *pace) / 8;
}

static struct opiw_pace *pace_of(struct opiw_target *t, size_t n) {
    return &t->pace[n > 4096 ? 3 : n > 2048 ? 2 : n > 512 ? 1 : 0];
}

/* Which is faster depends on the processor (a system call takes 0.4 us here, 1.5 there), and on how far apart the two are, which changes on a machine that has
 * other work: both ways are tried. */
static bool by_either(struct opiw_target *t, void *mine, const struct opiw_piece *it, bool write) {
    struct opiw_pace *p = pace_of(t, it->n);
    uint32_t turn = ++p->turns;
    bool asks = turn <= FIRST ? turn & 1 : (p->owner <= p->kernel) != (turn % OTHER == 0);
    bool timed = turn <= FIRST || turn % TIMED == 0;
    uint64_t since = timed ? now_ns() : 0;
    if (asks && opiw_ask(t, mine, it, 1, it->n, write)) {
        if (timed)
            note(&p->owner, now_ns() - since);
        return true;
    }
    bool ok = opiw_kernel(t, mine, it, 1, it->n, write);
    if (timed && !asks)
        note(&p->kernel, now_ns() - since);
    return ok;
}

bool opiw_carry(struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write) {
    if (t->desk && pieces == 1 && n <= OPIW_DESK_BYTES)
        return by_either(t, mine, theirs, write);
    return (pieces > 1 && n <= SMALL + (pieces - 1) * MORE && opiw_ask(t, mine, theirs, pieces, n, write)) || opiw_kernel(t, mine, theirs, pieces, n, write);
}
