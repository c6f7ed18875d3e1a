/* libc.c - what the C library remembers between calls, for each rank: where strtok is, the sequences of random numbers, the broken-down time.
 *
 * The linker turns the program's calls to these (`opicc --ranks`).  The sequences are those of the C library: the same functions with the state given. */
#include "ranks/base/ranks.h"

#include <stdlib.h>
#include <time.h>

/* Only its rank touches it.  Made at the first call, with what the C library starts with. */
struct opir_libc {
    char *token;
    struct random_data random;
    char random_state[128]; /* as long as the one that the C library starts with */
    char *random_now;       /* the state in use: this one, or the program's (initstate, setstate) */
    struct drand48_data drand;
    unsigned short drand_old[3];
    struct tm tm;
    char text[64];
};

static struct opir_libc *mine(void) {
    struct opir_rank *r = opir_self;
    if (OPIR_UNLIKELY(!r->libc)) {
        struct opir_libc *l = opir_alloc(sizeof *l);
        initstate_r(1, l->random_state, sizeof l->random_state, &l->random);
        l->random_now = l->random_state;
        r->libc = l;
    }
    return r->libc;
}

void opir_libc_end(struct opir_rank *r) {
    free(r->libc);
    r->libc = NULL;
}

/* Declares the C library's own and the one in its place; who is no rank gets the C library's. */
#define WRAP(type, name, parameters, arguments)    \
    type __real_##name parameters;                 \
    type __wrap_##name parameters;                 \
    type __wrap_##name parameters {                \
        if (OPIR_UNLIKELY(!opir_self))             \
            return __real_##name arguments;        \
        struct opir_libc *l = mine();
#define END }

WRAP(char *, strtok, (char *text, const char *between), (text, between))
    return strtok_r(text, between, &l->token);
END

/* ---- rand and random are one sequence ---------------------------------------------------------------------------------------------- */

WRAP(int, rand, (void), ())
    int32_t v;
    random_r(&l->random, &v);
    return v;
END

WRAP(long, random, (void), ())
    int32_t v;
    random_r(&l->random, &v);
    return v;
END

void __real_srand(unsigned seed);
void __wrap_srand(unsigned seed);
void __wrap_srand(unsigned seed) {
    if (opir_self)
        srandom_r(seed, &mine()->random);
    else
        __real_srand(seed);
}

void __real_srandom(unsigned seed);
void __wrap_srandom(unsigned seed);
void __wrap_srandom(unsigned seed) {
    if (opir_self)
        srandom_r(seed, &mine()->random);
    else
        __real_srandom(seed);
}

WRAP(char *, initstate, (unsigned seed, char *state, size_t bytes), (seed, state, bytes))
    char *old = l->random_now;
    if (initstate_r(seed, state, bytes, &l->random))
        return NULL;
    l->random_now = state;
    return old;
END

WRAP(char *, setstate, (char *state), (state))
    char *old = l->random_now;
    if (setstate_r(state, &l->random))
        return NULL;
    l->random_now = state;
    return old;
END

/* ---- drand48 and its kin ------------------------------------------------------------------------------------------------------------- */

WRAP(double, drand48, (void), ())
    double v;
    drand48_r(&l->drand, &v);
    return v;
END

WRAP(double, erand48, (unsigned short x[3]), (x))
    double v;
    erand48_r(x, &l->drand, &v);
    return v;
END

WRAP(long, lrand48, (void), ())
    long v;
    lrand48_r(&l->drand, &v);
    return v;
END

WRAP(long, nrand48, (unsigned short x[3]), (x))
    long v;
    nrand48_r(x, &l->drand, &v);
    return v;
END

WRAP(long, mrand48, (void), ())
    long v;
    mrand48_r(&l->drand, &v);
    return v;
END

WRAP(long, jrand48, (unsigned short x[3]), (x))
    long v;
    jrand48_r(x, &l->drand, &v);
    return v;
END

void __real_srand48(long seed);
void __wrap_srand48(long seed);
void __wrap_srand48(long seed) {
    if (opir_self)
        srand48_r(seed, &mine()->drand);
    else
        __real_srand48(seed);
}

WRAP(unsigned short *, seed48, (unsigned short x[3]), (x))
    unsigned short next[3] = {x[0], x[1], x[2]}; /* the program may pass what seed48 returned */
    memcpy(l->drand_old, l->drand.__x, sizeof l->drand_old);
    seed48_r(next, &l->drand);
    return l->drand_old;
END

void __real_lcong48(unsigned short p[7]);
void __wrap_lcong48(unsigned short p[7]);
void __wrap_lcong48(unsigned short p[7]) {
    if (opir_self)
        lcong48_r(p, &mine()->drand);
    else
        __real_lcong48(p);
}

/* ---- times: one struct tm and one text for each rank, as in the C library ----------------------------------------------------------------- */

WRAP(struct tm *, localtime, (const time_t *t), (t))
    tzset();
    return localtime_r(t, &l->tm);
END

WRAP(struct tm *, gmtime, (const time_t *t), (t))
    return gmtime_r(t, &l->tm);
END

WRAP(char *, asctime, (const struct tm *tm), (tm))
    return asctime_r(tm, l->text);
END

WRAP(char *, ctime, (const time_t *t), (t))
    tzset();
    struct tm *tm = localtime_r(t, &l->tm);
    return tm ? asctime_r(tm, l->text) : NULL;
END
