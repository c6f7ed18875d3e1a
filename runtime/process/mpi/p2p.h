/* p2p.h - what the calls of point-to-point communication share: their arguments, looked up and checked, and the short ways that most messages take. */
#ifndef OPI_P2P_H
#define OPI_P2P_H

#include "process/base/error.h"
#include "process/below/outside.h"
#include "process/engine/ring.h"
#include "process/objects/comm.h"
#include "process/objects/datatype.h"
#include "process/tools/check.h"
#include "process/tools/profile.h"

#pragma GCC visibility push(hidden)

/* What the functions of the MPI's names return when the MPI's own function is to be called in their place: nothing of ours is concerned.  No error code. */
#define OPI_NATIVE (-1)

struct opi_args {
    const char *call;
    struct opi_comm *c;
    struct opi_type *t;
    size_t bytes;
};

/* Raises an error from inside enter/leave, and returns its class. */
int opi_bad(MPI_Comm comm, int class, const char *call, const char *what, long long value) OPI_COLD;

/* The type of a message of `count`; NULL when it is invalid.  MPICH looks at a type only where there is something of it, in point-to-point calls (recvnull, nonblocking_pready of its
 * suite); Open MPI refuses a null type in any case. */
static inline struct opi_type *opi_type_for(MPI_Datatype t, MPI_Count count) {
    struct opi_type *type = opi_type_of(t);
#if defined(MPICH_VERSION)
    if (OPI_UNLIKELY(!type) && t == MPI_DATATYPE_NULL && count == 0)
        type = opi_type_of(MPI_BYTE);
#endif
    (void)count;
    return type;
}

/* Looks the handles up and checks the envelope.  Inside enter/leave.  Returns an error class that has been raised. */
static inline int opi_check(struct opi_args *a, const char *call, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, bool recv) {
    a->call = call;
    if (OPI_UNLIKELY(!opi.mpi_running)) {
        if (call[0] != 'O')
            return OPI_NATIVE;
        opi_die("%s called %s", call, opi.mpi_over ? "after MPI_Finalize" : "before MPI_Init");
    }
    a->c = opi_comm_of(comm);
    if (OPI_UNLIKELY(!a->c))
        return opi_bad(MPI_COMM_WORLD, MPI_ERR_COMM, call, "null or invalid communicator", 0);
    if (OPI_UNLIKELY(count < 0))
        return opi_bad(comm, MPI_ERR_COUNT, call, "negative count", (long long)count);
    a->t = opi_type_for(type, count);
    if (OPI_UNLIKELY(!a->t))
        return opi_bad(comm, MPI_ERR_TYPE, call, "null or invalid datatype", 0);
    if (OPI_UNLIKELY((tag < 0 && !(recv && tag == MPI_ANY_TAG)) || tag > a->c->tag_ub) && peer != MPI_PROC_NULL)
        return opi_bad(comm, MPI_ERR_TAG, call, "invalid tag", tag);
    if (OPI_UNLIKELY((peer < 0 || peer >= a->c->size) && peer != MPI_PROC_NULL && !(recv && peer == MPI_ANY_SOURCE)))
        return opi_bad(comm, MPI_ERR_RANK, call, "invalid rank", peer);
    a->bytes = (size_t)count * a->t->size;
    return MPI_SUCCESS;
}

/* The buffer of a call, looked at: is it NULL though it must not be?  Where it is not the host's, the MPI below packs it. */
static inline bool opi_null_buffer(struct opi_args *a, const void *buf) {
    opi_check_use(a->call, buf, a->bytes);
    if (OPI_UNLIKELY(*opi_device_newest != NULL) && a->bytes)
        a->t = opi_device_type(a->t, buf);
    return OPI_UNLIKELY(buf == NULL && a->bytes && a->t->named);
}

/* Local index of a peer whose messages are ours, else -1. */
static inline int opi_local_of(const struct opi_comm *c, int peer) {
    return OPI_LIKELY(c->active) ? c->local_of_rank[peer] : -1;
}

/* The paths that most calls take: the communicator and datatype of the call before, a peer of this node, nothing out of order.  False: nothing was done,
 * and the long way sorts out why. */
static inline bool opi_usual(MPI_Comm comm, MPI_Datatype type, MPI_Count count, int peer, int tag) {
    const struct opi_comm *c = opi.last_comm;
    return OPI_LIKELY(!opi.special && c && opi.last_comm_handle == comm && c->active && opi.last_type && opi.last_type_handle == type &&
                      opi.last_type->contiguous && count >= 0 && (unsigned)tag <= (unsigned)c->tag_ub && (unsigned)peer < (unsigned)c->size);
}

