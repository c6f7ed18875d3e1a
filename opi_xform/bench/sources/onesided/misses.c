/*
 * misses: one put or get and a flush, at an origin that has locked the window; the target waits in a barrier. Times of
 * ordinary runs; under callgrind, whose simulation of the caches is cachegrind's, what is counted between the beginning and
 * the end of the function `measured`, with all that it calls: once for each point, after a warm-up.
 *
 *   mpiexec -n 2 ./misses [epochs [max_bytes]]      8 B, 1 KiB, 64 KiB
 */
#include "windows.h"

#define REPEATS 5

enum what { PUT, GET, WHATS };

static const char *const what_name[WHATS] = {"put", "get"};

static void epochs(struct side *s, enum what what, size_t bytes, int n)
{
    for (int i = 0; i < n; i++) {
        if (what == PUT)
            side_put(s, bytes, 0);
        else
            side_get(s, bytes, 0);
        side_flush(s);
    }
}

__attribute__((noinline, noclone)) static void measured(struct side *s, enum what what, size_t bytes, int n)
{
    epochs(s, what, bytes, n);
    __asm__ volatile("" : : : "memory"); /* what follows is no tail call */
}

static void point(struct side *s, enum kind kind, enum what what, size_t bytes)
{
    struct samples all = {.n = 0};
    char name[80];

    side_open(s, kind, bytes, 0);
    side_fill(what == PUT ? s->own : s->exposed, s->place == (what == PUT) ? bytes : 0, 1);
    side_meet(s);
    if (s->place == 1)
        side_lock_all(s);
    for (int i = -1; i < REPEATS; i++) {
        side_meet(s);
        double t = side_now();
        if (s->place == 1 && i + 1 < REPEATS)
            epochs(s, what, bytes, s->most);
        else if (s->place == 1)
            measured(s, what, bytes, s->most);
        side_keep(&all, i, side_mean(s, (side_now() - t) / s->most));
    }
    if (s->place == 1)
        side_unlock_all(s);
    side_meet(s);
    side_check(s, what == PUT ? s->exposed : s->own, s->place == (what == GET) ? bytes : 0, 1);
    snprintf(name, sizeof name, "%s-%s", what_name[what], kind_name[kind]);
    side_print(s, bytes, name, &all);
    side_meet(s);
    side_close(s, kind);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 1024, 65536};
    struct side s;

    side_start(&s, "onesided-misses", argc, argv);
    side_form(&s, 0);
    for (enum kind kind = CREATE; kind < KINDS; kind++)
        for (enum what what = PUT; what < WHATS; what++)
            for (int i = 0; i < 3 && sizes[i] <= s.max_bytes; i++)
                point(&s, kind, what, sizes[i]);
    side_part(&s);
    return side_stop(&s);
}
