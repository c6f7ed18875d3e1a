/* win.c - windows as objects: making and freeing, names, infos, groups, error handlers, and where their memory lies. */
#include "ranks/window/win.h"

#include <stdio.h>
#include <stdlib.h>

EXPORT int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    return opir_win_make("MPI_Win_create", MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info, comm, NULL, win);
}

EXPORT int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win) {
    return opir_win_make("MPI_Win_allocate", MPI_WIN_FLAVOR_ALLOCATE, NULL, size, disp_unit, info, comm, baseptr, win);
}

EXPORT int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win) {
    return opir_win_make("MPI_Win_allocate_shared", MPI_WIN_FLAVOR_SHARED, NULL, size, disp_unit, info, comm, baseptr, win);
}

EXPORT int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    return opir_win_make("MPI_Win_create_dynamic", MPI_WIN_FLAVOR_DYNAMIC, NULL, 0, 1, info, comm, NULL, win);
}

#ifdef OPIR_HAS_MPI_Win_create_c
EXPORT int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    return opir_win_make("MPI_Win_create_c", MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info, comm, NULL, win);
}

EXPORT int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win) {
    return opir_win_make("MPI_Win_allocate_c", MPI_WIN_FLAVOR_ALLOCATE, NULL, size, disp_unit, info, comm, baseptr, win);
}

EXPORT int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win) {
    return opir_win_make("MPI_Win_allocate_shared_c", MPI_WIN_FLAVOR_SHARED, NULL, size, disp_unit, info, comm, baseptr, win);
}
#endif

/* Memory of the process is in reach attached or not. */
EXPORT int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size) {
    OPIR_WINDOW("MPI_Win_attach");
    (void)base;
    if (!x->w->dynamic)
        return opiw_raise(x->w, MPI_ERR_RMA_FLAVOR, call, "no dynamic window");
    return size < 0 ? opiw_raise(x->w, MPI_ERR_SIZE, call, "negative size") : MPI_SUCCESS;
}

EXPORT int MPI_Win_detach(MPI_Win win, const void *base) {
    OPIR_WINDOW("MPI_Win_detach");
    (void)base;
    return x->w->dynamic ? MPI_SUCCESS : opiw_raise(x->w, MPI_ERR_RMA_FLAVOR, call, "no dynamic window");
}

EXPORT int MPI_Win_free(MPI_Win *win_at) {
    static const char call[] = "MPI_Win_free";
    opir_me(call);
    struct opir_win *x = win_at ? opir_win_of(*win_at) : NULL;
    if (!x)
        return opir_raise(NULL, MPI_ERR_WIN, call, "invalid window");
    struct opiw_win *w = x->w;
    if (w->exposed || (w->access != OPIW_NONE && w->access != OPIW_FENCED))
        return opiw_raise(w, MPI_ERR_RMA_SYNC, call, "an epoch is open");
    int rc = opir_win_attrs_delete(x, *win_at);
    if (rc != MPI_SUCCESS)
        return opiw_raise(w, rc, call, "an attribute's delete function failed");
    opiw_depart(call, w);
    if (x->ground) {
        opir_ground_drop(x->ground);
    } else {
        free(w->at[w->rank].log);
        free(w->at[w->rank].seat);
    }
    opiw_drop(w);
    opir_group_drop(x->group);
    opir_errh_drop(x->errh);
    if (x->info != MPI_INFO_NULL)
        PMPI_Info_free(&x->info);
    free(x->block);
    free(x->name);
    opir_obj_gone(&x->obj);
    free(x);
    *win_at = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

/* MPI_PROC_NULL: the first member that has memory there.  Who has none has no address either, as in MPICH, nor has one whose memory loads and stores do not
 * reach. */
static int query(const char *call, struct opir_win *x, int rank, MPI_Aint *size, MPI_Aint *unit, void *baseptr) {
    static const struct opiw_target none = {.unit = 1};
    const struct opiw_target *t = &none;
    if (x->w->dynamic)
        return opiw_raise(x->w, MPI_ERR_RMA_FLAVOR, call, "a dynamic window");
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= x->w->size))
        return opiw_raise(x->w, MPI_ERR_RANK, call, "invalid rank");
    if (!size || !unit || !baseptr)
        return opiw_raise(x->w, MPI_ERR_ARG, call, "null pointer");
    if (rank != MPI_PROC_NULL && x->w->at[rank].direct)
        t = &x->w->at[rank];
    for (int i = 0; rank == MPI_PROC_NULL && t == &none && i < x->w->size; i++)
        if (x->w->at[i].size && x->w->at[i].direct)
            t = &x->w->at[i];
    *size = (MPI_Aint)t->size;
    *unit = t->unit;
    const char *base = t->size ? t->base : NULL;
    memcpy(baseptr, &base, sizeof base);
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr) {
    OPIR_WINDOW("MPI_Win_shared_query");
    MPI_Aint unit = 0;
    int rc = query(call, x, rank, size, disp_unit ? &unit : NULL, baseptr);
    if (rc == MPI_SUCCESS)
        *disp_unit = (int)unit;
    return rc;
}

