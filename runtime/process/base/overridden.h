/* overridden.h - functions of the MPI's names that are not libopi's (overridden.c). */
#ifndef OPI_OVERRIDDEN_H
#define OPI_OVERRIDDEN_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

/* The first of the MPI's names that somebody else's function has; NULL: all are libopi's.  Known once opi_overridden has looked. */
extern const char *opi_other;
void opi_overridden(void);
/* For a call whose request only libopi's own completion calls know: says so and ends, where one of the names is not libopi's. */
_Noreturn void opi_not_mine(const char *call);
static inline void opi_need_names(const char *call) {
    if (OPI_UNLIKELY(opi_other != NULL))
        opi_not_mine(call);
}

#pragma GCC visibility pop

#endif
