/* names.c - the MPI's names of what the files beside this one do.
 *
 * Written by `python -m opi_xform.bindings` from mpi.h and opi_xform/bindings/table.toml: change those.  Each function asks libopi first; OPI_NATIVE means that
 * nothing of libopi's is concerned. */
#include "process/base/export.h"
#include "process/engine/path.h"
#include "process/mpi/p2p.h"
#include "shared/onesided/onesided.h"

EXPORT int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_send_block("MPI_Send", buf, count, datatype, dest, tag, comm, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Send(buf, count, datatype, dest, tag, comm);
}

EXPORT int MPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_send_block("MPI_Rsend", buf, count, datatype, dest, tag, comm, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rsend(buf, count, datatype, dest, tag, comm);
}

EXPORT int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_send_block("MPI_Ssend", buf, count, datatype, dest, tag, comm, OPI_SYNC);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Ssend(buf, count, datatype, dest, tag, comm);
}

EXPORT int MPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_send_block("MPI_Bsend", buf, count, datatype, dest, tag, comm, OPI_BUFFERED);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Bsend(buf, count, datatype, dest, tag, comm);
}

EXPORT int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_send_nonblock("MPI_Isend", buf, count, datatype, dest, tag, comm, request, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_send_nonblock("MPI_Irsend", buf, count, datatype, dest, tag, comm, request, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Irsend(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_send_nonblock("MPI_Issend", buf, count, datatype, dest, tag, comm, request, OPI_SYNC);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Issend(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_send_nonblock("MPI_Ibsend", buf, count, datatype, dest, tag, comm, request, OPI_BUFFERED);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Ibsend(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    int rc = opi_recv_block("MPI_Recv", buf, count, datatype, source, tag, comm, status, false);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

EXPORT int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = OPI_LIKELY(opi_irecv_fast(buf, count, datatype, source, tag, comm, request, false)) ? MPI_SUCCESS : opi_recv_nonblock("MPI_Irecv", buf, count, datatype, source, tag, comm, request, false);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
}

EXPORT int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    OPI_SENDER();
    int rc = opi_sendrecv("MPI_Sendrecv", sendbuf, sendcount, sendtype, dest, sendtag, false, recvbuf, recvcount, recvtype, source, recvtag, false, comm, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}

EXPORT int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    OPI_SENDER();
    int rc = opi_sendrecv_replace("MPI_Sendrecv_replace", buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
}

EXPORT int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_alltoall("MPI_Alltoall", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

EXPORT int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_alltoallv("MPI_Alltoallv", sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, sizeof *sendcounts > sizeof(int));
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

EXPORT int MPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_alltoallw("MPI_Alltoallw", sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, sizeof *sendcounts > sizeof(int));
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    int rc = opi_probe("MPI_Probe", source, tag, comm, NULL, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Probe(source, tag, comm, status);
}

EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    int rc = opi_iprobe("MPI_Iprobe", source, tag, comm, flag, NULL, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Iprobe(source, tag, comm, flag, status);
}

EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    int rc = opi_probe("MPI_Mprobe", source, tag, comm, message, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Mprobe(source, tag, comm, message, status);
}

EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    int rc = opi_iprobe("MPI_Improbe", source, tag, comm, flag, message, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Improbe(source, tag, comm, flag, message, status);
}

EXPORT int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status) {
    int rc = opi_mrecv("MPI_Mrecv", buf, count, datatype, message, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Mrecv(buf, count, datatype, message, status);
}

EXPORT int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request) {
    int rc = opi_imrecv("MPI_Imrecv", buf, count, datatype, message, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Imrecv(buf, count, datatype, message, request);
}

EXPORT int MPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Send_init", buf, count, datatype, dest, tag, comm, request, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Send_init(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Rsend_init", buf, count, datatype, dest, tag, comm, request, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rsend_init(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Ssend_init", buf, count, datatype, dest, tag, comm, request, OPI_SYNC);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Ssend_init(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Bsend_init", buf, count, datatype, dest, tag, comm, request, OPI_BUFFERED);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Bsend_init(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Recv_init", buf, count, datatype, source, tag, comm, request, -1);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Recv_init(buf, count, datatype, source, tag, comm, request);
}

EXPORT int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    int rc = opi_win_create(base, size, disp_unit, info, comm, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_create(base, size, disp_unit, info, comm, win);
}

EXPORT int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win) {
    int rc = opi_win_allocate(size, disp_unit, info, comm, baseptr, win, MPI_WIN_FLAVOR_ALLOCATE);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_allocate(size, disp_unit, info, comm, baseptr, win);
}

EXPORT int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win) {
    int rc = opi_win_allocate(size, disp_unit, info, comm, baseptr, win, MPI_WIN_FLAVOR_SHARED);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
}

EXPORT int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    int rc = opi_win_dynamic(info, comm, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_create_dynamic(info, comm, win);
}

EXPORT int MPI_Win_free(MPI_Win *win) {
    int rc = opi_win_free("MPI_Win_free", win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_free(win);
}

EXPORT int MPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag) {
    int rc = opi_win_get_attr(win, win_keyval, attribute_val, flag);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_get_attr(win, win_keyval, attribute_val, flag);
}

EXPORT int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_put("MPI_Put", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, NULL);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
}

EXPORT int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_get("MPI_Get", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, NULL);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
}

EXPORT int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_accumulate("MPI_Accumulate", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, NULL);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
}

