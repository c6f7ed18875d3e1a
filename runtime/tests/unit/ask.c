/* Questions at a desk: several threads ask, one owns it and looks at random moments, so that questions are answered, withdrawn, and taken up while they are being
 * withdrawn.  Each is carried out once: by the owner, or by who asked, which then does it itself, as the kernel would. */
#include "shared/onesided/ask.c"

#include "unit.h"

#include <pthread.h>

#define ASKERS 2
#define PLACE 4 /* of each asker, in each of two pieces */

static struct opiw_desk desk;
static long memory[2 * ASKERS * PLACE];
static _Atomic bool over;
static _Atomic long answers, refusals;

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
        opiw_look_at(&desk);
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
    CHECK(atomic_load(&desk.asked) == 0 && desk.number == 0);
    CHECK(!opiw_ask(&t, big, p, 1, 1, true)); /* nobody looks: withdrawn */
    CHECK(atomic_load(&desk.asked) == 0 && desk.number == 1 && atomic_load(&desk.busy) == 0);
    CHECK(t.passed == 1 && t.looks == 0);
    CHECK(!opiw_ask(&t, big, p, 1, 1, true) && desk.number == 1); /* passed */
    CHECK(!opiw_ask(&t, big, p, 1, 1, true) && desk.number == 1); /* it has not looked since */
    opiw_look_at(&desk);
    CHECK(!opiw_ask(&t, big, p, 1, 1, true) && desk.number == 2 && t.passed == 3);
}

/* Who asks looks at its own desk meanwhile: at that of its own it is answered at once. */
static void what_is_answered(void) {
    static long there[6], out[3] = {5, 6, 7}, in[3];
    struct opiw_piece p[2] = {{(char *)&there[4], 2 * sizeof *there}, {(char *)&there[1], sizeof *there}};
    struct opiw_target t = {.desk = &desk, .looks = UINT32_MAX};
    uint32_t number = desk.number;
    atomic_store(&opiw_own_desk, &desk);
    CHECK(opiw_ask(&t, out, p, 2, sizeof out, true));
    CHECK(there[4] == 5 && there[5] == 6 && there[1] == 7 && !there[0] && !there[2] && !there[3]);
    CHECK(opiw_ask(&t, in, p, 2, sizeof in, false) && memcmp(in, out, sizeof in) == 0);
    CHECK(desk.number == number + 2 && atomic_load(&desk.answered) == number + 2 && atomic_load(&desk.busy) == 0 && t.passed == 0);
    desk.number = UINT32_MAX - 1;
    for (int i = 0; i < 3; i++) /* numbers come round, but for 0 */
        CHECK(opiw_ask(&t, out, p, 2, sizeof out, true));
    CHECK(desk.number == 2);
    atomic_store(&opiw_own_desk, NULL);
}

/* Takes one question up and stops for a while, as one does that has lost its processor; then answers. */
static void *own_and_stop(void *unused) {
    (void)unused;
    uint32_t number;
    do {
        atomic_fetch_add(&desk.looks, 1);
        number = atomic_load(&desk.asked);
    } while (!number || !atomic_compare_exchange_strong(&desk.asked, &number, 0));
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    long answer = 11;
    memcpy(desk.answer, &answer, sizeof answer);
    atomic_store(&desk.answered, number);
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
    CHECK(got == 11 && atomic_load(&desk.busy) == 0 && atomic_load(&desk.answered) == desk.number);
}

/* What a copy takes: few readings tell after a first one with cold caches, and one that lost its processor tells nothing. */
static void what_is_timed(void) {
    static const size_t last[] = {512, 2048, 4096, OPIW_DESK_BYTES};
    struct opiw_target t = {0};
    uint32_t pace = 0;
    note(&pace, 9000);
    CHECK(pace == 9000);
    for (int i = 0; i < 8; i++)
        note(&pace, 700);
    CHECK(pace >= 700 && pace < 750);
    note(&pace, 50000000);
    CHECK(pace > 700 && pace < 850);
    for (int i = 0; i < 4; i++)
        CHECK(pace_of(&t, i ? last[i - 1] + 1 : 1) == &t.pace[i] && pace_of(&t, last[i]) == &t.pace[i]);
}

int main(void) {
    unsigned id[ASKERS];
    pthread_t owner, asker[ASKERS];
    what_is_timed();
    what_is_not_asked();
    what_is_answered();
    what_is_taken_up_late();
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
