/* comm.h - communicators (comm.c). */
#ifndef OPI_COMM_H
#define OPI_COMM_H

#include "process/objects/handle.h"

#pragma GCC visibility push(hidden)

extern int *opi_local_of_world; /* world rank -> local index, -1 for ranks of other nodes */

struct opi_comm *opi_comm_slow(MPI_Comm c);
void opi_comm_release(struct opi_comm *c);
void opi_comm_adopt(MPI_Comm c);
void opi_comm_forget(void);
struct opi_comm *opi_comm_adopt_ctx(MPI_Comm c, uint64_t ctx);
void opi_comms_init(void);
void opi_comms_fini(void);
uint64_t opi_ctx_derive(uint64_t parent, uint64_t n);

/* The context of a communicator's exchanges (alltoall.c).  A context that rank 0 made has a world rank above its lower half, so this bit is free in it; in a
 * derived one it is as random as the others. */
static inline uint64_t opi_ctx_exchange(uint64_t ctx) {
    return ctx ^ (uint64_t)1 << 62;
}

#define OPI_COMM_CACHE 64
struct opi_comm_cache {
    MPI_Comm handle;
    struct opi_comm *comm;
};
extern struct opi_comm_cache opi_comm_cache[OPI_COMM_CACHE];

/* What we know of a communicator; NULL when it is invalid. */
static inline struct opi_comm *opi_comm_of(MPI_Comm c) {
    if (OPI_LIKELY(opi.last_comm && opi.last_comm_handle == c))
        return opi.last_comm;
    const struct opi_comm_cache *e = &opi_comm_cache[opi_handle_hash(&c, sizeof c) % OPI_COMM_CACHE];
    if (OPI_LIKELY(e->comm != NULL && e->handle == c)) {
        opi.last_comm_handle = c;
        return opi.last_comm = e->comm;
    }
    return opi_comm_slow(c);
}

#pragma GCC visibility pop

#endif
