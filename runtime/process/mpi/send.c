/* send.c - MPI_Send and its family. */
#include "process/base/alive.h"
#include "process/below/net.h"
#include "process/engine/path.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/mpi/p2p.h"
#include "process/objects/request.h"

OPI_COLD int opi_bad(MPI_Comm comm, int class, const char *call, const char *what, long long value) {
    opi_leave();
    int rc = opi_raise(comm, class, call, "%s (%lld)", what, value);
    opi_enter();
    return rc;
}

static __attribute__((noinline)) int send_block(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                                int mode) {
    struct opi_args a;
    opi_enter();
    int rc = opi_check(&a, call, count, type, dest, tag, comm, false);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    if (OPI_UNLIKELY(dest == MPI_PROC_NULL && a.c->active)) {
        opi_leave();
        return MPI_SUCCESS;
    }
    if (opi_null_buffer(&a, buf) && dest != MPI_PROC_NULL) {
        rc = opi_bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
        opi_leave();
        return rc;
    }
    int dst = opi_local_of(a.c, dest);
    if (OPI_UNLIKELY(dst < 0)) {
        bool idle = !opi_busy();
        opi.stat.net_msgs++;
        opi_leave();
        return opi_net_send(buf, (size_t)count, type, dest, tag, comm, mode, idle);
    }
    if (mode != OPI_SYNC && OPI_LIKELY(opi_send_fast(buf, &a, dst, tag))) {
        opi_leave();
        return MPI_SUCCESS;
    }
    struct opi_req r = {.on_stack = true};
    if (OPI_UNLIKELY(!opi_send_start(buf, (size_t)count, a.t, a.c, dst, tag, mode, &r))) {
        rc = opi_bad(comm, MPI_ERR_NO_MEM, call, "the shared heap is exhausted, bytes wanted", (long long)a.bytes);
        opi_leave();
        return rc;
    }
    if (!r.done && mode != OPI_BUFFERED)
        opi_req_wait(&r);
    rc = r.r_error;
    opi_leave();
    return OPI_LIKELY(rc == MPI_SUCCESS) ? rc : opi_raise(comm, rc, call, "%s", opi_reason(rc));
}

/* The short way out is a function of its own, so that it saves no registers. */
int opi_send_block(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, int mode) {
    if (OPI_UNLIKELY(opi_elsewhere(comm, dest)) && !opi_busy_outside()) {
        opi.stat.net_msgs++;
        return OPI_NATIVE;
    }
    return send_block(call, buf, count, type, dest, tag, comm, mode);
}

int opi_send_nonblock(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request,
                         int mode) {
    if (OPI_UNLIKELY(opi_elsewhere(comm, dest)) && count >= 0) {
        opi.stat.net_msgs++;
        return opi_net_isend(buf, (size_t)count, type, dest, tag, comm, mode, request);
    }
    struct opi_args a;
    opi_enter();
    int rc = opi_check(&a, call, count, type, dest, tag, comm, false);
    if (OPI_UNLIKELY(rc != MPI_SUCCESS)) {
        opi_leave();
        return rc;
    }
    if (OPI_UNLIKELY(dest == MPI_PROC_NULL && a.c->active)) {
        *request = opi_req_handle(&opi_sent);
        opi_leave();
        return MPI_SUCCESS;
    }
    if (opi_null_buffer(&a, buf) && dest != MPI_PROC_NULL) {
        rc = opi_bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
        opi_leave();
        return rc;
    }
    int dst = opi_local_of(a.c, dest);
    if (OPI_UNLIKELY(dst < 0)) {
        opi.stat.net_msgs++;
        opi_leave();
        return opi_net_isend(buf, (size_t)count, type, dest, tag, comm, mode, request);
    }
    if (mode != OPI_SYNC && OPI_LIKELY(opi_send_fast(buf, &a, dst, tag))) {
        *request = opi_req_handle(&opi_sent);
        opi_leave();
        return MPI_SUCCESS;
    }
    struct opi_req *r = opi_req_new(OPI_R_SENT);
    if (OPI_UNLIKELY(!opi_send_start(buf, (size_t)count, a.t, a.c, dst, tag, mode, r))) {
        opi_req_free(r);
        rc = opi_bad(comm, MPI_ERR_NO_MEM, call, "the shared heap is exhausted, bytes wanted", (long long)a.bytes);
        opi_leave();
        return rc;
    }
    if (r->done) {
        opi_req_free(r);
        *request = opi_req_handle(&opi_sent);
    } else {
        *request = opi_req_handle(r);
    }
    opi_leave();
    return MPI_SUCCESS;
}
