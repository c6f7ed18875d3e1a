/* watch.h - OPI_PROFILE and OPI_CHECK of windows: what watch.c has for both libraries, and what each of them fills in
 * (process/tools/windows.c, ranks/window/watch.c). */
#ifndef OPIW_WATCH_H
#define OPIW_WATCH_H

#include "shared/onesided/onesided.h"

#include <stdio.h>

#pragma GCC visibility push(hidden)

/* What windows carried, by operation and way.  Every field is a uint64_t: the ranks' figures are added up as one array. */
enum opiw_way {
    OPIW_DIRECT, /* loads and stores */
    OPIW_KERNEL, /* the kernel copies, or an accumulating origin lets it copy there and back */
    OPIW_BELOW,  /* the MPI below */
    OPIW_WAYS
};
struct opiw_counts {
    struct opiw_count {
        uint64_t operations, bytes;
    } of[OPIW_KINDS][OPIW_WAYS];
};
void opiw_table(const struct opiw_counts *c);
void opiw_json(FILE *f, const struct opiw_counts *c);

/* Of the log that lies beside a member's seat where OPI_CHECK is on: in memory that all members reach, zero when it is made. */
size_t opiw_log_bytes(void);

/* ---- the side -------------------------------------------------------------------------------------------------------------------------------- */

/* Counts an operation, where OPI_PROFILE is on. */
void opiw_counted(enum opiw_kind kind, enum opiw_way way, size_t bytes);
/* The return address of the call at work, where OPI_CHECK is on. */
const void *opiw_caller(void);
/* A line to the user; and one that ends the job. */
void opiw_say(const char *line);
_Noreturn void opiw_die(const char *line);

#pragma GCC visibility pop

#endif
