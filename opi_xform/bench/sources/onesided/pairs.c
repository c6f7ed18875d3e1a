/*
 * pairs: epochs of 16 puts of 64 KiB and 512 KiB by several origins at once (Lai and Panda, Truly One-Sided RMA, figure
 * 17 b), under post/start/complete/wait: `to-one`, all other ranks to rank 0, each to a place of its own; `pairs`, where the
 * ranks are even in number, each to a target of its own. The time is that of an epoch of all, from a barrier to a barrier; a sample is
 * several epochs.
 *
 *   mpiexec -n 8 ./pairs [samples [max_bytes]]
 */
#include "windows.h"

#define BATCH 4
#define CROWDED_BATCH 1
#define BUDGET_US 60e3

static void epoch(struct side *s, size_t bytes)
{
    if (s->place == 0) {
        side_post(s);
        side_wait(s);
        return;
    }
    side_begin(s);
    for (size_t j = 0; j < SIDE_DEPTH; j++)
        side_put(s, bytes, bytes * (SIDE_DEPTH * (size_t)(s->place - 1) + j));
    side_end(s);
}

static void point(struct side *s, enum kind kind, size_t bytes, const char *how, int origins)
{
    int batch = s->crowded ? CROWDED_BATCH : BATCH;
    struct samples all;
    char name[80];

    side_open(s, kind, bytes, 0);
    side_fill(s->own, bytes, s->place);
    if (s->place == 0)
        memset(s->exposed, 0, bytes * SIDE_DEPTH * (size_t)s->origins);
    for (int i = -1; side_another(s, i, BUDGET_US); i++) {
        double t = side_now();
        for (int j = 0; j < batch; j++)
            epoch(s, bytes);
        side_meet(s);
        side_keep(&all, i, (side_now() - t) / batch);
    }
    for (int i = 0; s->place == 0 && i < SIDE_DEPTH * s->origins; i++)
        side_check(s, s->exposed + bytes * (size_t)i, bytes, 1 + i / SIDE_DEPTH);
    snprintf(name, sizeof name, "%s-%s-%d", how, kind_name[kind], origins);
    side_print(s, bytes, name, &all);
    side_meet(s);
    side_close(s, kind);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {4096, 65536, 524288}; /* the first in short runs only */
    struct side s;

    side_start(&s, "onesided-pairs", argc, argv);
    for (int in_pairs = 0; in_pairs < 2 - s.size % 2; in_pairs++) {
        side_form(&s, in_pairs);
        for (size_t i = s.max_bytes < sizes[1] ? 0 : 1; i < 3 && sizes[i] <= s.max_bytes; i++)
            for (enum kind kind = CREATE; kind < KINDS; kind++)
                point(&s, kind, sizes[i], in_pairs ? "pairs" : "to-one", in_pairs ? s.size / 2 : s.size - 1);
        side_part(&s);
    }
    return side_stop(&s);
}
