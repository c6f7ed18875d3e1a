/* persist.c - persistent requests: the arguments of an operation, kept, and its running instance.
 *
 * MPI_Start runs the nonblocking call they stand for; the instance's request, ours or the MPI's, is kept in `native`.  The completion calls (request.c) look
 * through to it and leave the persistent request behind, inactive.  The program may free datatype and communicator before it starts the request again: the one is
 * duplicated, the other kept (comm.c). */
#include "process/base/export.h"
#include "process/below/net.h"
#include "process/engine/section.h"
#include "process/mpi/p2p.h"
#include "process/objects/request.h"

static int persist_check(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, bool recv) {
    struct opi_args a = {0};
    opi_enter();
    int rc = opi_check(&a, call, count, type, peer, tag, comm, recv);
    if (rc == MPI_SUCCESS && opi_null_buffer(&a, buf) && peer != MPI_PROC_NULL)
        rc = opi_bad(comm, MPI_ERR_BUFFER, call, "null buffer, count", (long long)count);
    opi_leave();
    return rc;
}

/* Starts an instance of a persistent operation as the nonblocking call it stands for. */
static int persist_go(struct opi_req *r) {
    MPI_Count n = (MPI_Count)r->count;
    return r->p_mode < 0 ? opi_recv_nonblock("MPI_Start", r->buf, n, r->p_type, r->p_peer, r->tag, r->p_comm, &r->native, false)
                         : opi_send_nonblock("MPI_Start", r->buf, n, r->p_type, r->p_peer, r->tag, r->p_comm, &r->native, r->p_mode);
}

int opi_persist_init(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request, int mode) {
    if (opi.disabled)
        return OPI_NATIVE;
    int rc = persist_check(call, buf, count, type, peer, tag, comm, mode < 0);
    if (rc != MPI_SUCCESS)
        return rc;
    MPI_Datatype kept = type;
    opi_enter();
    bool named = opi_type_for(type, count)->named;
    opi_leave();
    if (!named && (rc = PMPI_Type_dup(type, &kept)) != MPI_SUCCESS)
        return rc;
    opi_enter();
    struct opi_req *r = opi_req_new(OPI_R_PERSIST);
    r->buf = (void *)(uintptr_t)buf;
    r->count = (size_t)count;
    r->p_type = kept;
    r->p_peer = peer;
    r->p_mode = mode;
    r->p_owned = !named;
    r->p_comm = comm;
    r->p_known = opi_comm_of(comm);
    r->p_known->persistent++;
    r->p_known->refs++; /* what MPI_Comm_disconnect does not wait for */
    opi.npersist++;
    r->tag = tag;
    r->native = MPI_REQUEST_NULL;
    r->started = false;
    *request = opi_req_handle(r);
    opi_leave();
    return MPI_SUCCESS;
}

/* The end of a persistent request that is not running.  Inside enter/leave. */
void opi_persist_drop(struct opi_req *r) {
    if (r->p_owned)
        PMPI_Type_free(&r->p_type);
    opi.npersist--;
    r->p_known->persistent--;
    opi_comm_release(r->p_known);
    opi_req_free(r);
    opi_late_comms_poll();
}

static int start(MPI_Request *request) {
    if (!opi_is_ours(*request))
        return PMPI_Start(request);
    opi_enter();
    struct opi_req *r = opi_req_of_handle(*request);
    bool good = r && r->kind == OPI_R_PERSIST && !r->started;
    opi_leave();
    if (!good)
        return opi_raise(MPI_COMM_WORLD, MPI_ERR_REQUEST, "MPI_Start", "no inactive persistent request");
    r->started = true;
    int rc = persist_go(r);
    if (rc != MPI_SUCCESS)
        r->started = false;
    return rc;
}

EXPORT int MPI_Start(MPI_Request *request) {
    OPI_SENDER();
    return start(request);
}

EXPORT int MPI_Startall(int count, MPI_Request h[]) {
    int rc = MPI_SUCCESS;
    OPI_SENDER();
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = start(&h[i]);
    return rc;
}
