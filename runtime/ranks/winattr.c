/* winattr.c - attributes of windows. */
#include "win.h"

#include <stdlib.h>

#define FIRST 1000 /* below are keys of the MPI's own */

/* Keys of all ranks.  A key is constant once made but for `refs` and `freed`; those and the list are guarded by `lock`. */
struct key {
    int refs;
    bool freed;
    MPI_Win_delete_attr_function *delete;
    void *extra;
};
static struct key **keys;
static int nkeys;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct key *key_of(int number, int refs) {
    struct key *k = NULL;
    opir_lock(&lock);
    if (number >= FIRST && number - FIRST < nkeys)
        k = keys[number - FIRST];
    if (k)
        k->refs += refs;
    if (k && k->refs == 0) {
        keys[number - FIRST] = NULL;
        free(k);
        k = NULL;
    }
    opir_unlock(&lock);
    return k;
}

EXPORT int MPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *delete, int *keyval, void *extra) {
    static const char call[] = "MPI_Win_create_keyval";
    (void)copy; /* no call copies windows */
    opir_me(call);
    OPIR_OUT(keyval);
    struct key *k = opir_alloc(sizeof *k);
    *k = (struct key){.refs = 1, .delete = delete, .extra = extra};
    opir_lock(&lock);
    int at = 0;
    while (at < nkeys && keys[at])
        at++;
    if (at == nkeys) {
        struct key **more = realloc(keys, (size_t)(nkeys + 16) * sizeof *keys);
        if (!more)
            opir_die("out of memory for attribute keys");
        keys = more;
        memset(keys + nkeys, 0, 16 * sizeof *keys);
        nkeys += 16;
    }
    keys[at] = k;
    opir_unlock(&lock);
    *keyval = at + FIRST;
    return MPI_SUCCESS;
}

EXPORT int MPI_Win_free_keyval(int *keyval) {
    static const char call[] = "MPI_Win_free_keyval";
    opir_me(call);
    OPIR_OUT(keyval);
    struct key *k = key_of(*keyval, 0);
    if (!k)
        return opir_raise(NULL, MPI_ERR_KEYVAL, call, "invalid key %d", *keyval);
    if (!k->freed) { /* while attributes use it, it may be freed again */
        k->freed = true;
        key_of(*keyval, -1);
    }
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

static struct opir_attr *find(struct opir_win *x, int keyval) {
    struct opir_attr *a = x->attrs;
    while (a && a->keyval != keyval)
        a = a->next;
    return a;
}

static int call_delete(struct opir_attr *a, MPI_Win handle) {
    struct key *k = key_of(a->keyval, 0);
    return k->delete ? k->delete(handle, a->keyval, a->value, k->extra) : MPI_SUCCESS;
}

static int delete_one(struct opir_win *x, MPI_Win handle, struct opir_attr *a) {
    int rc = call_delete(a, handle);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_attr **at = &x->attrs;
    while (*at && *at != a)
        at = &(*at)->next;
    if (*at) {
        *at = a->next;
        key_of(a->keyval, -1);
        free(a);
    }
    return MPI_SUCCESS;
}

int opir_win_attrs_delete(struct opir_win *x, MPI_Win handle) {
    int rc = MPI_SUCCESS;
    while (x->attrs && rc == MPI_SUCCESS)
        rc = delete_one(x, handle, x->attrs);
    return rc;
}

EXPORT int MPI_Win_set_attr(MPI_Win win, int keyval, void *value) {
    OPIR_WINDOW("MPI_Win_set_attr");
    if (!key_of(keyval, 0))
        return opiw_raise(x->w, MPI_ERR_KEYVAL, call, "invalid key");
    struct opir_attr *a = find(x, keyval);
    if (a) {
        int rc = call_delete(a, win);
        if (rc != MPI_SUCCESS)
            return opiw_raise(x->w, rc, call, "the delete function failed");
    } else {
        a = opir_alloc(sizeof *a);
        a->keyval = keyval;
        a->next = x->attrs;
        x->attrs = a;
        key_of(keyval, 1);
    }
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
    else if (!key_of(keyval, 0))
        return opiw_raise(x->w, MPI_ERR_KEYVAL, call, "invalid key");
    else if ((a = find(x, keyval)) != NULL)
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
    struct opir_attr *a = find(x, keyval);
    if (!a)
        return key_of(keyval, 0) ? MPI_SUCCESS : opiw_raise(x->w, MPI_ERR_KEYVAL, call, "invalid key");
    int rc = delete_one(x, win, a);
    return rc == MPI_SUCCESS ? rc : opiw_raise(x->w, rc, call, "the delete function failed");
}
