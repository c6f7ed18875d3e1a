/* revoke.h - revoked communicators (revoke.c). */
#ifndef OPI_REVOKE_H
#define OPI_REVOKE_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

void opi_comm_follow(struct opi_comm *c);
void opi_comm_unfollow(struct opi_comm *c);
void opi_revoke_poll(void);
bool opi_req_revoked(struct opi_req *r);
bool opi_comm_refused(MPI_Comm comm);

#pragma GCC visibility pop

#endif
