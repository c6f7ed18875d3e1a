/* model.h - which outcomes of a step are legal: of what the windows have after it, and of what was fetched in it. */
#ifndef MODEL_H
#define MODEL_H

#include "plan.h"

static const char *const sync_name[SYNCS] = {"fence", "post/start/complete/wait", "lock", "lock_all"};
static const char *const mode_name[MODES] = {"read", "put", "sum", "xor", "max", "replace", "cas", "own"};
static const char *const flavor_name[FLAVORS] = {"create", "create of MPI_Alloc_mem", "allocate", "shared", "dynamic"};
static const char *const kind_name[KINDS] = {"put", "get", "accumulate", "get_accumulate", "fetch_and_op(NO_OP)",
                                             "fetch_and_op", "compare_and_swap"};

static int illegal(const struct plan *p, int w, int t, int cell, const char *what, uint64_t got, uint64_t start)
{
    printf("seed %d, step %d, window %d (%s, %s, %d bytes), target %d, element %d (%s): %s: %#llx, at the start %#llx\n",
           p->seed, p->number, w, flavor_name[p->window[w].flavor], sync_name[p->step.sync[w]],
           element_size[p->window[w].element], t, cell, mode_name[p->step.mode[w][t][cell / BLOCK]], what,
           (unsigned long long)got, (unsigned long long)start);
    return 1;
}

/* An operation on a cell, and the index of the cell in it. */
struct touch {
    const struct op *op;
    int number, i;
};

static int touches_of(const struct plan *p, int w, int t, int cell, struct touch *touch)
{
    int n = 0;

    for (int k = 0; k < p->step.nops; k++) {
        const struct op *op = &p->step.op[k];
        for (int i = 0; i < op->n; i++)
            if (op->window == w && op->target == t && op->cell[i] == cell && !op->null)
                touch[n++] = (struct touch){op, k, i};
    }
    return n;
}

/* Sums and exclusive ors: what is fetched is the set of the operations before. Those of one origin are in order, and any
 * two sets of different operations are one in the other: the operations on a cell happen one after another. */
static int check_sets(const struct plan *p, int w, int t, int cell, const struct touch *touch, int n)
{
    enum element e = p->window[w].element;
    int xored = p->step.mode[w][t][cell / BLOCK] == XOR, wrong = 0;
    uint64_t start = p->before[w][t][cell], all = 0, set[MOST_OPS] = {0};

    for (int a = 0; a < n; a++) {
        const struct op *op = touch[a].op;
        uint64_t got = p->fetched[touch[a].number][touch[a].i], must = 0, may = 0;
        if (changes(op))
            all |= op->value[touch[a].i];
        if (!fetches(op))
            continue;
        set[a] = xored ? got ^ start : cut(e, got - start);
        for (int b = 0; b < n; b++) {
            uint64_t bit = changes(touch[b].op) ? touch[b].op->value[touch[b].i] : 0;
            int own = touch[b].op->origin == op->origin;
            must |= own && b < a ? bit : 0;
            may |= !own || b < a ? bit : 0;
        }
        if ((set[a] & must) != must || (set[a] & ~may) != 0)
            wrong += illegal(p, w, t, cell, "fetched", got, start);
        for (int b = 0; b < a; b++)
            if (fetches(touch[b].op) && (set[a] & ~set[b]) && (set[b] & ~set[a]))
                wrong += illegal(p, w, t, cell, "fetched, of no order with another", got, start);
    }
    uint64_t end = xored ? start ^ all : cut(e, start + all);
    return wrong + (p->after[w][t][cell] != end && illegal(p, w, t, cell, "left", p->after[w][t][cell], start));
}

/* The greatest, or the last: one of the values that may have been there. `after`: how many of the touches went before for
 * this origin; an origin of -1 sees all of each. */
static int among(const struct plan *p, int w, int t, int cell, const struct touch *touch, int n, int before, int origin,
                 uint64_t got)
{
    int max = p->step.mode[w][t][cell / BLOCK] == MAX, possible = 0, written = 0;
    uint64_t start = p->before[w][t][cell], least = start, most = start, last[MOST_RANKS];
    int wrote[MOST_RANKS] = {0};

    for (int b = 0; b < n; b++) {
        const struct op *op = touch[b].op;
        uint64_t value = op->value[touch[b].i];
        int own = op->origin == origin;
        if (!changes(op) || (own && b >= before))
            continue;
        if (own || origin < 0)
            least = value > least ? value : least;
        most = value > most ? value : most;
        if (origin < 0 || own) {
            wrote[op->origin] = 1;
            last[op->origin] = value;
            written = 1;
        } else
            possible |= value == got;
    }
    for (int r = 0; r < p->ranks; r++)
        possible |= wrote[r] && last[r] == got;
    if (!max)
        return possible || (!written && got == start);
    if (got == start)
        possible = 1;
    for (int b = 0; b < n; b++)
        possible |= changes(touch[b].op) && touch[b].op->value[touch[b].i] == got;
    return possible && got >= least && got <= most;
}

