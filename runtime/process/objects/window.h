/* window.h - windows of process ranks by their handles: the MPI's handle is the program's. */
#ifndef OPI_OBJECTS_WINDOW_H
#define OPI_OBJECTS_WINDOW_H

#include "process/base/types.h"
#include "shared/onesided/onesided.h"

#pragma GCC visibility push(hidden)

/* What libopi keeps of a window beside struct opiw_win.  Constant once the window is made, but for `next`. */
struct opi_win {
    struct opi_win *next;
    MPI_Win handle;
    struct opiw_win *w;
    MPI_Group group;
    void *block; /* memory that MPI_Win_allocate's is in */
    int flavor, model;
    bool exposes; /* counted in `exposed` (expose.c) */
};

/* Inside the section. */
void opi_win_keep(struct opi_win *x);
void opi_win_forget(struct opi_win *x);

#pragma GCC visibility pop

#endif
