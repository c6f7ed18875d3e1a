/*
 * plan.h - what a random one-sided program does, the same on every rank: each draws all of it from the seed alone.
 *
 * A window has CELLS elements of one predefined type on each rank, in blocks. In one step each block of each target has one
 * way to be used, chosen so that the standard defines what may come out:
 *
 *   READ     fetched only                    PUT      each cell is written at most once, by anyone
 *   SUM, XOR each operation has a bit of its own, so that what is fetched tells which operations went before
 *   MAX, REPLACE     fetched values are among those written; the order of one origin's operations is kept
 *   CAS      all compare with the value at the start: exactly one may win
 *   OWN      one origin, which completes each operation before the next: as one thread of control
 */
#ifndef PLAN_H
#define PLAN_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 8
#define BLOCKS 6
#define CELLS (BLOCK * BLOCKS)
#define MOST_RANKS 8
#define MOST_WINDOWS 3
#define MOST_OPS 96

enum element { U8, U32, U64, F64, ELEMENTS };
enum flavor { CREATE, CREATE_ALLOC_MEM, ALLOCATE, SHARED, DYNAMIC, FLAVORS };
enum sync { FENCE, PSCW, LOCK, LOCK_ALL, SYNCS };
enum mode { READ, PUT, SUM, XOR, MAX, REPLACE, CAS, OWN, MODES };
enum kind { DO_PUT, DO_GET, DO_ACC, DO_GET_ACC, DO_FETCH, DO_FETCH_OP, DO_CAS, KINDS };

/* One operation. `cell` are the target's elements in the order of the origin's. */
struct op {
    int window, origin, target, block, n, cell[BLOCK];
    enum kind kind;
    int null;       /* to MPI_PROC_NULL: nothing happens */
    int request;    /* the request form */
    int large;      /* the form with large counts, where the MPI has it */
    int gaps;       /* the origin's memory has gaps: 1 by a vector, 2 by the extent of the elements */
    int layout;     /* of the target: 0 contiguous; every second element, 1 by a vector, 4 by the extent; 2 any order
                       from the block's start; 3 backwards */
    int noop;       /* a fetching operation that changes nothing */
    uint64_t value[BLOCK];
};

struct window_plan {
    enum element element;
    enum flavor flavor;
    int reversed; /* its ranks are numbered the other way round */
    int member[MOST_RANKS];
    int hint; /* an info: 1, 2 about accumulating, 3 where memory lies */
    int large; /* made by the call with large units */
    int unit[MOST_RANKS];
};

struct step {
    enum sync sync[MOST_WINDOWS];
    enum mode mode[MOST_WINDOWS][MOST_RANKS][BLOCKS];
    int owner[MOST_WINDOWS][MOST_RANKS][BLOCKS];
    int reach[MOST_WINDOWS][MOST_RANKS][MOST_RANKS]; /* PSCW: may this origin reach this target */
    int used[MOST_WINDOWS][MOST_RANKS][CELLS];       /* operations that change this cell */
    int nops;
    struct op op[MOST_OPS];
};

struct plan {
    uint64_t random;
    int ranks, windows, seed, number; /* number: of the step */
    struct window_plan window[MOST_WINDOWS];
    struct step step;
    uint64_t before[MOST_WINDOWS][MOST_RANKS][CELLS]; /* what the windows have when a step begins */
    uint64_t after[MOST_WINDOWS][MOST_RANKS][CELLS];
    uint64_t fetched[MOST_OPS][BLOCK];
};

static const int element_size[ELEMENTS] = {1, 4, 8, 8};
static const int element_bits[ELEMENTS] = {8, 32, 60, 50};

static inline uint64_t drawn(struct plan *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random * 0x2545f4914f6cdd1dull;
}

static inline int draw(struct plan *p, int below)
{
    return (int)((drawn(p) >> 33) % (uint64_t)below);
}

static inline uint64_t cut(enum element e, uint64_t value)
{
    return e == U8 ? value & 0xff : e == U32 ? value & 0xffffffffu : value;
}

static inline uint64_t load(enum element e, const void *at)
{
    double real;
    uint64_t value = 0;

    if (e == F64) {
        memcpy(&real, at, sizeof real);
        return real >= 0 && real < 1e18 ? (uint64_t)real : ~(uint64_t)0;
    }
    memcpy(&value, at, (size_t)element_size[e]); /* little-endian */
    return value;
}

static inline void store(enum element e, void *at, uint64_t value)
{
    double real = (double)value;

    memcpy(at, e == F64 ? (void *)&real : (void *)&value, (size_t)element_size[e]);
}

/* A value that is no more than a fraction of what the type holds, so that sums of doubles stay exact. */
static inline uint64_t draw_value(struct plan *p, enum element e)
{
    return cut(e, drawn(p) >> (e == F64 ? 44 : 4));
}

static inline int changes(const struct op *op)
{
    return !op->null && !op->noop && op->kind != DO_GET && op->kind != DO_FETCH;
}

static inline int fetches(const struct op *op)
{
    return op->kind != DO_PUT && op->kind != DO_ACC;
}

static inline enum mode mode_of(const struct plan *p, const struct op *op)
{
    return p->step.mode[op->window][op->target][op->block];
}