static int check_among(const struct plan *p, int w, int t, int cell, const struct touch *touch, int n)
{
    int wrong = 0;

    for (int a = 0; a < n; a++) {
        uint64_t got = p->fetched[touch[a].number][touch[a].i];
        if (fetches(touch[a].op) && !among(p, w, t, cell, touch, n, a, touch[a].op->origin, got))
            wrong += illegal(p, w, t, cell, "fetched", got, p->before[w][t][cell]);
    }
    if (!among(p, w, t, cell, touch, n, n, -1, p->after[w][t][cell]))
        wrong += illegal(p, w, t, cell, "left", p->after[w][t][cell], p->before[w][t][cell]);
    return wrong;
}

static int check_swaps(const struct plan *p, int w, int t, int cell, const struct touch *touch, int n)
{
    uint64_t start = p->before[w][t][cell], end = start;
    int winners = 0, wrong = 0;

    for (int a = 0; a < n; a++)
        if (p->fetched[touch[a].number][0] == start) {
            winners++;
            end = touch[a].op->value[0];
        }
    if (winners != (n > 0))
        wrong += illegal(p, w, t, cell, "winners", (uint64_t)winners, start);
    for (int a = 0; a < n; a++)
        if (p->fetched[touch[a].number][0] != start && p->fetched[touch[a].number][0] != end)
            wrong += illegal(p, w, t, cell, "fetched", p->fetched[touch[a].number][0], start);
    /* An origin's own later operation finds the winner's value. */
    for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++)
            if (touch[a].op->origin == touch[b].op->origin && p->fetched[touch[a].number][0] == start)
                wrong += illegal(p, w, t, cell, "a later one won", start, start);
    return wrong + (p->after[w][t][cell] != end && illegal(p, w, t, cell, "left", p->after[w][t][cell], start));
}

/* One operation after another, or each cell written once: the values follow. */
static int check_sequence(const struct plan *p, int w, int t, int cell, const struct touch *touch, int n)
{
    enum element e = p->window[w].element;
    int own = p->step.mode[w][t][cell / BLOCK] == OWN, wrong = 0;
    uint64_t start = p->before[w][t][cell], now = start;

    for (int a = 0; a < n; a++) {
        const struct op *op = touch[a].op;
        uint64_t value = op->value[touch[a].i], got = p->fetched[touch[a].number][touch[a].i];
        if (fetches(op) && got != now)
            wrong += illegal(p, w, t, cell, "fetched", got, now);
        if (changes(op))
            now = own && op->kind != DO_PUT ? cut(e, now + value) : value;
    }
    return wrong + (p->after[w][t][cell] != now && illegal(p, w, t, cell, "left", p->after[w][t][cell], start));
}

/* How many outcomes of the step are illegal; each is printed. */
static int check_step(const struct plan *p)
{
    struct touch touch[MOST_OPS];
    int wrong = 0;

    for (int w = 0; w < p->windows; w++)
        for (int t = 0; t < p->ranks; t++)
            for (int cell = 0; p->window[w].member[t] && cell < CELLS; cell++) {
                int n = touches_of(p, w, t, cell, touch), was = wrong;
                switch (p->step.mode[w][t][cell / BLOCK]) {
                case SUM:
                case XOR: wrong += check_sets(p, w, t, cell, touch, n); break;
                case MAX:
                case REPLACE: wrong += check_among(p, w, t, cell, touch, n); break;
                case CAS: wrong += check_swaps(p, w, t, cell, touch, n); break;
                default: wrong += check_sequence(p, w, t, cell, touch, n); break;
                }
                for (int a = 0; wrong > was && a < n; a++)
                    printf("  %s%s by %d, value %#llx, fetched %#llx\n", touch[a].op->request ? "r" : "",
                           kind_name[touch[a].op->kind], touch[a].op->origin,
                           (unsigned long long)touch[a].op->value[touch[a].i],
                           (unsigned long long)p->fetched[touch[a].number][touch[a].i]);
            }
    return wrong;
}

#endif
