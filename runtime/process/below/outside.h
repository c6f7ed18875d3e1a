/* outside.h - what reaches beyond libopi's own messages: memory that is not the host's, and progress inside the MPI below. */
#ifndef OPI_OUTSIDE_H
#define OPI_OUTSIDE_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

/* device.c */
extern void *const *opi_device_newest; /* points to NULL while there can be no memory but the host's */
void opi_device_load(void);
void opi_device_begin(void);
struct opi_type *opi_device_type(struct opi_type *t, const void *buf);

/* objects/expose.c */
struct opiw_desk *opi_expose(void);
void opi_cover(void);

/* hook.c */
void opi_hook_set(void);
void opi_hook_end(void);
int opi_hook_threads(int required);

#pragma GCC visibility pop

#endif
