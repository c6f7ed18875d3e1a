/* watch.c - thread and fiber ranks' side of shared/onesided/watch.c: OPI_PROFILE and OPI_CHECK, which of these ranks see windows alone. */
#include "ranks/window/win.h"
#include "shared/onesided/watch.h"

#include <stdio.h>
#include <stdlib.h>

_Thread_local const void *opir_site, *opir_weak_site;

/* Of all ranks of this process, each a sum that nobody reads before they have ended: relaxed. */
static struct {
    _Atomic uint64_t operations, bytes;
} carried[OPIW_KINDS][OPIW_WAYS];

static const char *wanted(const char *name) {
    const char *s = getenv(name);
    return s && *s && strcmp(s, "0") != 0 ? s : NULL;
}

void opir_watch_load(void) {
    opir.check = wanted("OPI_CHECK") != NULL;
    opir.profile = wanted("OPI_PROFILE") != NULL;
}

void opiw_counted(enum opiw_kind kind, enum opiw_way way, size_t bytes) {
    if (!opir.profile)
        return;
    atomic_fetch_add_explicit(&carried[kind][way].operations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&carried[kind][way].bytes, bytes, memory_order_relaxed);
}

const void *opiw_caller(void) {
    return opir_site;
}

void opiw_say(const char *line) {
    opir_say("%s", line);
}

_Noreturn void opiw_die(const char *line) {
    opir_die("%s", line);
}

static void print(const struct opiw_counts *all) {
    fprintf(stderr, "libopi: profile of %d ranks\n", opir.size);
    opiw_table(all);
}

static void write_json(const char *file, const struct opiw_counts *all) {
    FILE *f = fopen(file, "w");
    if (f) {
        fprintf(f, "{\"version\": 1,\n \"ranks\": %d,\n ", opir.size);
        opiw_json(f, all);
        fprintf(f, "}\n");
    }
    if (!f || fclose(f) != 0)
        opir_say("OPI_PROFILE=%s: cannot be written", file);
}

void opir_profile_finish(void) {
    if (!opir.profile)
        return;
    struct opiw_counts mine, all = {0};
    for (int k = 0; k < OPIW_KINDS; k++)
        for (int w = 0; w < OPIW_WAYS; w++) {
            mine.of[k][w].operations = atomic_load_explicit(&carried[k][w].operations, memory_order_relaxed);
            mine.of[k][w].bytes = atomic_load_explicit(&carried[k][w].bytes, memory_order_relaxed);
        }
    if (PMPI_Reduce(&mine, &all, (int)(sizeof mine / sizeof(uint64_t)), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD) != MPI_SUCCESS || opir.process != 0)
        return;
    const char *file = wanted("OPI_PROFILE");
    if (file && strcmp(file, "1") != 0)
        write_json(file, &all);
    else
        print(&all);
}
