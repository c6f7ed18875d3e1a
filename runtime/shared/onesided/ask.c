/* ask.c - copies to and from private memory that its owner makes, where it waits in a call of MPI anyway.
 *
 * A copy by the kernel takes a microsecond or two, whatever its size, and some time for each page.  Who waits looks at its desk again and again, and does what it is asked there: a few
 * transfers of a cache line between two processors.  A long copy goes in parts, one on each lane: while the owner copies one, the origin copies another.  The owner need not look: a question that it does not take up in time is withdrawn, and the kernel copies as ever.  Nor does
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
#define SELDOM 8                /* times as rarely, where that took twice as long */
#define PATIENCE_NS 2000 /* about what the kernel takes: to have waited in vain costs at most as much again */
#define LOOKS 16         /* at the answer, between two looks at the clock */
#define MOST_PASSED 63   /* questions that are not asked after one in vain, and after several */
#define YIELD_AFTER 1000 /* looks at the answer of an owner that is at work: it has lost its processor */
#define YIELDS 32        /* between two looks at whether it lives: each of them may take a time slice, or several */
#define SLEEP_AFTER 2000 /* and may be of lower priority than we */
#define NAP_NS 20000
#define STAY 24     /* looks of an owner for the next part of a long copy, some 0.5 us */
#define WARM 16       /* looks from the MPI's progress that take longer after a question, */
#define LONGER_NS 300 /* each by about as much as a turn of MPICH's progress takes */
#define AT_MOST 64  /* parts that it copies before it looks after its own business again */

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

/* Does what is asked on this lane, if anything is and nobody else takes it.  True: it did, and `more` tells what the question said. */
static bool answer_on(struct opiw_lane *l, bool *more) {
    uint32_t number = atomic_load_explicit(&l->asked, memory_order_relaxed);
    if (!number || !atomic_compare_exchange_strong_explicit(&l->asked, &number, 0, memory_order_acquire, memory_order_relaxed))
        return false;
    struct opiw_piece piece;
    const char *next = l->question, *from = next + l->pieces * sizeof piece;
    char *to = l->answer;
    *more = l->more;
    for (uint32_t i = 0; i < l->pieces; i++) {
        memcpy(&piece, next, sizeof piece);
        memcpy(l->write ? piece.at : to, l->write ? from : piece.at, piece.n);
        next += sizeof piece;
        from += piece.n;
        to += piece.n;
    }
    atomic_store_explicit(&l->answered, number, memory_order_release);
    return true;
}

void opiw_answer(struct opiw_desk *d, bool stays) {
    bool more[OPIW_LANES] = {0};
    for (int parts = 0, vain = 0; vain < STAY && parts < AT_MOST;) {
        bool any = false, expects = false;
        for (int i = 0; i < OPIW_LANES; i++) {
            if (answer_on(&d->lane[i], &more[i])) {
                any = true;
                parts++;
            }
            expects |= more[i];
        }
        if (!stays || !expects)
            return;
        vain = any ? 0 : vain + 1;
        if (!any)
            pause_a_little();
    }
}

/* Who was asked a moment ago is likely to be asked again: it looks a while longer each time.  One thread at a time calls this. */
void opiw_look_seldom(void) {
    static unsigned warm; /* calls that stay */
    if (opiw_look(true)) {
        warm = WARM;
    } else if (warm) {
        warm--;
        for (uint64_t until = now_ns() + LONGER_NS; now_ns() < until;)
            if (opiw_look(true)) {
                warm = WARM;
                break;
            }
    }
}

/* The owner has taken the question up.  It copies and needs nobody for that, so it is waited for; false where it has died. */
static bool wait_out(struct opiw_target *t, struct opiw_lane *l) {
    const struct timespec nap = {0, NAP_NS};
    for (unsigned n = 0; atomic_load_explicit(&l->answered, memory_order_acquire) != l->number; n++) {
        opiw_look(false);
        if (n < YIELD_AFTER) {
            pause_a_little();
        } else {
            if ((n >= SLEEP_AFTER || n % YIELDS == 0) && opiw_gone(t))
                return false;
            if (n < SLEEP_AFTER)
                sched_yield();
            else
                nanosleep(&nap, NULL);
        }
    }
    return true;
}

