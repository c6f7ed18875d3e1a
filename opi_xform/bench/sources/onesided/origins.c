/*
 * origins: what it costs a target to synchronise with all other ranks, 1 to 7, which move no data (Lai and Panda, Truly One-Sided RMA,
 * figure 17 a). Each sample is several epochs, one behind the other:
 *
 *   pscw      one window, post and wait for all origins; time at the target
 *   windows   one for each origin, as in the paper: a post and a wait for each; time at the target
 *   fence     of target and origins; time at the target
 *   lock_all  and unlock_all by all origins, the target in a barrier; mean time at the origins
 *
 * The last epoch of a point has a put of each origin, which the target reads.
 *
 *   mpiexec -n 4 ./origins [samples [any number]]      3 origins
 */
#include "windows.h"

#define BATCH 20
#define CROWDED_BATCH 2
#define BUDGET_US 40e3

enum way { PSCW, WINDOWS, FENCE, LOCK_ALL, WAYS };

static const char *const way_name[WAYS] = {"pscw", "windows", "fence", "lock_all"};

static void epoch(struct side *s, enum way way, size_t bytes)
{
    size_t at = bytes * (size_t)(s->place - 1);

    if (way == FENCE)
        side_fence(s);
    else if (s->place == 0 && way != LOCK_ALL)
        side_post(s);
    else if (s->place != 0 && way == LOCK_ALL)
        side_lock_all(s);
    else if (s->place != 0)
        side_begin(s);
    if (bytes && s->place != 0)
        side_put(s, bytes, at);
    if (way == FENCE)
        side_fence(s);
    else if (s->place == 0 && way != LOCK_ALL)
        side_wait(s);
    else if (s->place != 0 && way == LOCK_ALL)
        side_unlock_all(s);
    else if (s->place != 0)
        side_end(s);
}

static void point(struct side *s, enum kind kind, enum way way)
{
    int batch = s->crowded ? CROWDED_BATCH : BATCH, readable = !(kind == ALLOCATE && way == WINDOWS);
    size_t bytes = 8;
    struct samples all;
    char name[80];

    if (s->place == 0 && readable)
        memset(s->exposed, 0, bytes * (size_t)s->origins);
    for (int i = -1; side_another(s, i, BUDGET_US); i++) {
        double t = side_now();
        for (int j = 0; j < batch; j++)
            epoch(s, way, 0);
        t = (side_now() - t) / batch;
        side_keep(&all, i, way == LOCK_ALL ? side_mean(s, t) : t);
    }
    epoch(s, way, bytes);
    side_meet(s);
    for (int i = 0; s->place == 0 && readable && i < s->origins; i++)
        side_check(s, s->exposed + bytes * (size_t)i, bytes, i + 1);
    snprintf(name, sizeof name, "%s-%s-%d", way_name[way], kind_name[kind], s->origins);
    side_print(s, 0, name, &all);
}

static void all_points(struct side *s)
{
    for (enum kind kind = CREATE; kind < KINDS; kind++)
        for (int each = 0; each < 2; each++) {
            side_open(s, kind, 8, each);
            side_fill(s->own, 8, s->rank);
            for (enum way way = PSCW; way < WAYS; way++)
                if ((way == WINDOWS) == each)
                    point(s, kind, way);
            side_close(s, kind);
        }
}

int main(int argc, char **argv)
{
    struct side s;

    side_start(&s, "onesided-origins", argc, argv);
    side_form(&s, 0);
    all_points(&s);
    side_part(&s);
    return side_stop(&s);
}
