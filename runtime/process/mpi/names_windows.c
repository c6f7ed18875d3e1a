/* names_windows.c - the MPI's names of what the files beside this one do with windows.
 *
 * Written by `python -m opi_xform.bindings` from mpi.h and opi_xform/bindings/table.toml: change those.  Each function asks libopi first; OPI_NATIVE means that
 * nothing of libopi's is concerned. */
#include "process/base/export.h"
#include "process/mpi/p2p.h"
#include "shared/onesided/onesided.h"

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

EXPORT int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr) {
    int rc = opi_win_shared_query(win, rank, size, disp_unit, sizeof *disp_unit, baseptr);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_shared_query(win, rank, size, disp_unit, baseptr);
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
    int rc = opiw_flush("MPI_Win_flush", rank, OPIW_FLUSHED, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_flush(rank, win);
}

EXPORT int MPI_Win_flush_local(int rank, MPI_Win win) {
    int rc = opiw_flush("MPI_Win_flush_local", rank, OPIW_FLUSHED_LOCAL, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_flush_local(rank, win);
}

EXPORT int MPI_Win_flush_all(MPI_Win win) {
    int rc = opiw_flush_all("MPI_Win_flush_all", OPIW_FLUSHED, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_flush_all(win);
}

EXPORT int MPI_Win_flush_local_all(MPI_Win win) {
    int rc = opiw_flush_all("MPI_Win_flush_local_all", OPIW_FLUSHED_LOCAL, win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_flush_local_all(win);
}

EXPORT int MPI_Win_sync(MPI_Win win) {
    int rc = opiw_sync("MPI_Win_sync", win);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_sync(win);
}

#if MPI_VERSION >= 4
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

EXPORT int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr) {
    int rc = opi_win_shared_query(win, rank, size, disp_unit, sizeof *disp_unit, baseptr);
    return OPI_LIKELY(rc != OPI_NATIVE) ? rc : PMPI_Win_shared_query_c(win, rank, size, disp_unit, baseptr);
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
