/* names.c - the MPI's names of what the files beside this one do with messages.
 *
 * Written by `python -m opi_xform.bindings` from mpi.h and opi_xform/bindings/table.toml: change those.  Each function asks libopi first; OPI_NATIVE means that
 * nothing of libopi's is concerned. */
#include "process/base/export.h"
#include "process/engine/path.h"
#include "process/mpi/p2p.h"

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
