/* path.h - beginning a message: the ways of sends and gives (path.c), and receives (recv.c). */
#ifndef OPI_PATH_H
#define OPI_PATH_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

enum opi_mode { OPI_STANDARD, OPI_SYNC, OPI_BUFFERED };
bool opi_send_start(const void *buf, size_t count, struct opi_type *t, struct opi_comm *c, int dst, int tag, int mode, struct opi_req *r);
int opi_give_start(void *block, size_t count, struct opi_type *t, struct opi_comm *c, int dst, int tag, int mode, struct opi_req *r);
void opi_recv_start(struct opi_req *r);

#pragma GCC visibility pop

#endif
