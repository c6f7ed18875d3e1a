/* alive.h - ranks of this node that have died (alive.c). */
#ifndef OPI_ALIVE_H
#define OPI_ALIVE_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

#define OPI_ALIVE_UNKNOWN 0 /* when a process began, where that does not show */

uint64_t opi_alive_begun(int pid);
void opi_alive_begin(uint64_t *begun);
void opi_alive_end(void);
void opi_look_alive(void);
bool opi_died(int local); /* -1: some rank */
bool opi_comm_lost(const struct opi_comm *c, int local);
bool opi_req_lost(struct opi_req *r);
int opi_lost_class(void);
const char *opi_reason(int class);

#pragma GCC visibility pop

#endif
