/* Questions at a desk: several threads ask, one owns it and looks at random moments, so that questions are answered, withdrawn, and taken up while they are being
 * withdrawn.  Each is carried out once: by the owner, or by who asked, which then does it itself, as the kernel would. */
#define opiw_kernel kernel_of_the_test
#include "shared/onesided/ask.c"
#undef opiw_kernel

#include "unit.h"

#include <pthread.h>

#define ASKERS 2
#define PLACE 4 /* of each asker, in each of two pieces */

static struct opiw_desk desk;
static struct opiw_lane *const first = &desk.lane[0];
static long memory[2 * ASKERS * PLACE];
static _Atomic bool over;
static _Atomic long answers, refusals;

static _Atomic long parts_by_kernel;

/* As the kernel would; `there` is memory of this process. */
bool kernel_of_the_test(struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write) {
    (void)t;
    CHECK(pieces == 1 && theirs->n == n);
    atomic_fetch_add_explicit(&parts_by_kernel, 1, memory_order_relaxed);
    memcpy(write ? theirs->at : mine, write ? mine : theirs->at, n);
    return true;
}

static unsigned draw(unsigned *state, unsigned below) {
    *state = *state * 1103515245u + 12345u;
    return (*state >> 16) % below;
}

static void work(unsigned turns) {
    for (volatile unsigned i = 0; i < turns; i++)
        ;
}

static void *own(void *unused) {
    (void)unused;
    for (unsigned state = 1; !atomic_load(&over);) {
        opiw_look_at(&desk, draw(&state, 2));
        work(draw(&state, draw(&state, 8) ? 100 : 4000));
    }
    return NULL;
}

static void carry(struct opiw_target *t, long *mine, const struct opiw_piece *p, size_t pieces, size_t n, bool write) {
    if (opiw_ask(t, mine, p, pieces, n, write)) {
        atomic_fetch_add_explicit(&answers, 1, memory_order_relaxed);
        return;
    }
    atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
    t->passed = t->passing = 0; /* ask again soon: this is about races */
    char *at = (char *)mine;
    for (size_t i = 0; i < pieces; at += p[i++].n)
        memcpy(write ? p[i].at : at, write ? at : p[i].at, p[i].n);
}

/* A long one, of a random length, in memory of the asker's own.  It is there whole whoever has copied which part. */
#define LONGEST (7 * OPIW_DESK_BYTES + 100)
static char far[ASKERS][LONGEST + 2], outs[ASKERS][LONGEST], ins[ASKERS][LONGEST];
static _Atomic long whole, broken_off;

static void long_ones(struct opiw_target *t, unsigned id, unsigned *state) {
    size_t n = OPIW_DESK_BYTES + 1 + draw(state, (unsigned)(LONGEST - OPIW_DESK_BYTES));
    struct opiw_piece p = {far[id] + 1, n};
    char mark = (char)draw(state, 256);
    for (size_t i = 0; i < n; i++)
        outs[id][i] = (char)(i * 7 + i / 251 + (unsigned char)mark);
    memset(ins[id], 0, sizeof ins[id]);
    far[id][0] = far[id][n + 1] = 77;
    for (int get = 0; get < 2; get++) {
        bool served;
        t->passed = t->passing = 0;
        if (!begin(t)) {
            memcpy(get ? ins[id] : p.at, get ? p.at : outs[id], n);
            continue;
        }
        CHECK(in_parts(t, get ? ins[id] : outs[id], &p, !get, &served));
        atomic_fetch_add_explicit(served ? &whole : &broken_off, 1, memory_order_relaxed);
        CHECK(memcmp(far[id] + 1, outs[id], n) == 0);
    }
    CHECK(memcmp(ins[id], outs[id], n) == 0 && far[id][0] == 77 && far[id][n + 1] == 77);
}

static void *ask_much(void *which) {
    unsigned id = *(unsigned *)which, state = id + 7;
    struct opiw_target t = {.desk = &desk};
    for (long round = 1; !atomic_load(&over); round++) {
        long out[2 * PLACE], in[2 * PLACE] = {0};
        for (int i = 0; i < 2 * PLACE; i++)
            out[i] = round * 1000 + i;
        size_t n = 1 + draw(&state, PLACE);
        struct opiw_piece p[2] = {{(char *)&memory[id * PLACE], n * sizeof *memory}, {(char *)&memory[(ASKERS + id) * PLACE], n * sizeof *memory}};
        carry(&t, out, p, 2, 2 * n * sizeof *memory, true);
        work(draw(&state, 50));
        carry(&t, in, p, 2, 2 * n * sizeof *memory, false);
        CHECK(memcmp(in, out, 2 * n * sizeof *in) == 0);
        CHECK(memory[id * PLACE] == round * 1000);
        work(draw(&state, 200));
        if (draw(&state, 4) == 0)
            long_ones(&t, id, &state);
    }
    return NULL;
}