EXPORT int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_get_accumulate("MPI_Get_accumulate", origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, NULL);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
}

EXPORT int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request) {
    OPI_SITE();
    int rc = opiw_put("MPI_Rput", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
}

EXPORT int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request) {
    OPI_SITE();
    int rc = opiw_get("MPI_Rget", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
}

EXPORT int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    OPI_SITE();
    int rc = opiw_accumulate("MPI_Raccumulate", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
}

EXPORT int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    OPI_SITE();
    int rc = opiw_get_accumulate("MPI_Rget_accumulate", origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
}

EXPORT int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_fetch_and_op("MPI_Fetch_and_op", origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}

EXPORT int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_compare_and_swap("MPI_Compare_and_swap", origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
}

EXPORT int MPI_Win_fence(int assert, MPI_Win win) {
    int rc = opiw_fence("MPI_Win_fence", assert, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_fence(assert, win);
}

EXPORT int MPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
    int rc = opiw_post("MPI_Win_post", group, assert, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_post(group, assert, win);
}

EXPORT int MPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
    int rc = opiw_start("MPI_Win_start", group, assert, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_start(group, assert, win);
}

EXPORT int MPI_Win_complete(MPI_Win win) {
    int rc = opiw_complete_epoch("MPI_Win_complete", win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_complete(win);
}

EXPORT int MPI_Win_wait(MPI_Win win) {
    int rc = opiw_wait_epoch("MPI_Win_wait", win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_wait(win);
}

EXPORT int MPI_Win_test(MPI_Win win, int *flag) {
    int rc = opiw_test_epoch("MPI_Win_test", win, flag);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_test(win, flag);
}

EXPORT int MPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
    int rc = opiw_lock("MPI_Win_lock", lock_type, rank, assert, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_lock(lock_type, rank, assert, win);
}

EXPORT int MPI_Win_unlock(int rank, MPI_Win win) {
    int rc = opiw_unlock("MPI_Win_unlock", rank, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_unlock(rank, win);
}

EXPORT int MPI_Win_lock_all(int assert, MPI_Win win) {
    int rc = opiw_lock_all("MPI_Win_lock_all", assert, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_lock_all(assert, win);
}

EXPORT int MPI_Win_unlock_all(MPI_Win win) {
    int rc = opiw_unlock_all("MPI_Win_unlock_all", win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_unlock_all(win);
}

EXPORT int MPI_Win_flush(int rank, MPI_Win win) {
    int rc = opiw_flush("MPI_Win_flush", rank, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_flush(rank, win);
}

EXPORT int MPI_Win_flush_local(int rank, MPI_Win win) {
    int rc = opiw_flush("MPI_Win_flush_local", rank, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_flush_local(rank, win);
}

EXPORT int MPI_Win_flush_all(MPI_Win win) {
    int rc = opiw_flush_all("MPI_Win_flush_all", win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_flush_all(win);
}

EXPORT int MPI_Win_flush_local_all(MPI_Win win) {
    int rc = opiw_flush_all("MPI_Win_flush_local_all", win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_flush_local_all(win);
}

EXPORT int MPI_Win_sync(MPI_Win win) {
    int rc = opiw_sync("MPI_Win_sync", win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_sync(win);
}

#if MPI_VERSION >= 4
EXPORT int MPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_send_block("MPI_Send_c", buf, count, datatype, dest, tag, comm, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Send_c(buf, count, datatype, dest, tag, comm);
}

EXPORT int MPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_send_block("MPI_Rsend_c", buf, count, datatype, dest, tag, comm, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rsend_c(buf, count, datatype, dest, tag, comm);
}

EXPORT int MPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_send_block("MPI_Ssend_c", buf, count, datatype, dest, tag, comm, OPI_SYNC);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Ssend_c(buf, count, datatype, dest, tag, comm);
}

EXPORT int MPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_send_block("MPI_Bsend_c", buf, count, datatype, dest, tag, comm, OPI_BUFFERED);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Bsend_c(buf, count, datatype, dest, tag, comm);
}

EXPORT int MPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_send_nonblock("MPI_Isend_c", buf, count, datatype, dest, tag, comm, request, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Isend_c(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_send_nonblock("MPI_Irsend_c", buf, count, datatype, dest, tag, comm, request, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Irsend_c(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_send_nonblock("MPI_Issend_c", buf, count, datatype, dest, tag, comm, request, OPI_SYNC);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Issend_c(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_send_nonblock("MPI_Ibsend_c", buf, count, datatype, dest, tag, comm, request, OPI_BUFFERED);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Ibsend_c(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    int rc = opi_recv_block("MPI_Recv_c", buf, count, datatype, source, tag, comm, status, false);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Recv_c(buf, count, datatype, source, tag, comm, status);
}

EXPORT int MPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = OPI_LIKELY(opi_irecv_fast(buf, count, datatype, source, tag, comm, request, false)) ? MPI_SUCCESS : opi_recv_nonblock("MPI_Irecv_c", buf, count, datatype, source, tag, comm, request, false);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Irecv_c(buf, count, datatype, source, tag, comm, request);
}

EXPORT int MPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    OPI_SENDER();
    int rc = opi_sendrecv("MPI_Sendrecv_c", sendbuf, sendcount, sendtype, dest, sendtag, false, recvbuf, recvcount, recvtype, source, recvtag, false, comm, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}

EXPORT int MPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    OPI_SENDER();
    int rc = opi_sendrecv_replace("MPI_Sendrecv_replace_c", buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
}

EXPORT int MPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_isendrecv("MPI_Isendrecv_c", sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Isendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
}

EXPORT int MPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_isendrecv_replace("MPI_Isendrecv_replace_c", buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Isendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
}

EXPORT int MPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_alltoall("MPI_Alltoall_c", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

EXPORT int MPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_alltoallv("MPI_Alltoallv_c", sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, sizeof *sendcounts > sizeof(int));
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

EXPORT int MPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
    OPI_SENDER();
    int rc = opi_alltoallw("MPI_Alltoallw_c", sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, sizeof *sendcounts > sizeof(int));
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

EXPORT int MPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status) {
    int rc = opi_mrecv("MPI_Mrecv_c", buf, count, datatype, message, status);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Mrecv_c(buf, count, datatype, message, status);
}

EXPORT int MPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request) {
    int rc = opi_imrecv("MPI_Imrecv_c", buf, count, datatype, message, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Imrecv_c(buf, count, datatype, message, request);
}

EXPORT int MPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Send_init_c", buf, count, datatype, dest, tag, comm, request, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Send_init_c(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Rsend_init_c", buf, count, datatype, dest, tag, comm, request, OPI_STANDARD);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rsend_init_c(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Ssend_init_c", buf, count, datatype, dest, tag, comm, request, OPI_SYNC);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Ssend_init_c(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Bsend_init_c", buf, count, datatype, dest, tag, comm, request, OPI_BUFFERED);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Bsend_init_c(buf, count, datatype, dest, tag, comm, request);
}

EXPORT int MPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    int rc = opi_persist_init("MPI_Recv_init_c", buf, count, datatype, source, tag, comm, request, -1);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Recv_init_c(buf, count, datatype, source, tag, comm, request);
}

EXPORT int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    int rc = opi_win_create(base, size, disp_unit, info, comm, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_create_c(base, size, disp_unit, info, comm, win);
}

EXPORT int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win) {
    int rc = opi_win_allocate(size, disp_unit, info, comm, baseptr, win, MPI_WIN_FLAVOR_ALLOCATE);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_allocate_c(size, disp_unit, info, comm, baseptr, win);
}

EXPORT int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win) {
    int rc = opi_win_allocate(size, disp_unit, info, comm, baseptr, win, MPI_WIN_FLAVOR_SHARED);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win);
}

EXPORT int MPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_put("MPI_Put_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, NULL);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
}

EXPORT int MPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_get("MPI_Get_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, NULL);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
}

EXPORT int MPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_accumulate("MPI_Accumulate_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, NULL);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
}

EXPORT int MPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
    OPI_SITE();
    int rc = opiw_get_accumulate("MPI_Get_accumulate_c", origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, NULL);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
}

EXPORT int MPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request) {
    OPI_SITE();
    int rc = opiw_put("MPI_Rput_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
}

EXPORT int MPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request) {
    OPI_SITE();
    int rc = opiw_get("MPI_Rget_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request);
}

EXPORT int MPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    OPI_SITE();
    int rc = opiw_accumulate("MPI_Raccumulate_c", origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
}

EXPORT int MPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request) {
    OPI_SITE();
    int rc = opiw_get_accumulate("MPI_Rget_accumulate_c", origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request);
}
#endif

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
EXPORT int MPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_isendrecv("MPI_Isendrecv", sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
}

EXPORT int MPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
    OPI_SENDER();
    int rc = opi_isendrecv_replace("MPI_Isendrecv_replace", buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
}
#endif
