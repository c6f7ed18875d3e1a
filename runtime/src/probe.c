/* probe.c - looking at messages without receiving them. */
#include "internal.h"

#define EXPORT __attribute__((visibility("default")))

/* Checks arguments; an error class is raised outside enter/leave by the caller through the communicator. */
static int probe_check(const char *call, int source, int tag, MPI_Comm comm, struct opi_comm **c) {
    if (OPI_UNLIKELY(!opi.mpi_running))
        opi_die("%s called outside MPI_Init and MPI_Finalize", call);
    *c = opi_comm_of(comm);
    int class = !*c ? MPI_ERR_COMM
                : (tag < 0 && tag != MPI_ANY_TAG) || tag > (*c)->tag_ub ? MPI_ERR_TAG
                : (source < 0 || source >= (*c)->size) && source != MPI_ANY_SOURCE && source != MPI_PROC_NULL ? MPI_ERR_RANK : MPI_SUCCESS;
    if (OPI_LIKELY(class == MPI_SUCCESS))
        return MPI_SUCCESS;
    opi_leave();
    int rc = opi_raise(*c ? comm : MPI_COMM_WORLD, class, call, "source %d, tag %d", source, tag);
    opi_enter();
    return rc;
}

/* One look on both sides.  Returns an error code of the MPI below, or success. */
static int look(struct opi_comm *c, int source, int tag, int *flag, MPI_Status *status) {
    bool any = source == MPI_ANY_SOURCE;
    int local = any ? -1 : c->local_of_rank[source];
    *flag = 0;
    if (any || local >= 0) {
        struct opi_req r = {.any_source = any, .any_tag = tag == MPI_ANY_TAG, .src = local, .tag = tag, .ctx = c->ctx};
        opi_progress();
        struct opi_umsg *m = opi_find_unexpected(&r);
        if (m) {
            opi_status_set(status, c->rank_of_local[m->src], m->env.tag, opi_env_bytes(&m->env), false);
            *flag = 1;
            return MPI_SUCCESS;
        }
    }
    if (local >= 0 || !c->mixed)
        return MPI_SUCCESS;
    int rc = PMPI_Iprobe(source, tag, c->handle, flag, status);
    if (rc == MPI_SUCCESS && *flag && opi_net_must_hold(c, source, tag)) {
        /* A receive posted earlier is owed this message: let it take what it can, then look again. */
        opi_net_poll();
        rc = PMPI_Iprobe(source, tag, c->handle, flag, status);
    }
    return rc;
}

EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    struct opi_comm *c;
    static uint32_t misses;
    opi_enter();
    int rc = probe_check("MPI_Iprobe", source, tag, comm, &c);
    if (rc == MPI_SUCCESS && (!c->active || source == MPI_PROC_NULL)) {
        opi_leave();
        return PMPI_Iprobe(source, tag, comm, flag, status);
    }
    if (rc == MPI_SUCCESS) {
        rc = look(c, source, tag, flag, status);
        if (rc == MPI_SUCCESS && !*flag && (++misses & 15) == 0)
            opi_native_poll();
    }
    opi_leave();
    return rc;
}

EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    struct opi_comm *c;
    opi_enter();
    int rc = probe_check("MPI_Probe", source, tag, comm, &c), flag = 0;
    if (rc == MPI_SUCCESS && (source == MPI_PROC_NULL || (!c->active && !opi.nposted && !opi.nqueued))) {
        opi_leave();
        return PMPI_Probe(source, tag, comm, status);
    }
    struct opi_wait w = {0, 0, -1, false};
    while (rc == MPI_SUCCESS) {
        if (c->active) {
            rc = look(c, source, tag, &flag, status);
        } else {
            opi_progress();
            rc = PMPI_Iprobe(source, tag, comm, &flag, status);
        }
        if (rc != MPI_SUCCESS || flag)
            break;
        opi_relax(&w);
    }
    opi_leave();
    return rc;
}
