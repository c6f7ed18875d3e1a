/* give.c - gives and takes: the calls of opi.h that pass ownership one way. */
#include "process/base/export.h"
#include "process/base/overridden.h"
#include "process/below/net.h"
#include "process/engine/deliver.h"
#include "process/engine/path.h"
#include "process/engine/section.h"
#include "process/heap/heap.h"
#include "process/mpi/p2p.h"
#include "process/objects/request.h"

static inline bool give_fast(void *block, const struct opi_args *a, int dst, int tag) {
    if (a->bytes <= OPI_INLINE_MAX) {
        if (!opi_send_fast(block, a, dst, tag))
            return false;
        if (block)
            opi_pool_free(block);
        return true;
    }
    if (OPI_UNLIKELY(!a->t->contiguous || dst == opi.me))
        return false;
    struct opi_slot *s = opi_ring_slot(dst);
    if (OPI_UNLIKELY(!s) || OPI_UNLIKELY(!opi_account(dst, a->bytes)))
        return false;
    s->tag = tag;
    s->ctx = a->c->ctx;
    s->u.ref.ptr = block;
    s->u.ref.size = a->bytes;
    opi_ring_publish(dst, s, OPI_K_BLOCK, OPI_LEN_ACCOUNTED);
    opi.stat.give_msgs++;
    opi_profile_sent(OPI_W_GIVE, dst, a->bytes);
    return true;
}

#define SPARE_FROM ((size_t)256 << 10)

/* A large block of which a message would take the room along for a few bytes, or the last room that there is: the message goes in a copy of its own size.
 * NULL where the block itself may go. */
OPI_COLD static void *smaller(const void *block, int cls, size_t bytes) {
    if (opi.check || !opi_heap_scarce(cls, bytes) || opi_class_of_size(bytes) >= cls)
        return NULL;
    void *copy = opi_pool_alloc(bytes);
    if (copy) {
        memcpy(copy, block, bytes);
        opi_profile_copied(bytes);
    }
    return copy;
}

/* A give that leaves at once. */
static inline bool give_whole(void *bufp, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    opi_enter();
    if (OPI_UNLIKELY(!opi_usual(comm, type, count, dest, tag))) {
        opi_leave();
        return false;
    }
    struct opi_comm *c = opi.last_comm;
    int dst = c->local_of_rank[dest];
    size_t bytes = (size_t)count * opi.last_type->size;
    void *block, *null = NULL;
    memcpy(&block, bufp, sizeof block);
    uint8_t *held = opi_held_by_user(block);
    struct opi_slot *s;
    if (OPI_UNLIKELY(dst < 0 || dst == opi.me || !held || bytes > opi_class_bytes[*held - 1] ||
                     (opi_class_bytes[*held - 1] >= SPARE_FROM && opi_heap_scarce(*held - 1, bytes)) || !(s = opi_ring_slot(dst)))) {
        opi_leave();
        return false;
    }
    s->tag = tag;
    s->ctx = c->ctx;
    if (bytes <= OPI_INLINE_MAX) {
        memcpy(s->u.data, block, OPI_INLINE_MAX); /* every block is larger */
        opi_ring_publish(dst, s, OPI_K_INLINE, bytes);
        opi_pool_free_class(block, *held - 1);
        opi.stat.inline_msgs++;
    } else {
        if (OPI_UNLIKELY(!opi_account(dst, bytes))) {
            opi_leave();
            return false;
        }
        s->u.ref.ptr = block;
        s->u.ref.size = bytes;
        opi_ring_publish(dst, s, OPI_K_BLOCK, OPI_LEN_ACCOUNTED);
        opi.stat.give_msgs++;
    }
    *held = 0;
    memcpy(bufp, &null, sizeof null);
    opi_leave();
    return true;
}

/* Starts a give; *sent tells whether it is complete, else r is its request.  mode: OPI_STANDARD, or OPI_SYNC: it is complete when somebody receives it.
 * Errors were raised, and left pointer and ownership. */
