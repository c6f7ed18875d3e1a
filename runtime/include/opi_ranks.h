/* What a program whose globals are private to each rank offers to whoever runs several ranks in one process.
 *
 * `opi-xform --privatize` writes programs that work as they are where a process is a rank: they need neither this header
 * nor libopi for that.  A carrier, which runs several ranks in one process, finds all it needs in one weak symbol,
 * opi_rank_image: absent (a null address) when the program was not made private.
 *
 * tls: each private variable is _Thread_local.  A carrier gives each rank a thread of its own, and calls every function
 *   in [inits, inits_end) there before the rank's main: they set what no constant can, addresses of that thread's
 *   variables.  (The first thread has had them called before main.)  Fibers cannot run such a program.
 *
 * struct: the rank's variables lie in one block.  A variable lives at  *base() + var->at.  In a process that is a rank
 *   the base is 0 and `at` the address of the variable that the program declares.  A carrier, before the first rank:
 *
 *       size_t align, size = opi_rank_layout(image, &align);
 *       for each rank: block = aligned, ZEROED memory of that size;   opi_rank_fill(image, block);
 *       opi_rank_enter(image);                   // from here on the base must be right wherever a rank runs
 *
 *   and on each thread, once:  uintptr_t *base = image->base();  and to switch to a rank:  *base = (uintptr_t)block;
 *   Nothing of a rank's block is shared, and blocks need no destruction.
 */
#ifndef OPI_RANKS_H
#define OPI_RANKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OPI_RANKS_VERSION 1

enum { OPI_RANKS_TLS = 1, OPI_RANKS_STRUCT = 2 };

/* The program's own text has these types too. */
#ifndef OPI_RANKS_TYPES
#define OPI_RANKS_TYPES

struct opi_rank_var;

/* The pointer `offset` bytes into a variable is, to begin with, the address of (a place in, or just behind) `to`; null
 * stands for the variable itself. */
struct opi_rank_ref {
    size_t offset;
    struct opi_rank_var *to;
};

/* One private variable of the form struct.  Written by the carrier before the first rank starts, read-only afterwards:
 * no ordering beyond that of starting a thread is needed. */
struct opi_rank_var {
    uintptr_t at;     /* added to the base: the rank's own; to begin with the address `first`, for base 0 */
    void *first;      /* what the program declares: the initial contents */
    size_t size, align;
    size_t zero;      /* 1: nothing initialises it */
    const struct opi_rank_ref *refs;
    size_t nrefs;
    size_t offset;    /* in a rank's block, set by opi_rank_layout */
};

struct opi_rank_image {
    int version, form;                       /* OPI_RANKS_VERSION; OPI_RANKS_TLS or OPI_RANKS_STRUCT */
    struct opi_rank_var *vars, *vars_end;    /* struct; both null when there are none */
    void (*const *inits)(void);              /* tls; both null when there are none */
    void (*const *inits_end)(void);
    uintptr_t *(*base)(void);                /* struct: the calling thread's base */
};

#endif

extern const struct opi_rank_image opi_rank_image __attribute__((weak));

/* Gives each variable its place in a rank's block; the block's size and, in *align, its alignment. */
static inline size_t opi_rank_layout(const struct opi_rank_image *image, size_t *align)
{
    size_t size = 0, most = sizeof(void *);
    for (struct opi_rank_var *var = image->vars; var != image->vars_end; var++) {
        size = (size + var->align - 1) / var->align * var->align;
        var->offset = size;
        size += var->size;
        most = var->align > most ? var->align : most;
    }
    *align = most;
    return (size + most - 1) / most * most;
}

/* A rank's initial contents in `block`, which is zero.  Before opi_rank_enter, or later as long as nobody has written
 * to the variables that the program declares: ranks never do. */
static inline void opi_rank_fill(const struct opi_rank_image *image, void *block)
{
    char *own = block;
    for (struct opi_rank_var *var = image->vars; var != image->vars_end; var++) {
        if (var->zero)
            continue;
        memcpy(own + var->offset, var->first, var->size);
        for (size_t i = 0; i < var->nrefs; i++) {
            const struct opi_rank_ref *ref = &var->refs[i];
            char *place = own + var->offset + ref->offset;
            const struct opi_rank_var *to = ref->to ? ref->to : var;
            uintptr_t old;
            memcpy(&old, place, sizeof old);
            old += (uintptr_t)(own + to->offset) - (uintptr_t)to->first;
            memcpy(place, &old, sizeof old);
        }
    }
}

/* From now on variables are reached through the base of whoever runs. */
static inline void opi_rank_enter(const struct opi_rank_image *image)
{
    for (struct opi_rank_var *var = image->vars; var != image->vars_end; var++)
        var->at = var->offset;
}

#endif
