/*
 * overlap: a target that computes while 16 puts come (Lai and Panda, Truly One-Sided RMA, section 5.5, target side). Timed
 * at the target, in turns:
 *
 *   transfer   an epoch in which it does nothing
 *   alone      the computation, 1.2 times as long, while the origin sleeps
 *   both       an epoch in which it computes between opening its side and waiting
 *   meanwhile  of that, the computation
 *
 * What of the transfer is hidden is (transfer + alone - both) / transfer; what the computation loses, meanwhile / alone - 1.
 * It works on 16 KiB of its own, so it has the first-level cache to lose besides the processor.
 *
 *   mpiexec -n 2 ./overlap [samples [max_bytes]]      4 KiB to 1 MiB
 */
#include "windows.h"

#define BUDGET_US 60e3
#define WORDS 2048
#define STEP 32

enum way { PSCW, FENCE, WAYS };
enum { TRANSFER, ALONE, BOTH, MEANWHILE, PARTS };

static const char *const way_name[WAYS] = {"pscw", "fence"};
static const char *const part_name[PARTS] = {"transfer", "alone", "both", "meanwhile"};

struct work {
    double word[WORDS];
    size_t at;
};

/* Microseconds of so many steps; one loop, wherever it is called. */
__attribute__((noinline, noclone)) static double compute(struct work *w, long steps)
{
    double t = side_now();

    for (long n = 0; n < steps; n++, w->at = (w->at + STEP) % WORDS)
        for (size_t i = w->at; i < w->at + STEP; i++)
            w->word[i] = w->word[i] * 0.999 + 1;
    __asm__ volatile("" : : "r"(w) : "memory");
    return side_now() - t;
}

/* An epoch, in which the target computes so many steps: their time, and that of the whole. */
static double epoch(struct side *s, enum way way, size_t bytes, struct work *w, long steps, double *computing)
{
    double t = side_now();

    if (way == FENCE)
        side_fence(s);
    else if (s->place == 0)
        side_post(s);
    else
        side_begin(s);
    if (s->place == 0)
        *computing = compute(w, steps);
    else
        for (size_t j = 0; j < SIDE_DEPTH; j++)
            side_put(s, bytes, bytes * j);
    if (way == FENCE)
        side_fence(s);
    else if (s->place == 0)
        side_wait(s);
    else
        side_end(s);
    return side_now() - t;
}

/* The target computes, the origin sleeps: waiting by spinning it would take part of a core that both share. */
static double alone(struct side *s, struct work *w, long steps, double expected_us)
{
    double pause_us = 50, sleep_us = 2 * pause_us + 1.5 * expected_us, t = side_now();

    if (s->place == 0) {
        while (side_now() - t < pause_us)
            ;
        return compute(w, steps);
    }
    const struct timespec time = {(time_t)(sleep_us / 1e6), (long)(1e3 * (sleep_us - 1e6 * (double)(long)(sleep_us / 1e6)))};
    nanosleep(&time, NULL);
    return 0;
}

/* How many steps take 1.2 times as long as a transfer. */
static long enough(struct side *s, enum way way, size_t bytes, struct work *w, double *expected_us)
{
    struct samples all;
    double none;

    for (int i = -1; i < 9; i++) {
        side_meet(s);
        side_keep(&all, i, epoch(s, way, bytes, w, 0, &none));
    }
    double step = compute(w, 20000) / 20000;
    *expected_us = 1.2 * side_told(s, (int)side_median(&all));
    side_meet(s);
    return 1 + (long)(1.2 * side_median(&all) / step);
}

static void point(struct side *s, enum kind kind, enum way way, size_t bytes, struct work *w)
{
    static struct samples all[PARTS]; /* ranks are processes here */
    double computing = 0, expected_us;
    char name[80];

    side_open(s, kind, bytes, 0);
    side_fill(s->own, bytes, s->rank);
    if (s->place == 0)
        memset(s->exposed, 0, bytes * SIDE_DEPTH);
    long steps = enough(s, way, bytes, w, &expected_us);
    for (int i = -1; side_another(s, i, BUDGET_US); i++) {
        side_keep(&all[TRANSFER], i, epoch(s, way, bytes, w, 0, &computing));
        side_keep(&all[ALONE], i, alone(s, w, steps, expected_us));
        side_meet(s);
        side_keep(&all[BOTH], i, epoch(s, way, bytes, w, steps, &computing));
        side_keep(&all[MEANWHILE], i, computing);
    }
    for (int i = 0; s->place == 0 && i < SIDE_DEPTH; i++)
        side_check(s, s->exposed + bytes * (size_t)i, bytes, 1);
    for (int part = 0; part < PARTS; part++) {
        snprintf(name, sizeof name, "%s-%s-%s", way_name[way], kind_name[kind], part_name[part]);
        side_print(s, bytes, name, &all[part]);
    }
    side_meet(s);
    side_close(s, kind);
}

int main(int argc, char **argv)
{
    static struct work w;
    struct side s;

    side_start(&s, "onesided-overlap", argc, argv);
    for (int i = 0; i < WORDS; i++)
        w.word[i] = i;
    side_form(&s, 0);
    for (enum way way = PSCW; way < WAYS; way++)
        for (enum kind kind = CREATE; kind < KINDS; kind++)
            for (size_t bytes = 4096; bytes <= s.max_bytes; bytes *= 4)
                point(&s, kind, way, bytes, &w);
    side_part(&s);
    return side_stop(&s);
}