static void what_is_not_asked(void) {
    static char big[OPIW_DESK_BYTES + 1], here[OPIW_DESK_BYTES + 1];
    struct opiw_piece p[OPIW_DESK_PIECES + 1], one = {here, sizeof here};
    struct opiw_target none = {0}, t = {.desk = &desk};
    for (size_t i = 0; i <= OPIW_DESK_PIECES; i++)
        p[i] = (struct opiw_piece){here + i, 1};
    CHECK(!opiw_ask(&none, big, p, 1, 1, true)); /* no desk */
    t.looks = 5;                                 /* so that it is worth asking */
    CHECK(!opiw_ask(&t, big, p, OPIW_DESK_PIECES + 1, OPIW_DESK_PIECES + 1, true));
    CHECK(!opiw_ask(&t, big, &one, 1, sizeof here, true));
    CHECK(atomic_load(&first->asked) == 0 && first->number == 0);
    CHECK(!opiw_ask(&t, big, p, 1, 1, true)); /* nobody looks: withdrawn */
    CHECK(atomic_load(&first->asked) == 0 && first->number == 1 && atomic_load(&desk.busy) == 0);
    CHECK(t.passed == 1 && t.looks == 0);
    CHECK(!opiw_ask(&t, big, p, 1, 1, true) && first->number == 1); /* passed */
    CHECK(!opiw_ask(&t, big, p, 1, 1, true) && first->number == 1); /* it has not looked since */
    opiw_look_at(&desk, true);
    CHECK(!opiw_ask(&t, big, p, 1, 1, true) && first->number == 2 && t.passed == 3);
}

/* Who asks looks at its own desk meanwhile: at that of its own it is answered at once. */
static void what_is_answered(void) {
    static long there[6], out[3] = {5, 6, 7}, in[3];
    struct opiw_piece p[2] = {{(char *)&there[4], 2 * sizeof *there}, {(char *)&there[1], sizeof *there}};
    struct opiw_target t = {.desk = &desk, .looks = UINT32_MAX};
    uint32_t number = first->number;
    atomic_store(&opiw_own_desk, &desk);
    CHECK(opiw_ask(&t, out, p, 2, sizeof out, true));
    CHECK(there[4] == 5 && there[5] == 6 && there[1] == 7 && !there[0] && !there[2] && !there[3]);
    CHECK(opiw_ask(&t, in, p, 2, sizeof in, false) && memcmp(in, out, sizeof in) == 0);
    CHECK(first->number == number + 2 && atomic_load(&first->answered) == number + 2 && atomic_load(&desk.busy) == 0 && t.passed == 0);
    first->number = UINT32_MAX - 1;
    for (int i = 0; i < 3; i++) /* numbers come round, but for 0 */
        CHECK(opiw_ask(&t, out, p, 2, sizeof out, true));
    CHECK(first->number == 2);
    atomic_store(&opiw_own_desk, NULL);
}

/* Nobody looks: the kernel copies the parts that were asked for one by one, and the rest at once.  And with an owner that looks: nothing is left to the kernel. */
static void what_is_asked_in_parts(void) {
    static char there[6 * OPIW_DESK_BYTES + 5], out[sizeof there], in[sizeof there];
    struct opiw_piece p = {there, sizeof there};
    struct opiw_target t = {.desk = &desk, .looks = UINT32_MAX};
    bool served;
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (char)(i * 3 + i / 253);
    CHECK(begin(&t) && in_parts(&t, out, &p, true, &served));
    CHECK(!served && atomic_load(&parts_by_kernel) == OPIW_LANES + 1 && t.passed == 1 && memcmp(there, out, sizeof out) == 0);
    for (int i = 0; i < OPIW_LANES; i++)
        CHECK(atomic_load(&desk.lane[i].asked) == 0);
    CHECK(atomic_load(&desk.busy) == 0 && !begin(&t)); /* passed */
    memset(there, 0, sizeof there);
    atomic_store(&parts_by_kernel, 0);
    atomic_store(&opiw_own_desk, &desk);
    t.answers = true;
    for (int get = 0; get < 2; get++) {
        CHECK(begin(&t) && in_parts(&t, get ? in : out, &p, !get, &served));
        CHECK(served && atomic_load(&parts_by_kernel) == 0 && atomic_load(&desk.busy) == 0);
    }
    CHECK(memcmp(there, out, sizeof out) == 0 && memcmp(in, out, sizeof out) == 0);
    atomic_store(&opiw_own_desk, NULL);
}

