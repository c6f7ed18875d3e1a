/* opix.c - the calls of opix.h. */
#include "ranks/base/ranks.h"

#include <time.h>

#include "opix.h"

EXPORT int MPIX_Yield(void) {
    if (!opir_self)
        opir_no_rank("MPIX_Yield");
    opir_yield();
    return MPI_SUCCESS;
}

EXPORT int MPIX_Usleep(unsigned long long microseconds) {
    if (!opir_self)
        opir_no_rank("MPIX_Usleep");
    if (opir.fibers) {
        opir_fiber_sleep(microseconds * 1000u);
        return MPI_SUCCESS;
    }
    struct timespec t = {(time_t)(microseconds / 1000000u), (long)(microseconds % 1000000u) * 1000};
    while (nanosleep(&t, &t))
        ;
    return MPI_SUCCESS;
}

EXPORT int MPIX_Get_collocated_size(int *size) {
    *size = opir.here;
    return MPI_SUCCESS;
}

EXPORT int MPIX_Get_collocated_startrank(int *rank) {
    *rank = opir.first;
    return MPI_SUCCESS;
}

EXPORT int MPIX_Comm_translate_ranks(MPI_Comm from, int n, const int ranks[], MPI_Comm to, int translated[]) {
    static const char call[] = "MPIX_Comm_translate_ranks";
    struct opir_rank *me = opir_me(call);
    struct opir_comm *a = opir_comm_of(me, from), *b = opir_comm_of(me, to);
    if (!a || !b)
        return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator");
    for (int i = 0; i < n; i++) {
        if (ranks[i] < 0 || ranks[i] >= a->local->size)
            return opir_raise(a, MPI_ERR_RANK, call, "rank %d in a communicator of %d", ranks[i], a->local->size);
        int r = opir_group_rank(b->local, opir_group_world(a->local, ranks[i]));
        translated[i] = r < 0 ? MPI_UNDEFINED : r;
    }
    return MPI_SUCCESS;
}

EXPORT int MPIX_Zsend(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    return (OPI_Give)(bufp, count, type, dest, tag, comm);
}

EXPORT int MPIX_Zrecv(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    return (OPI_Take)(bufp, count, type, source, tag, comm, status);
}

EXPORT int MPIX_Izsend(void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    return (OPI_Igive)(bufp, count, type, dest, tag, comm, request);
}

EXPORT int MPIX_Izrecv(void *bufp, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    return (OPI_Itake)(bufp, count, type, source, tag, comm, request);
}