#ifdef OPIR_HAS_MPI_Win_shared_query_c
EXPORT int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr) {
    OPIR_WINDOW("MPI_Win_shared_query_c");
    return query(call, x, rank, size, disp_unit, baseptr);
}
#endif

EXPORT int MPI_Win_get_group(MPI_Win win, MPI_Group *group) {
    OPIR_WINDOW("MPI_Win_get_group");
    OPIR_OUT(group);
    struct opir_group *g = opir_group_keep(x->group);
    OPIR_PUT(group, g);
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_set_name(MPI_Win win, const char *name) {
    OPIR_WINDOW("MPI_Win_set_name");
    OPIR_OUT(name);
    char *copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);
    if (!copy)
        opir_die("out of memory for a name");
    free(x->name);
    x->name = copy;
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_get_name(MPI_Win win, char *name, int *length) {
    static const char call[] = "MPI_Win_get_name";
    opir_me(call);
    struct opir_win *x = opir_win_of(win);
    if (!x && win != MPI_WIN_NULL)
        return opir_raise(NULL, MPI_ERR_WIN, call, "invalid window");
    OPIR_OUT(name);
    OPIR_OUT(length);
    const char *text = !x ? "MPI_WIN_NULL" : x->name ? x->name : "";
    *length = (int)strlen(text);
    memcpy(name, text, (size_t)*length + 1);
    return MPI_SUCCESS;
}

/* Those that are not told again stay. */
static int take_hints(struct opir_win *x, MPI_Info info) {
    if (x->info == MPI_INFO_NULL)
        return PMPI_Info_dup(info, &x->info);
    int n = 0, rc = PMPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        int there = 0;
        rc = PMPI_Info_get_nthkey(info, i, key);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
        if (rc == MPI_SUCCESS && there)
            rc = PMPI_Info_set(x->info, key, value);
    }
    return rc;
}

EXPORT int MPI_Win_set_info(MPI_Win win, MPI_Info info) {
    OPIR_WINDOW("MPI_Win_set_info");
    if (info == MPI_INFO_NULL)
        return opiw_raise(x->w, MPI_ERR_INFO, call, "null info");
    return take_hints(x, info);
}

/* Hints that MPI has values for where the program gave none. */
EXPORT int MPI_Win_get_info(MPI_Win win, MPI_Info *info) {
    static const char *const usual[][2] = {{"no_locks", "false"}, {"accumulate_ordering", "rar,raw,war,waw"}, {"accumulate_ops", "same_op_no_op"},
                                           {"same_size", "false"}, {"same_disp_unit", "false"}, {"alloc_shared_noncontig", "false"}};
    OPIR_WINDOW("MPI_Win_get_info");
    OPIR_OUT(info);
    int rc = x->info == MPI_INFO_NULL ? PMPI_Info_create(info) : PMPI_Info_dup(x->info, info);
    for (size_t i = 0; rc == MPI_SUCCESS && i < sizeof usual / sizeof *usual; i++) {
        char value[MPI_MAX_INFO_VAL + 1];
        int there = 0;
        PMPI_Info_get(*info, usual[i][0], MPI_MAX_INFO_VAL, value, &there);
        if (!there)
            rc = PMPI_Info_set(*info, usual[i][0], usual[i][1]);
    }
    return rc;
}

EXPORT int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
    OPIR_WINDOW("MPI_Win_set_errhandler");
    if (!opir_errh_valid(errhandler))
        return opiw_raise(x->w, MPI_ERR_ARG, call, "invalid error handler");
    opir_errh_keep(errhandler);
    opir_errh_drop(x->errh);
    x->errh = errhandler;
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler) {
    OPIR_WINDOW("MPI_Win_get_errhandler");
    OPIR_OUT(errhandler);
    opir_errh_keep(x->errh);
    *errhandler = x->errh;
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_call_errhandler(MPI_Win win, int code) {
    OPIR_WINDOW("MPI_Win_call_errhandler");
    char why[64];
    snprintf(why, sizeof why, "error code %d", code);
    opiw_raise(x->w, code, call, why);
    return MPI_SUCCESS;
}
