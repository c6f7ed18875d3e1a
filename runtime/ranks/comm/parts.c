/* parts.c - communicators by what ranks have in common, and from groups alone. */
#include "ranks/base/ranks.h"

#include <sys/stat.h>

static uint64_t hash(const char *text) {
    uint64_t h = 0xcbf29ce484222325u;
    while (*text)
        h = (h ^ (unsigned char)*text++) * 0x100000001b3u;
    return h;
}

static bool hint(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1]) {
    int there = 0;
    return info != MPI_INFO_NULL && PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there) == MPI_SUCCESS && there;
}

#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
/* Ranks that have access to one directory: those that name the same one, if all do.  Ranks of a process see the same files. */
static bool same_directory(const char *call, MPI_Comm comm, MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1];
    struct stat is;
    bool there = hint(info, "nbhd_common_dirname", value) && stat(value, &is) == 0 && S_ISDIR(is.st_mode);
    uint64_t h = there ? hash(value) : 0, mine[2] = {h, ~h}, most[2] = {0, 0};
    struct opir_args args = {.kind = OPIR_ALLREDUCE, .has_s = true, .has_r = true, .sbuf = mine, .rbuf = most, .rcount = 2, .rtype = MPI_UINT64_T, .op = MPI_MAX};
    return opir_coll(call, comm, &args, NULL, false) == MPI_SUCCESS && most[0] == ~most[1] && most[0] != 0;
}
#endif

/* Whether MPI_Comm_split_type gives the ranks that share memory a communicator, for this type and these hints; otherwise nobody gets one: smaller parts of a
 * node are not told apart. */
bool opir_type_splits(const char *call, MPI_Comm comm, int type, MPI_Info info) {
    if (type == MPI_COMM_TYPE_SHARED)
        return true;
    char value[MPI_MAX_INFO_VAL + 1];
    bool guided = false;
    (void)call, (void)comm, (void)value, (void)info;
#if MPI_VERSION >= 4
    guided = guided || type == MPI_COMM_TYPE_HW_GUIDED;
#endif
#ifdef MPI_COMM_TYPE_RESOURCE_GUIDED
    guided = guided || type == MPI_COMM_TYPE_RESOURCE_GUIDED;
#endif
    if (guided)
        return hint(info, "mpi_hw_resource_type", value) && strcmp(value, "mpi_shared_memory") == 0;
#ifdef MPIX_COMM_TYPE_NEIGHBORHOOD
    if (type == MPIX_COMM_TYPE_NEIGHBORHOOD)
        return same_directory(call, comm, info);
#endif
    return false;
}

#ifdef OPIR_HAS_MPI_Comm_create_from_group
/* A rank is in one such call at a time, and it concerns all members of the group: the tag has to tell these calls from MPI_Comm_create_group only. */
static int tag_of(const char *text) {
    return -2 - (int)(hash(text) & 0x3fffffff);
}

static void equip(MPI_Comm made, MPI_Info info, MPI_Errhandler errhandler) {
    if (made == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(made, errhandler);
    MPI_Comm_set_info(made, info);
}

EXPORT int MPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *out) {
    static const char call[] = "MPI_Comm_create_from_group";
    opir_me(call);
    OPIR_OUT(stringtag && out);
    int rc = MPI_Comm_create_group(MPI_COMM_WORLD, group, tag_of(stringtag), out);
    if (rc == MPI_SUCCESS)
        equip(*out, info, errhandler);
    return rc;
}

EXPORT int MPI_Intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote, int remote_leader, const char *stringtag, MPI_Info info,
                                            MPI_Errhandler errhandler, MPI_Comm *out) {
    static const char call[] = "MPI_Intercomm_create_from_groups";
    opir_me(call);
    OPIR_OUT(stringtag && out);
    struct opir_group *far = opir_group_of(remote), *near = opir_group_of(local);
    if (!far || !near)
        return opir_raise(NULL, MPI_ERR_GROUP, call, "invalid group");
    if (local_leader < 0 || local_leader >= near->size || remote_leader < 0 || remote_leader >= far->size)
        return opir_raise(NULL, MPI_ERR_RANK, call, "leaders %d of %d and %d of %d", local_leader, near->size, remote_leader, far->size);
    MPI_Comm mine;
    int tag = tag_of(stringtag), rc = MPI_Comm_create_group(MPI_COMM_WORLD, local, tag, &mine);
    if (rc != MPI_SUCCESS || mine == MPI_COMM_NULL) {
        *out = MPI_COMM_NULL;
        return rc;
    }
    rc = MPI_Intercomm_create(mine, local_leader, MPI_COMM_WORLD, opir_group_world(far, remote_leader), tag, out);
    MPI_Comm_free(&mine);
    if (rc == MPI_SUCCESS)
        equip(*out, info, errhandler);
    return rc;
}
#endif
