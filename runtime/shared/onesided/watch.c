/* watch.c - OPI_PROFILE and OPI_CHECK of windows.
 *
 * Checking: beside each member's seat lies a log of the accesses to its memory that have not ended yet, in shared memory.  An origin enters its accesses before it
 * makes them, and looks whether one that is there touches the same bytes in a way that MPI forbids together.  An access leaves the log when something has ended it
 * that every access which is in order must wait for: a fence; MPI_Win_wait at the target, for those after MPI_Win_start; MPI_Win_flush or unlock of its origin, for
 * those under locks.  So what is reported is wrong; but two accesses that should have been ordered, and that the run at hand did one after the other with such a
 * call between, are not reported. */
#include "shared/onesided/watch.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "shared/places/places.h"

#define ENTRIES 1024
#define RUNS 256 /* of one operation */

static const char *const kinds[OPIW_KINDS] = {"put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"};
static const char *const calls[OPIW_KINDS] = {"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap"};
static const char *const ways[OPIW_WAYS] = {"direct", "kernel", "mpi"};

/* ---- profile ---------------------------------------------------------------------------------------------------------------------------------- */

void opiw_table(const struct opiw_counts *c) {
    for (int k = 0; k < OPIW_KINDS; k++)
        for (int w = 0; w < OPIW_WAYS; w++)
            if (c->of[k][w].operations)
                fprintf(stderr, "libopi:   window %s, %-*s %12llu operations %14llu bytes\n", kinds[k], 19 - (int)strlen(kinds[k]), ways[w],
                        (unsigned long long)c->of[k][w].operations, (unsigned long long)c->of[k][w].bytes);
}

void opiw_json(FILE *f, const struct opiw_counts *c) {
    fprintf(f, "\"windows\": {");
    for (int k = 0; k < OPIW_KINDS; k++) {
        fprintf(f, "%s\"%s\": {", k ? ",\n  " : "", kinds[k]);
        for (int w = 0; w < OPIW_WAYS; w++)
            fprintf(f, "%s\"%s\": {\"operations\": %llu, \"bytes\": %llu}", w ? ", " : "", ways[w], (unsigned long long)c->of[k][w].operations,
                    (unsigned long long)c->of[k][w].bytes);
        fprintf(f, "}");
    }
    fprintf(f, "}");
}

/* ---- the log of a member ----------------------------------------------------------------------------------------------------------------------- */

struct run {
    uint64_t from, to; /* bytes from the start of the window; in dynamic windows addresses */
};

struct entry {
    struct run bytes;
    struct opi_site site;
    int32_t origin;  /* its rank in the window */
    uint32_t fences; /* how many the origin had seen */
    uint8_t kind, op, access;
};

/* In shared memory, zero when it is made; all under `lock`.  Who has the lock calls nothing that waits: fibers do not change places meanwhile, so that one never
 * meets a lock of another's of its thread. */
struct log {
    _Atomic uint32_t lock; /* acquire, release */
    uint32_t n, full;
    struct entry at[ENTRIES];
};

size_t opiw_log_bytes(void) {
    return sizeof(struct log);
}

static void take(struct log *l) {
    while (atomic_exchange_explicit(&l->lock, 1, memory_order_acquire))
        sched_yield();
}

static void give(struct log *l) {
    atomic_store_explicit(&l->lock, 0, memory_order_release);
}