/* Takes one question up and stops for a while, as one does that has lost its processor; then answers. */
static void *own_and_stop(void *unused) {
    (void)unused;
    uint32_t number;
    do {
        atomic_fetch_add(&desk.looks, 1);
        number = atomic_load(&first->asked);
    } while (!number || !atomic_compare_exchange_strong(&first->asked, &number, 0));
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    long answer = 11;
    memcpy(first->answer, &answer, sizeof answer);
    atomic_store(&first->answered, number);
    return NULL;
}

/* It is waited for. */
static void what_is_taken_up_late(void) {
    pthread_t owner;
    long got = 7, there = 9;
    struct opiw_piece p = {(char *)&there, sizeof there};
    struct opiw_target t = {.desk = &desk};
    bool ok = false;
    CHECK(pthread_create(&owner, NULL, own_and_stop, NULL) == 0);
    while (!ok) { /* withdrawn until it is taken up */
        t.passed = t.passing = 0;
        t.looks = atomic_load(&desk.looks) - 1;
        ok = opiw_ask(&t, &got, &p, 1, sizeof got, false);
    }
    pthread_join(owner, NULL);
    CHECK(got == 11 && atomic_load(&desk.busy) == 0 && atomic_load(&first->answered) == first->number);
}

static _Atomic bool no_more;

static void *own_at_once(void *unused) {
    (void)unused;
    while (!atomic_load_explicit(&no_more, memory_order_relaxed))
        opiw_look_at(&desk, true);
    return NULL;
}

/* Taken back at about the moment when it is taken up, by either of two threads of the owner's: it was carried out, or never will be. */
static void what_is_withdrawn_at_once(void) {
    pthread_t owner[2];
    static volatile long there;
    long carried = 0, back = 0, before = 0;
    unsigned state = 3;
    struct opiw_piece p = {(char *)(uintptr_t)&there, sizeof there};
    struct opiw_target t = {.desk = &desk, .answers = true};
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&owner[i], NULL, own_at_once, NULL) == 0);
    uint64_t until = now_ns() + 300000000;
    for (long round = 1; now_ns() < until; round++) {
        CHECK(begin(&t));
        ask_on(first, &round, &p, 1, sizeof round, true, false);
        work(draw(&state, 1000));
        bool undone = withdrawn(&t, first);
        CHECK(undone || there == round);
        *(undone ? &back : &carried) += 1;
        work(draw(&state, 100));
        CHECK(there == (undone ? before : round));
        before = there;
        end(&t);
    }
    atomic_store(&no_more, true);
    for (int i = 0; i < 2; i++)
        pthread_join(owner[i], NULL);
    CHECK(carried + back > 0);
}

/* What a copy takes: few readings tell after a first one with cold caches, and one that lost its processor tells nothing. */
static void what_is_timed(void) {
    static const size_t last[] = {512, 2048, 4096, OPIW_DESK_BYTES, 32768, 262144};
    struct opiw_target t = {0};
    uint32_t pace = 0;
    note(&pace, 9000);
    CHECK(pace == 9000);
    for (int i = 0; i < 8; i++)
        note(&pace, 700);
    CHECK(pace >= 700 && pace < 750);
    note(&pace, 50000000);
    CHECK(pace > 700 && pace < 850);
    for (int i = 0; i < OPIW_PACES - 1; i++)
        CHECK(pace_of(&t, i ? last[i - 1] + 1 : 1) == &t.pace[i] && pace_of(&t, last[i]) == &t.pace[i]);
    CHECK(pace_of(&t, last[OPIW_PACES - 2] + 1) == &t.pace[OPIW_PACES - 1]);
    CHECK(of_a_part(900, 8) == 900 && of_a_part(900, OPIW_DESK_BYTES) == 900 && of_a_part(900, 3 * OPIW_DESK_BYTES) == 300);
}

int main(void) {
    unsigned id[ASKERS];
    pthread_t owner, asker[ASKERS];
    what_is_timed();
    what_is_not_asked();
    what_is_answered();
    what_is_asked_in_parts();
    what_is_taken_up_late();
    what_is_withdrawn_at_once();
    CHECK(pthread_create(&owner, NULL, own, NULL) == 0);
    for (unsigned i = 0; i < ASKERS; i++) {
        id[i] = i;
        CHECK(pthread_create(&asker[i], NULL, ask_much, &id[i]) == 0);
    }
    for (int i = 0; i < 200 && !(i >= 10 && atomic_load(&answers) >= 1000 && atomic_load(&refusals) >= 1000); i++) /* a second; 20 on a crowded machine */
        nanosleep(&(struct timespec){0, 100000000}, NULL);
    atomic_store(&over, true);
    for (unsigned i = 0; i < ASKERS; i++)
        pthread_join(asker[i], NULL);
    pthread_join(owner, NULL);
    CHECK(atomic_load(&answers) + atomic_load(&refusals) > 0); /* no more is sure where others have the processors */
    puts("ask: ok");
    return 0;
}