/* Takes the question back.  False: the owner has carried it out.  (Also true where it has died over it.) */
static bool withdrawn(struct opiw_target *t, struct opiw_lane *l) {
    uint32_t still = l->number;
    return atomic_compare_exchange_strong_explicit(&l->asked, &still, 0, memory_order_relaxed, memory_order_relaxed) || !wait_out(t, l);
}

/* Until the answer is there.  False: the question was withdrawn, or nobody lives to answer it. */
static bool answered(struct opiw_target *t, struct opiw_lane *l) {
    struct opiw_desk *d = t->desk;
    uint64_t until = 0;
    for (unsigned n = 1; atomic_load_explicit(&l->answered, memory_order_acquire) != l->number; n++) {
        opiw_look(false); /* whom we ask may be asking us */
        pause_a_little();
        if (n % LOOKS)
            continue;
        uint64_t now = now_ns();
        if (!until)
            until = now + PATIENCE_NS;
        if (now >= until) {
            if (!withdrawn(t, l))
                return t->answers = true;
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

/* Is it worth asking, and does nobody else ask?  Then the desk is the caller's. */
static bool begin(struct opiw_target *t) {
    struct opiw_desk *d = t->desk;
    uint32_t idle = 0;
    if (t->passed) {
        t->passed--;
        return false;
    }
    /* What the owner counts lies in a line that it has just written: to read it costs as much as a part of the answer. */
    return (t->answers || atomic_load_explicit(&d->looks, memory_order_relaxed) != t->looks) &&
           atomic_compare_exchange_strong_explicit(&d->busy, &idle, 1, memory_order_acquire, memory_order_relaxed);
}

static void end(struct opiw_target *t) {
    atomic_store_explicit(&t->desk->busy, 0, memory_order_release);
}

static void ask_on(struct opiw_lane *l, const void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write, bool more) {
    uint32_t number = l->number, before = atomic_load_explicit(&l->answered, memory_order_relaxed);
    do
        number = number < UINT32_MAX ? number + 1 : 1;
    while (number == before);
    l->number = number;
    l->write = write;
    l->more = more;
    l->pieces = (uint16_t)pieces;
    memcpy(l->question, theirs, pieces * sizeof *theirs);
    if (write)
        memcpy(l->question + pieces * sizeof *theirs, mine, n);
    atomic_store_explicit(&l->asked, number, memory_order_release);
}

bool opiw_ask(struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write) {
    if (!t->desk || pieces > OPIW_DESK_PIECES || n > OPIW_DESK_BYTES || !begin(t))
        return false;
    struct opiw_lane *l = &t->desk->lane[0];
    ask_on(l, mine, theirs, pieces, n, write, false);
    bool ok = answered(t, l);
    if (ok && !write)
        memcpy(mine, l->answer, n);
    end(t);
    return ok;
}

/* A part of a long copy. */
static struct opiw_piece part_of(const struct opiw_piece *all, size_t part) {
    size_t at = part * OPIW_DESK_BYTES;
    return (struct opiw_piece){all->at + at, all->n - at < OPIW_DESK_BYTES ? all->n - at : OPIW_DESK_BYTES};
}

static bool part_by_kernel(struct opiw_target *t, char *mine, const struct opiw_piece *all, size_t part, bool write) {
    struct opiw_piece it = part_of(all, part);
    return opiw_kernel(t, mine + part * OPIW_DESK_BYTES, &it, 1, it.n, write);
}

/* A piece that is longer than a question may be.  What the owner does not take up the kernel copies: the parts that are asked for when it stops to look, and all
 * after them.  `served`: it was the owner all along.  False where nobody copies. */
static bool in_parts(struct opiw_target *t, char *mine, const struct opiw_piece *all, bool write, bool *served) {
    size_t parts = (all->n + OPIW_DESK_BYTES - 1) / OPIW_DESK_BYTES, asked = 0, over = 0;
    bool ok = true, late = false;
    for (; over < parts && !(late && over == asked); over++) {
        for (; asked < parts && asked < over + OPIW_LANES && !late; asked++) {
            struct opiw_piece it = part_of(all, asked);
            ask_on(&t->desk->lane[asked % OPIW_LANES], mine + asked * OPIW_DESK_BYTES, &it, 1, it.n, write, asked + OPIW_LANES < parts);
        }
        struct opiw_lane *l = &t->desk->lane[over % OPIW_LANES];
        bool done = late ? !withdrawn(t, l) : answered(t, l);
        late |= !done;
        if (!done)
            ok &= part_by_kernel(t, mine, all, over, write);
        else if (!write)
            memcpy(mine + over * OPIW_DESK_BYTES, l->answer, part_of(all, over).n);
    }
    end(t);
    *served = !late;
    if (over < parts && ok) {
        struct opiw_piece rest = {all->at + over * OPIW_DESK_BYTES, all->n - over * OPIW_DESK_BYTES};
        ok = opiw_kernel(t, mine + over * OPIW_DESK_BYTES, &rest, 1, rest.n, write);
    }
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
    static const size_t most[OPIW_PACES - 1] = {512, 2048, 4096, OPIW_DESK_BYTES, (size_t)32 << 10, (size_t)256 << 10};
    int i = 0;
    while (i < OPIW_PACES - 1 && n > most[i])
        i++;
    return &t->pace[i];
}

/* Copies of one class that differ in length a lot are compared by a part of theirs. */
static uint64_t of_a_part(uint64_t ns, size_t n) {
    return n > OPIW_DESK_BYTES ? (uint64_t)((double)ns * (double)OPIW_DESK_BYTES / (double)n) : ns;
}

/* Is it the owner's turn? */
static bool owners_turn(const struct opiw_pace *p) {
    if (p->turns <= FIRST)
        return p->turns & 1;
    uint32_t less = p->owner < p->kernel ? p->owner : p->kernel, more = p->owner < p->kernel ? p->kernel : p->owner;
    return (p->owner <= p->kernel) != (p->turns % (more / 2 > less ? OTHER * SELDOM : OTHER) == 0);
}

/* Which is faster depends on the processor (a system call takes 0.4 us here, 1.5 there), and on how far apart the two are, which changes on a machine that has
 * other work: both ways are tried. */
static bool by_either(struct opiw_target *t, void *mine, const struct opiw_piece *it, bool write) {
    struct opiw_pace *p = pace_of(t, it->n);
    uint32_t turn = ++p->turns;
    bool asks = owners_turn(p), timed = turn <= FIRST || turn % TIMED == 0, served = true, ok = true;
    uint64_t since = timed ? now_ns() : 0;
    if (asks && it->n > OPIW_DESK_BYTES && begin(t))
        ok = in_parts(t, mine, it, write, &served);
    else if (!asks || it->n > OPIW_DESK_BYTES || !opiw_ask(t, mine, it, 1, it->n, write)) {
        served = false;
        ok = opiw_kernel(t, mine, it, 1, it->n, write);
    }
    if (timed && asks == served)
        note(asks ? &p->owner : &p->kernel, of_a_part(now_ns() - since, it->n));
    return ok;
}

bool opiw_carry(struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write) {
    if (t->desk && pieces == 1)
        return by_either(t, mine, theirs, write);
    return (pieces > 1 && n <= SMALL + (pieces - 1) * MORE && opiw_ask(t, mine, theirs, pieces, n, write)) || opiw_kernel(t, mine, theirs, pieces, n, write);
}