/* The same number in all processes, whose handles may differ. */
static uint8_t number_of(MPI_Op op) {
    const MPI_Op all[] = {MPI_NO_OP, MPI_SUM, MPI_REPLACE, MPI_MIN,  MPI_MAX, MPI_PROD,   MPI_LAND,  MPI_BAND,
                          MPI_LOR,   MPI_BOR, MPI_LXOR,    MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
    uint8_t i = 0;
    while (i < sizeof all / sizeof *all && all[i] != op)
        i++;
    return i;
}

static bool accumulates(const struct entry *e) {
    return e->kind != OPIW_PUT && e->kind != OPIW_GET;
}

static bool reads(const struct entry *e) {
    return e->kind == OPIW_GET || (accumulates(e) && e->op == 0);
}

/* Are the two forbidden together on the same bytes?  Accumulating twice is allowed with one operation or MPI_NO_OP; a rank's own happen in order.  Which
 * operation a compare and swap is, MPI does not say. */
static bool conflict(const struct entry *a, const struct entry *b) {
    if (reads(a) && reads(b))
        return false;
    if (!accumulates(a) || !accumulates(b))
        return true;
    return a->origin != b->origin && a->op && b->op && a->op != b->op && a->kind != OPIW_SWAP && b->kind != OPIW_SWAP;
}

static void drop(struct log *l, uint32_t i) {
    l->at[i] = l->at[--l->n];
}

/* The runs of an operation. */
struct runs {
    const struct opiw_op *o;
    size_t n;
    bool full;
    struct run at[RUNS];
};

static void see(void *of, char *at, size_t n) {
    struct runs *r = of;
    uint64_t from = r->o->w->dynamic ? (uint64_t)(uintptr_t)at : (uint64_t)(at - r->o->t->base);
    r->full = r->full || r->n == RUNS;
    if (!r->full)
        r->at[r->n++] = (struct run){from, from + n};
}

static void report(const struct opiw_op *o, const struct entry *first, const struct entry *now) {
    char there[512], here[512], line[1400];
    uint64_t from = first->bytes.from > now->bytes.from ? first->bytes.from : now->bytes.from;
    uint64_t to = first->bytes.to < now->bytes.to ? first->bytes.to : now->bytes.to;
    opi_site_text(&first->site, there, sizeof there);
    opi_site_text(&now->site, here, sizeof here);
    snprintf(line, sizeof line, "conflicting accesses to bytes %llu to %llu of rank %d's window: %s of rank %d at %s, %s of rank %d at %s",
             (unsigned long long)from, (unsigned long long)to - 1, (int)(o->t - o->w->at), calls[first->kind], first->origin, there, calls[now->kind], now->origin, here);
    opiw_die(line);
}

/* The first access in the log that conflicts with one of the runs; stale entries go. */
static bool find(struct log *l, const struct opiw_win *w, const struct runs *r, struct entry *now, struct entry *found) {
    for (uint32_t i = 0; i < l->n;) {
        struct entry *e = &l->at[i];
        if (e->access == OPIW_FENCED && e->fences != w->fences) {
            drop(l, i);
            continue;
        }
        for (size_t k = 0; k < r->n; k++)
            if (e->bytes.from < r->at[k].to && r->at[k].from < e->bytes.to && conflict(e, now)) {
                now->bytes = r->at[k];
                *found = *e;
                return true;
            }
        i++;
    }
    return false;
}

static void check(struct opiw_op *o, enum opiw_kind kind, MPI_Op op, bool requested) {
    struct log *l = o->t->log;
    struct runs r = {.o = o};
    struct entry found, now = {.origin = o->w->rank, .fences = o->w->fences, .kind = (uint8_t)kind, .op = number_of(op), .access = o->w->access};
    if (!opiw_pieces(o, see, &r) || r.full)
        return;
    (void)opi_site_of(opiw_caller(), &now.site);
    take(l);
    bool bad = find(l, o->w, &r, &now, &found);
    /* A request that ends means that what it fetched is there: such an access may end before the calls that end the others. */
    bool kept = !bad && !(requested && (kind == OPIW_GET || kind == OPIW_GET_ACCUMULATE));
    bool said = false;
    if (kept && l->n + r.n > ENTRIES) {
        said = !l->full;
        l->full = 1;
        kept = false;
    }
    for (size_t k = 0; kept && k < r.n; k++) {
        now.bytes = r.at[k];
        l->at[l->n++] = now;
    }
    give(l);
    if (bad)
        report(o, &found, &now);
    if (said) {
        char line[128];
        snprintf(line, sizeof line, "OPI_CHECK: more than %d accesses to one rank's window at once; some conflicts go unnoticed", ENTRIES);
        opiw_say(line);
    }
}

void opiw_watch(struct opiw_op *o, enum opiw_kind kind, MPI_Op op, bool requested) {
    opiw_counted(kind, o->direct ? OPIW_DIRECT : OPIW_KERNEL, o->n);
    if (o->t->log)
        check(o, kind, op, requested);
}

static bool ended(const struct entry *e, const struct opiw_win *w, enum opiw_ending how) {
    if (how == OPIW_WAITED)
        return e->access == OPIW_STARTED;
    if (e->origin != w->rank || (e->access != OPIW_LOCKED && e->access != OPIW_LOCKED_ALL))
        return false;
    return how == OPIW_FLUSHED || e->kind == OPIW_GET || e->kind == OPIW_GET_ACCUMULATE || e->kind == OPIW_FETCH || e->kind == OPIW_SWAP;
}

void opiw_watch_end(const char *call, struct opiw_win *w, int target, enum opiw_ending how) {
    (void)call;
    for (int i = target < 0 ? 0 : target; i < (target < 0 ? w->size : target + 1); i++) {
        struct log *l = w->at[i].log;
        if (!l)
            continue;
        take(l);
        for (uint32_t k = 0; k < l->n;)
            if (ended(&l->at[k], w, how))
                drop(l, k);
            else
                k++;
        give(l);
    }
}
