/* winattr.c - attributes of windows. */
#include "ranks/comm/keys.h"
#include "ranks/window/win.h"

static struct opir_keys keys = OPIR_KEYS;

EXPORT int MPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *delete, int *keyval, void *extra) {
    static const char call[] = "MPI_Win_create_keyval";
    (void)copy; /* no call copies windows */
    opir_me(call);
    OPIR_OUT(keyval);
    *keyval = opir_key_new(&keys, NULL, (opir_function *)delete, extra);
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_free_keyval(int *keyval) {
    static const char call[] = "MPI_Win_free_keyval";
    opir_me(call);
    OPIR_OUT(keyval);
    return opir_key_free(&keys, call, keyval);
}

static int call_delete(const struct opir_attr *a, MPI_Win handle) {
    const struct opir_key *k = opir_key_of(&keys, a->keyval, 0);
    return k->delete ? ((MPI_Win_delete_attr_function *)k->delete)(handle, a->keyval, a->value, k->extra) : MPI_SUCCESS;
}

static int delete_one(struct opir_win *x, MPI_Win handle, struct opir_attr *a) {
    int rc = call_delete(a, handle);
    if (rc == MPI_SUCCESS)
        opir_attr_drop(&keys, &x->attrs, a);
    return rc;
}

int opir_win_attrs_delete(struct opir_win *x, MPI_Win handle) {
    int rc = MPI_SUCCESS;
    while (x->attrs && rc == MPI_SUCCESS)
        rc = delete_one(x, handle, x->attrs);
    return rc;
}

EXPORT int MPI_Win_set_attr(MPI_Win win, int keyval, void *value) {
    OPIR_WINDOW("MPI_Win_set_attr");
    if (!opir_key_of(&keys, keyval, 0))
        return opiw_raise(x->w, MPI_ERR_KEYVAL, call, "invalid key");
    struct opir_attr *a = opir_attr_find(x->attrs, keyval);
    int rc = a ? call_delete(a, win) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        return opiw_raise(x->w, rc, call, "the delete function failed");
    if (!a)
        a = opir_attr_add(&keys, &x->attrs, keyval, value);
    a->value = value;
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag) {
    OPIR_WINDOW("MPI_Win_get_attr");
    OPIR_OUT(value);
    OPIR_OUT(flag);
    void *known = NULL;
    struct opir_attr *a = NULL;
    bool there = true;
    if (keyval == MPI_WIN_BASE)
        known = x->base;
    else if (keyval == MPI_WIN_SIZE)
        known = &x->size;
    else if (keyval == MPI_WIN_DISP_UNIT)
        known = &x->unit;
    else if (keyval == MPI_WIN_CREATE_FLAVOR)
        known = &x->flavor;
    else if (keyval == MPI_WIN_MODEL)
        known = &x->model;
    else if (!opir_key_of(&keys, keyval, 0))
        return opiw_raise(x->w, MPI_ERR_KEYVAL, call, "invalid key");
    else if ((a = opir_attr_find(x->attrs, keyval)) != NULL)
        known = a->value;
    else
        there = false;
    *flag = there;
    if (there)
        memcpy(value, &known, sizeof known);
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_delete_attr(MPI_Win win, int keyval) {
    OPIR_WINDOW("MPI_Win_delete_attr");
    struct opir_attr *a = opir_attr_find(x->attrs, keyval);
    if (!a)
        return opir_key_of(&keys, keyval, 0) ? MPI_SUCCESS : opiw_raise(x->w, MPI_ERR_KEYVAL, call, "invalid key");
    int rc = delete_one(x, win, a);
    return rc == MPI_SUCCESS ? rc : opiw_raise(x->w, rc, call, "the delete function failed");
}