int opi_give(const char *call, void *bufp, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, int mode, struct opi_req **rp, bool *sent) {
    struct opi_args a = {0};
    int rc = opi_check(&a, call, count, type, dest, tag, comm, false);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS))
        return rc;
    void *block, *null = NULL;
    memcpy(&block, bufp, sizeof block);
    uint8_t *held = opi_held_by_user(block);
    if (OPI_UNLIKELY(!held) && !(block == NULL && (count == 0 || dest == MPI_PROC_NULL))) {
        if (block)
            opi_check_bad(call, block);
        return opi_bad(comm, MPI_ERR_BUFFER, call, block ? "buffer that the caller does not own, address" : "null buffer, count",
                   block ? (long long)(intptr_t)block : (long long)count);
    }
    *sent = true;
    if (OPI_UNLIKELY(dest == MPI_PROC_NULL)) {
        if (block) {
            int cls = *held - 1;
            *held = 0;
            if (OPI_UNLIKELY(opi.check))
                opi_check_gone(block, OPI_B_GIVEN);
            opi_pool_free_class(block, cls);
        }
        memcpy(bufp, &null, sizeof null);
        return MPI_SUCCESS;
    }
    if (OPI_UNLIKELY(block && (ptrdiff_t)a.bytes > 0 &&
                     ((size_t)(a.t->contiguous ? (ptrdiff_t)a.bytes : a.t->extent * ((ptrdiff_t)count - 1) + a.t->true_lb + a.t->true_extent) >
                          opi_class_size(*held - 1) ||
                      a.t->true_lb < 0)))
        return opi_bad(comm, MPI_ERR_BUFFER, call, "more elements than the buffer holds, count", (long long)count);
    void *users = block; /* OPI_CHECK may give another block in its place */
    if (OPI_UNLIKELY(opi.check) && block) {
        block = opi_check_unshifted(users, a.bytes);
        if (!block)
            return opi_bad(comm, MPI_ERR_NO_MEM, call, "the shared heap is exhausted, bytes wanted", (long long)a.bytes);
        opi_check_gone(users, OPI_B_GIVEN);
    }
    int dst = opi_local_of(a.c, dest), cls = held ? *held - 1 : 0;
    void *spared = NULL; /* the user's block, where a copy goes */
    if (OPI_UNLIKELY(held && dst >= 0 && a.t->contiguous && a.bytes > OPI_INLINE_MAX && opi_class_bytes[cls] >= SPARE_FROM)) {
        void *copy = smaller(block, cls, a.bytes);
        if (copy) {
            spared = block;
            block = copy;
        }
    }
    if (OPI_UNLIKELY(dst < 0)) {
        opi.stat.net_msgs++;
        struct opi_req *r = *rp ? *rp : (*rp = opi_req_new(OPI_R_SENT));
        rc = opi_net_isend(block, (size_t)count, type, dest, tag, comm, mode, &r->native);
        if (rc != MPI_SUCCESS) {
            if (OPI_UNLIKELY(opi.check))
                opi_check_still(users, block);
            return rc;
        }
        r->kind = OPI_R_NETSEND;
        r->block = block;
        r->done = false;
        r->comm = NULL;
        r->type = NULL;
        *sent = false;
    } else if (OPI_UNLIKELY(mode == OPI_SYNC || !give_fast(block, &a, dst, tag))) {
        struct opi_req *r = *rp ? *rp : (*rp = opi_req_new(OPI_R_SENT));
        rc = opi_give_start(block, (size_t)count, a.t, a.c, dst, tag, mode, r);
        if (rc != MPI_SUCCESS) {
            if (OPI_UNLIKELY(opi.check))
                opi_check_still(users, block);
            if (spared)
                opi_pool_free(block);
            return opi_bad(comm, rc, call, "the shared heap is exhausted, bytes wanted", (long long)a.bytes);
        }
        *sent = r->done;
    }
    if (OPI_UNLIKELY(opi.check) && block && (dst >= 0 || block != users)) /* the MPI below still reads what it sends */
        opi_check_given(users, block);
    if (block)
        *held = 0;
    if (OPI_UNLIKELY(spared != NULL))
        opi_pool_free_class(spared, cls);
    memcpy(bufp, &null, sizeof null);
    return MPI_SUCCESS;
}

/* A give up to its end. */
static int give_block(const char *call, void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, int mode) {
    struct opi_req *r = NULL;
    bool sent;
    opi_enter();
    int rc = opi_give(call, bufp, count, type, dest, tag, comm, mode, &r, &sent);
    if (OPI_UNLIKELY(r != NULL)) {
        if (rc == MPI_SUCCESS) {
            opi_req_wait(r);
            rc = opi_req_complete(r, MPI_STATUS_IGNORE);
            if (OPI_UNLIKELY(rc != MPI_SUCCESS))
                rc = opi_bad(comm, rc, call, "the message could not be sent, error class", rc);
        } else {
            opi_req_free(r);
        }
    }
    opi_leave();
    return rc;
}