static inline void draw_windows(struct plan *p, int flavors)
{
    p->windows = 1 + draw(p, MOST_WINDOWS);
    for (int w = 0; w < p->windows; w++) {
        struct window_plan *q = &p->window[w];
        q->element = (enum element)draw(p, ELEMENTS);
        do
            q->flavor = (enum flavor)draw(p, FLAVORS);
        while (!(flavors >> q->flavor & 1));
        q->reversed = draw(p, 3) == 0;
        q->hint = draw(p, 6);
        q->large = draw(p, 2);
        int without = p->ranks > 2 ? draw(p, 3 * p->ranks) : p->ranks;
        for (int t = 0; t < p->ranks; t++)
            q->member[t] = t != without;
        for (int t = 0; t < p->ranks; t++) {
            int choices[3] = {1, element_size[q->element], BLOCK * element_size[q->element]};
            q->unit[t] = q->flavor == DYNAMIC ? 1 : choices[draw(p, 3)];
        }
    }
}

static inline enum mode draw_mode(struct plan *p, int w)
{
    for (;;) {
        enum mode mode = (enum mode)draw(p, MODES);
        if (p->window[w].element == F64 && (mode == XOR || mode == CAS))
            continue;
        if (mode == OWN && p->step.sync[w] != LOCK && p->step.sync[w] != LOCK_ALL)
            continue;
        return mode;
    }
}

static inline enum kind draw_kind(struct plan *p, enum mode mode, int *noop)
{
    static const enum kind atomic[] = {DO_ACC, DO_ACC, DO_GET_ACC, DO_FETCH_OP, DO_FETCH_OP, DO_FETCH};

    *noop = 0;
    switch (mode) {
    case READ: *noop = 1; return draw(p, 2) ? DO_GET : draw(p, 2) ? DO_GET_ACC : DO_FETCH;
    case PUT: return draw(p, 3) ? DO_PUT : DO_ACC;
    case CAS: return DO_CAS;
    case OWN: return (enum kind)draw(p, DO_FETCH);
    default: break;
    }
    enum kind kind = atomic[draw(p, 6)];
    *noop = kind == DO_FETCH || (kind == DO_GET_ACC && draw(p, 3) == 0);
    return kind;
}

/* Which cells, and the values; 0 when this operation may not be. */
static inline int draw_cells(struct plan *p, struct op *op)
{
    enum mode mode = mode_of(p, op);
    const struct window_plan *q = &p->window[op->window];
    int single = op->kind == DO_FETCH || op->kind == DO_FETCH_OP || op->kind == DO_CAS;
    int whole = q->unit[op->target] > element_size[q->element]; /* displacements are blocks */
    int first = op->block * BLOCK, order[BLOCK];

    op->layout = single ? 0 : whole ? 2 : draw(p, 5);
    if (op->layout == 3 && q->element == U8)
        op->layout = 4; /* Open MPI 5.0.11 takes bytes with a stride of -1 byte for bytes in a row */
    int step = op->layout == 1 || op->layout == 4 ? 2 : 1;
    op->n = single ? 1 : 1 + draw(p, BLOCK / step);
    int at = single && whole ? 0 : draw(p, BLOCK - step * (op->n - 1));
    for (int i = 0; i < BLOCK; i++)
        order[i] = i;
    for (int i = 0; i < BLOCK; i++) {
        int j = i + draw(p, BLOCK - i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (int i = 0; i < op->n; i++)
        op->cell[i] = first + (op->layout == 2 ? order[i] : op->layout == 3 ? at + op->n - 1 - i : at + step * i);
    for (int i = 0; changes(op) && i < op->n; i++) {
        int used = p->step.used[op->window][op->target][op->cell[i]];
        if ((mode == PUT && used) || used >= element_bits[q->element] - 1)
            return 0;
    }
    for (int i = 0; i < op->n; i++) {
        int *used = &p->step.used[op->window][op->target][op->cell[i]];
        uint64_t start = p->before[op->window][op->target][op->cell[i]];
        op->value[i] = mode == SUM || mode == XOR ? (uint64_t)1 << *used
                       : mode == CAS              ? cut(q->element, start + 1 + (uint64_t)*used)
                                                  : draw_value(p, q->element);
        *used += changes(op);
    }
    return 1;
}

static inline void draw_op(struct plan *p)
{
    struct step *s = &p->step;
    struct op *op = &s->op[s->nops];

    memset(op, 0, sizeof *op);
    op->window = draw(p, p->windows);
    op->origin = draw(p, p->ranks);
    op->target = draw(p, p->ranks);
    op->block = draw(p, BLOCKS);
    op->null = draw(p, 25) == 0;
    enum sync sync = s->sync[op->window];
    enum mode mode = mode_of(p, op);
    if (!p->window[op->window].member[op->origin] || !p->window[op->window].member[op->target] ||
        (mode == OWN && s->owner[op->window][op->target][op->block] != op->origin) ||
        (sync == PSCW && !s->reach[op->window][op->origin][op->target]))
        return;
    op->kind = draw_kind(p, mode, &op->noop);
    op->gaps = draw(p, 3);
    op->large = draw(p, 2);
    op->request = (sync == LOCK || sync == LOCK_ALL) && op->kind <= DO_GET_ACC && draw(p, 2);
    s->nops += draw_cells(p, op);
}

/* The next step, from what the windows have now. */
static inline void draw_step(struct plan *p)
{
    struct step *s = &p->step;

    memset(s, 0, sizeof *s);
    for (int w = 0; w < p->windows; w++) {
        s->sync[w] = (enum sync)draw(p, SYNCS);
        for (int t = 0; t < p->ranks; t++) {
            for (int o = 0; o < p->ranks; o++)
                s->reach[w][o][t] = draw(p, 3) != 0 && p->window[w].member[o] && p->window[w].member[t];
            for (int b = 0; b < BLOCKS; b++) {
                s->mode[w][t][b] = draw_mode(p, w);
                s->owner[w][t][b] = draw(p, p->ranks);
            }
        }
    }
    for (int tries = draw(p, MOST_OPS); tries > 0; tries--)
        draw_op(p);
}

#endif