/* A peer that only the MPI below reaches, on the communicator of the call before: the shortest way out, since there a message takes little longer than our
 * checks do.  The MPI below checks its arguments itself.  Not with MPI_THREAD_MULTIPLE: nothing is locked yet. */
static inline bool opi_elsewhere(MPI_Comm comm, int peer) {
    if (OPI_UNLIKELY(opi.special))
        return false;
    const struct opi_comm *c = opi.last_comm;
    return c && c->mixed && opi.last_comm_handle == comm && c->active &&
           (unsigned)peer < (unsigned)c->size && c->local_of_rank[peer] < 0;
}

/* The path that most messages take: small and contiguous, room in the ring. */
static inline bool opi_send_fast(const void *buf, const struct opi_args *a, int dst, int tag) {
    if (OPI_UNLIKELY(!a->t->contiguous || dst == opi.me))
        return false;
    if (a->bytes > OPI_INLINE_MAX)
        return a->bytes <= opi.inline_limit && opi_ring_long(dst, a->c->ctx, tag, buf, a->bytes);
    struct opi_slot *s = opi_ring_slot(dst);
    if (OPI_UNLIKELY(!s))
        return false;
    s->tag = tag;
    s->ctx = a->c->ctx;
    if (a->bytes)
        memcpy(s->u.data, buf, a->bytes);
    opi_ring_publish(dst, s, OPI_K_INLINE, a->bytes);
    opi.stat.inline_msgs++;
    opi_profile_sent(OPI_W_INLINE, dst, a->bytes);
    return true;
}

/* send.c */
int opi_send_block(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, int mode);
int opi_send_nonblock(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request,
                         int mode);

/* recv.c */
int opi_recv_block(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status, bool take);
int opi_recv_nonblock(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request,
                         bool take);
bool opi_irecv_fast(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request, bool take);
void opi_recv_matched(struct opi_req *r, const struct opi_args *a, void *buf, size_t count, struct opi_umsg *m);

/* give.c: *sent tells whether the give is complete, else *rp is its request */
int opi_give(const char *call, void *bufp, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, int mode, struct opi_req **rp, bool *sent);

/* sendrecv.c */
int opi_sendrecv(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, bool gives, void *rbuf, MPI_Count rcount,
                    MPI_Datatype rtype, int source, int rtag, bool takes, MPI_Comm comm, MPI_Status *status);
int opi_sendrecv_replace(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm,
                            MPI_Status *status);
int opi_isendrecv(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, void *rbuf, MPI_Count rcount, MPI_Datatype rtype,
                  int source, int rtag, MPI_Comm comm, MPI_Request *request);
int opi_isendrecv_replace(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm,
                          MPI_Request *request);

/* alltoall.c: the arrays are of int, or, `large`, of MPI_Count and MPI_Aint */
int opi_alltoall(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, void *rbuf, MPI_Count rcount, MPI_Datatype rtype, MPI_Comm comm);
int opi_alltoallv(const char *call, const void *sbuf, const void *scounts, const void *splaces, MPI_Datatype stype, void *rbuf, const void *rcounts,
                  const void *rplaces, MPI_Datatype rtype, MPI_Comm comm, bool large);
int opi_alltoallw(const char *call, const void *sbuf, const void *scounts, const void *splaces, const MPI_Datatype stypes[], void *rbuf, const void *rcounts,
                  const void *rplaces, const MPI_Datatype rtypes[], MPI_Comm comm, bool large);

/* probe.c: without `message` a probe, with it a matched one */
int opi_probe(const char *call, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int opi_iprobe(const char *call, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status);
int opi_mrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status);
int opi_imrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request);

/* persist.c: mode is an opi_mode, -1 for a receive */
int opi_persist_init(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request, int mode);

/* onesided.c */
int opi_win_create(void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *win);
int opi_win_allocate(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win, int flavor);
int opi_win_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win);
int opi_win_free(const char *call, MPI_Win *win);
/* objects/window.c */
int opi_win_get_attr(MPI_Win win, int keyval, void *value, int *flag);
int opi_win_shared_query(MPI_Win win, int rank, MPI_Aint *size, void *unit, size_t unit_bytes, void *baseptr);

#pragma GCC visibility pop

#endif
