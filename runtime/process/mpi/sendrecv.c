/* sendrecv.c - calls that send and receive. */
#include "process/base/alive.h"
#include "process/base/export.h"
#include "process/base/overridden.h"
#include "process/engine/path.h"
#include "process/engine/section.h"
#include "process/heap/pool.h"
#include "process/mpi/p2p.h"
#include "process/objects/request.h"
#include "process/objects/revoke.h"

#include <stdlib.h>

int opi_sendrecv(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, bool gives, void *rbuf, MPI_Count rcount,
                    MPI_Datatype rtype, int source, int rtag, bool takes, MPI_Comm comm, MPI_Status *status) {
    MPI_Request rq = MPI_REQUEST_NULL, sq = MPI_REQUEST_NULL;
    void *taken = NULL;
    if (OPI_UNLIKELY(opi.broken) && !gives && !takes && opi_comm_refused(comm)) /* the MPI below says so, and at once */
        return OPI_NATIVE;
    /* The send goes out first when it only hands a pointer over: then one pointer may serve both ways. */
    int rc = opi_recv_nonblock(call, takes ? (void *)&taken : rbuf, rcount, rtype, source, rtag, comm, &rq, takes);
    if (rc != MPI_SUCCESS)
        return rc;
    if (gives) {
        bool sent;
        opi_enter();
        struct opi_req *r = NULL;
        rc = opi_give(call, (void *)(uintptr_t)sbuf, scount, stype, dest, stag, comm, OPI_STANDARD, &r, &sent);
        if (rc == MPI_SUCCESS && !sent)
            sq = opi_req_handle(r);
        else if (r)
            opi_req_free(r);
        opi_leave();
    } else {
        rc = opi_send_nonblock(call, sbuf, scount, stype, dest, stag, comm, &sq, OPI_STANDARD);
    }
    if (rc != MPI_SUCCESS) {
        MPI_Cancel(&rq);
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        if (taken) /* the message was there already */
            (OPI_Free)(&taken);
        return rc;
    }
    if (opi_is_ours(rq)) {
        opi_enter();
        struct opi_req *r = opi_req_of_handle(rq);
        if (!r->done)
            opi_req_wait(r);
        rc = opi_req_complete(r, status);
        bool raised = r->raised;
        opi_leave();
        if (takes && rbuf && taken)
            memcpy(rbuf, &taken, sizeof taken);
        if (rc != MPI_SUCCESS && !raised)
            opi_raise(comm, rc, call, "%s", opi_reason(rc));
    } else {
        rc = MPI_Wait(&rq, status);
    }
    int rc2 = MPI_Wait(&sq, MPI_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : rc2;
}

API int OPI_Givetake(void *sp, int sc, MPI_Datatype st, int dest, int stag, void *rp, int rc, MPI_Datatype rt, int source, int rtag, MPI_Comm comm,
                        MPI_Status *status) {
    OPI_SITE();
    OPI_SENDER();
    opi_need_names("OPI_Givetake");
    return opi_sendrecv("OPI_Givetake", sp, sc, st, dest, stag, true, rp, rc, rt, source, rtag, true, comm, status);
}

API int OPI_Giverecv(void *sp, int sc, MPI_Datatype st, int dest, int stag, void *rb, int rc, MPI_Datatype rt, int source, int rtag, MPI_Comm comm,
                        MPI_Status *status) {
    OPI_SITE();
    OPI_SENDER();
    opi_need_names("OPI_Giverecv");
    return opi_sendrecv("OPI_Giverecv", sp, sc, st, dest, stag, true, rb, rc, rt, source, rtag, false, comm, status);
}

API int OPI_Sendtake(const void *sb, int sc, MPI_Datatype st, int dest, int stag, void *rp, int rc, MPI_Datatype rt, int source, int rtag, MPI_Comm comm,
                        MPI_Status *status) {
    OPI_SITE();
    OPI_SENDER();
    opi_need_names("OPI_Sendtake");
    return opi_sendrecv("OPI_Sendtake", sb, sc, st, dest, stag, false, rp, rc, rt, source, rtag, true, comm, status);
}

/* From MPI_PROC_NULL nothing arrives: the buffer stays, and is sent as it is. */
static int send_only(void *block, int count, MPI_Datatype type, int dest, int stag, int rtag, MPI_Comm comm, MPI_Status *status) {
    static const char call[] = "OPI_Givetake_replace";
    if (block ? !opi_held_by_user(block) : count > 0 && dest != MPI_PROC_NULL)
        return opi_bad(comm, MPI_ERR_BUFFER, call, block ? "buffer that the caller does not own, address" : "null buffer, count",
                       block ? (long long)(intptr_t)block : (long long)count);
    int rc = opi_sendrecv(call, block, count, type, dest, stag, false, block, count, type, MPI_PROC_NULL, rtag, false, comm, status);
    return rc != OPI_NATIVE ? rc : PMPI_Sendrecv(block, count, type, dest, stag, NULL, 0, type, MPI_PROC_NULL, rtag, comm, status);
}

API int OPI_Givetake_replace(void *bufp, int count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm, MPI_Status *status) {
    OPI_SITE();
    OPI_SENDER();
    opi_need_names("OPI_Givetake_replace");
    if (OPI_UNLIKELY(source == MPI_PROC_NULL)) {
        void *block;
        memcpy(&block, bufp, sizeof block);
        return send_only(block, count, type, dest, stag, rtag, comm, status);
    }
    return opi_sendrecv("OPI_Givetake_replace", bufp, count, type, dest, stag, true, bufp, count, type, source, rtag, true, comm, status);
}

/* The outgoing data of a replace, packed aside so that the buffer can receive.  Bytes match any type signature here as on the wire below, both being packed
 * data of one architecture.  NULL with success: nothing is to be sent. */
static int set_aside(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int stag, MPI_Comm comm, void **aside, size_t *bytes) {
    struct opi_args a = {0};
    *aside = NULL;
    opi_enter();
    int rc = opi_check(&a, call, count, type, dest, stag, comm, false);
    if (rc == MPI_SUCCESS && opi_null_buffer(&a, buf))
        rc = opi_bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
    *bytes = dest == MPI_PROC_NULL ? 0 : a.bytes;
#if MPI_VERSION < 4
    if (rc == MPI_SUCCESS && a.bytes > INT32_MAX)
        rc = opi_bad(comm, MPI_ERR_COUNT, call, "more than 2 GiB, bytes", (long long)a.bytes);
#endif
    if (rc == MPI_SUCCESS && dest != MPI_PROC_NULL) {
        *aside = opi_pool_alloc(a.bytes);
        if (!*aside)
            *aside = malloc(a.bytes);
        if (!*aside)
            rc = opi_bad(comm, MPI_ERR_NO_MEM, call, "no memory for bytes", (long long)a.bytes);
        else if (a.bytes)
            opi_pack(a.t, buf, (size_t)count, *aside);
    }
    opi_leave();
    return rc;
}

static void drop_aside(void *aside) {
    if (!aside)
        return;
    opi_enter();
    opi_free_any(aside);
    opi_leave();
}

int opi_sendrecv_replace(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm,
                         MPI_Status *status) {
    void *aside;
    size_t bytes;
    int rc = set_aside(call, buf, count, type, dest, stag, comm, &aside, &bytes);
    if (rc == MPI_SUCCESS)
        rc = opi_sendrecv(call, aside, (MPI_Count)bytes, MPI_BYTE, dest, stag, false, buf, count, type, source, rtag, false, comm, status);
    drop_aside(aside);
    return rc;
}

/* ---- both ways, nonblocking ------------------------------------------------------------------------------------------------------------------------- */

/* One half of a pair: a request of ours, or the MPI's own in one of ours. */
static struct opi_req *half(MPI_Request h, int kind) {
    if (opi_is_ours(h))
        return opi_req_of_handle(h);
    struct opi_req *r = opi_req_new(kind);
    r->native = h;
    r->bytes_max = SIZE_MAX; /* the MPI below has seen to it */
    return r;
}

/* `aside` is freed when the request is. */
static int pair(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, void *rbuf, MPI_Count rcount, MPI_Datatype rtype,
                int source, int rtag, MPI_Comm comm, MPI_Request *request, void *aside) {
    MPI_Request rq = MPI_REQUEST_NULL, sq = MPI_REQUEST_NULL;
    int rc = opi_recv_nonblock(call, rbuf, rcount, rtype, source, rtag, comm, &rq, false);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = opi_send_nonblock(call, sbuf, scount, stype, dest, stag, comm, &sq, OPI_STANDARD);
    if (rc != MPI_SUCCESS) {
        MPI_Cancel(&rq);
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        return rc;
    }
    opi_enter();
    struct opi_req *r = opi_req_new(OPI_R_PAIR);
    r->first = half(rq, OPI_R_NETRECV);
    r->second = half(sq, OPI_R_NETSEND);
    r->block = aside;
    r->comm = opi_comm_of(comm);
    r->comm->refs++;
    *request = opi_req_handle(r);
    opi_leave();
    return MPI_SUCCESS;
}

int opi_isendrecv(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, void *rbuf, MPI_Count rcount, MPI_Datatype rtype,
                  int source, int rtag, MPI_Comm comm, MPI_Request *request) {
    return pair(call, sbuf, scount, stype, dest, stag, rbuf, rcount, rtype, source, rtag, comm, request, NULL);
}

int opi_isendrecv_replace(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm,
                          MPI_Request *request) {
    void *aside;
    size_t bytes;
    int rc = set_aside(call, buf, count, type, dest, stag, comm, &aside, &bytes);
    if (rc == MPI_SUCCESS)
        rc = pair(call, aside, (MPI_Count)bytes, MPI_BYTE, dest, stag, buf, count, type, source, rtag, comm, request, aside);
    if (rc != MPI_SUCCESS)
        drop_aside(aside);
    return rc;
}
