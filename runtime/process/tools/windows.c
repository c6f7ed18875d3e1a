/* windows.c - process ranks' side of shared/onesided/watch.c: OPI_PROFILE and OPI_CHECK of windows. */
#include "process/base/error.h"
#include "process/mpi/p2p.h"
#include "shared/onesided/watch.h"

int opiw_unknown_op(const char *call, MPI_Win win, enum opiw_kind kind, MPI_Count count, MPI_Datatype type) {
    MPI_Count size = 0;
    if (OPI_UNLIKELY(opi.profile) && count >= 0 && type != MPI_DATATYPE_NULL && PMPI_Type_size_x(type, &size) == MPI_SUCCESS && size > 0)
        opi_profile_window(kind, OPIW_BELOW, (size_t)count * (size_t)size);
    return opiw_unknown(call, win);
}

void opiw_counted(enum opiw_kind kind, enum opiw_way way, size_t bytes) {
    if (opi.profile)
        opi_profile_window(kind, way, bytes);
}

const void *opiw_caller(void) {
    return opi_check_site;
}

void opiw_say(const char *line) {
    opi_say("%s", line);
}

_Noreturn void opiw_die(const char *line) {
    opi_die("%s", line);
}