API int OPI_Give(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    if (OPI_LIKELY(give_whole(bufp, count, type, dest, tag, comm)))
        return MPI_SUCCESS;
    OPI_SITE();
    OPI_SENDER();
    return give_block("OPI_Give", bufp, count, type, dest, tag, comm, OPI_STANDARD);
}

API int OPI_Sgive(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    OPI_SITE();
    OPI_SENDER();
    opi_need_names("OPI_Sgive");
    return give_block("OPI_Sgive", bufp, count, type, dest, tag, comm, OPI_SYNC);
}

OPI_COLD static int igive_slow(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    bool sent;
    struct opi_req *r = NULL;
    opi_enter();
    int rc = opi_give("OPI_Igive", bufp, count, type, dest, tag, comm, OPI_STANDARD, &r, &sent);
    if (OPI_LIKELY(rc == MPI_SUCCESS))
        *request = opi_req_handle(sent ? &opi_sent : r);
    if (OPI_UNLIKELY(r != NULL) && (rc != MPI_SUCCESS || sent))
        opi_req_free(r);
    opi_leave();
    return rc;
}

API int OPI_Igive(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    if (OPI_LIKELY(give_whole(bufp, count, type, dest, tag, comm))) {
        *request = opi_req_handle(&opi_sent);
        return MPI_SUCCESS;
    }
    OPI_SITE();
    OPI_SENDER();
    opi_need_names("OPI_Igive");
    return igive_slow(bufp, count, type, dest, tag, comm, request);
}

API int OPI_Take(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    OPI_SITE();
    return opi_recv_block("OPI_Take", bufp, count, type, source, tag, comm, status, true);
}

API int OPI_Itake(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    if (OPI_LIKELY(opi_irecv_fast(bufp, count, type, source, tag, comm, request, true)))
        return MPI_SUCCESS;
    OPI_SITE();
    opi_need_names("OPI_Itake");
    return opi_recv_nonblock("OPI_Itake", bufp, count, type, source, tag, comm, request, true);
}

/* ---- takes in the place of what is there ------------------------------------------------------------------------------------------------------------ */

/* Reads the caller's pointer.  An error where it names memory that the caller does not own. */
static int replaced(const char *call, const void *bufp, MPI_Comm comm, void **old) {
    if (!bufp)
        return opi_bad(comm, MPI_ERR_BUFFER, call, "null address of a pointer, count", 1);
    memcpy(old, bufp, sizeof *old);
    if (OPI_LIKELY(!*old || opi_held_by_user(*old)))
        return MPI_SUCCESS;
    opi_check_bad(call, *old);
    return opi_bad(comm, MPI_ERR_BUFFER, call, "buffer that the caller does not own, address", (long long)(intptr_t)*old);
}

/* What was there goes where something else has come, or will come; else it is the caller's as before. */
static void settle(void *bufp, void *old, bool coming) {
    void *now;
    memcpy(&now, bufp, sizeof now);
    if (coming || (now && now != old))
        opi_free_owned(old);
    else
        memcpy(bufp, &old, sizeof old);
}

API int OPI_Take_replace(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    static const char call[] = "OPI_Take_replace";
    OPI_SITE();
    void *old = NULL;
    int rc = replaced(call, bufp, comm, &old);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS))
        return rc;
    if (source == MPI_PROC_NULL) {
        rc = opi_recv_block(call, bufp, count, type, source, tag, comm, status, false);
        return rc != OPI_NATIVE ? rc : PMPI_Recv(bufp, count, type, source, tag, comm, status);
    }
    rc = opi_recv_block(call, bufp, count, type, source, tag, comm, status, true);
    settle(bufp, old, false);
    return rc;
}

API int OPI_Itake_replace(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    static const char call[] = "OPI_Itake_replace";
    OPI_SITE();
    opi_need_names(call);
    void *old = NULL;
    int rc = replaced(call, bufp, comm, &old);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS))
        return rc;
    if (source == MPI_PROC_NULL) {
        rc = opi_recv_nonblock(call, bufp, count, type, source, tag, comm, request, false);
        return rc != OPI_NATIVE ? rc : PMPI_Irecv(bufp, count, type, source, tag, comm, request);
    }
    if (!opi_irecv_fast(bufp, count, type, source, tag, comm, request, true))
        rc = opi_recv_nonblock(call, bufp, count, type, source, tag, comm, request, true);
    settle(bufp, old, rc == MPI_SUCCESS);
    return rc;
}
