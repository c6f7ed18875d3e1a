/* net.h - messages that the MPI below carries (net.c). */
#ifndef OPI_NET_H
#define OPI_NET_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

int opi_net_send(const void *buf, size_t count, MPI_Datatype t, int dest, int tag, MPI_Comm comm, int mode, bool threads_idle);
int opi_net_isend(const void *buf, size_t count, MPI_Datatype t, int dest, int tag, MPI_Comm comm, int mode, MPI_Request *req);
int opi_net_imrecv(void *buf, MPI_Count count, MPI_Datatype t, MPI_Message *message, MPI_Request *req);
int opi_net_irecv(void *buf, size_t count, MPI_Datatype t, int source, int tag, MPI_Comm comm, MPI_Request *req);
bool opi_net_must_hold(const struct opi_comm *c, int source, int tag);
void opi_net_hold(struct opi_req *r);
void opi_net_unhold(struct opi_req *r);
void opi_net_try(void);
void opi_net_poll(void);
void opi_net_retire_req(struct opi_req *r);
void opi_net_retired_poll(bool all);
bool opi_comm_free_later(MPI_Comm c);
void opi_late_comms_poll(void);

#pragma GCC visibility pop

#endif
