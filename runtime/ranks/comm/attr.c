/* attr.c - attributes of communicators. */
#include "ranks/comm/keys.h"

#include <limits.h>

static struct opir_keys keys = OPIR_KEYS;

static int key_new(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *number, void *extra) {
    *number = opir_key_new(&keys, (opir_function *)copy, (opir_function *)delete, extra);
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *keyval, void *extra) {
    opir_me("MPI_Comm_create_keyval");
    return key_new(copy, delete, keyval, extra);
}

EXPORT int MPI_Comm_free_keyval(int *keyval) {
    static const char call[] = "MPI_Comm_free_keyval";
    opir_me(call);
    return opir_key_free(&keys, call, keyval);
}

static int call_delete(const struct opir_attr *a, MPI_Comm comm) {
    const struct opir_key *k = opir_key_of(&keys, a->keyval, 0);
    return k->delete ? ((MPI_Comm_delete_attr_function *)k->delete)(comm, a->keyval, a->value, k->extra) : MPI_SUCCESS;
}

#define COMM(name)                                                              \
    static const char call[] = name;                                            \
    struct opir_comm *c = opir_comm_of(opir_me(call), comm);                    \
    if (!c)                                                                     \
    return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator")

EXPORT int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value) {
    COMM("MPI_Comm_set_attr");
    if (!opir_key_of(&keys, keyval, 0))
        return opir_raise(c, MPI_ERR_KEYVAL, call, "invalid key %d", keyval);
    struct opir_attr *a = opir_attr_find(c->attrs, keyval);
    int rc = a ? call_delete(a, comm) : MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        return opir_raise(c, rc, call, "the delete function failed");
    if (!a)
        a = opir_attr_add(&keys, &c->attrs, keyval, value);
    a->value = value;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag) {
    static const int tag_ub = INT_MAX, global = 1, none = MPI_PROC_NULL, any = MPI_ANY_SOURCE, appnum = 0;
    static int last_code = MPI_ERR_LASTCODE;
    COMM("MPI_Comm_get_attr");
    const void *known = NULL;
    if (keyval == MPI_TAG_UB)
        known = &tag_ub;
    else if (keyval == MPI_WTIME_IS_GLOBAL)
        known = &global;
    else if (keyval == MPI_HOST)
        known = &none;
    else if (keyval == MPI_IO)
        known = &any;
    else if (keyval == MPI_UNIVERSE_SIZE)
        known = &opir.size;
    else if (keyval == MPI_APPNUM)
        known = &appnum;
    else if (keyval == MPI_LASTUSEDCODE) {
        void *below;
        int there = 0;
        PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &below, &there);
        known = there ? below : &last_code;
    } else if (!opir_key_of(&keys, keyval, 0))
        return opir_raise(c, MPI_ERR_KEYVAL, call, "invalid key %d", keyval);
    struct opir_attr *a = opir_attr_find(c->attrs, keyval);
    if (a)
        known = a->value;
    *flag = a || known;
    if (*flag)
        memcpy(value, &known, sizeof known);
    return MPI_SUCCESS;
}

static int delete_one(struct opir_comm *c, MPI_Comm handle, struct opir_attr *a) {
    int rc = call_delete(a, handle);
    if (rc == MPI_SUCCESS)
        opir_attr_drop(&keys, &c->attrs, a);
    return rc;
}

EXPORT int MPI_Comm_delete_attr(MPI_Comm comm, int keyval) {
    COMM("MPI_Comm_delete_attr");
    struct opir_attr *a = opir_attr_find(c->attrs, keyval);
    if (!a)
        return opir_key_of(&keys, keyval, 0) ? MPI_SUCCESS : opir_raise(c, MPI_ERR_KEYVAL, call, "invalid key %d", keyval);
    int rc = delete_one(c, comm, a);
    return rc == MPI_SUCCESS ? rc : opir_raise(c, rc, call, "the delete function failed");
}

/* All attributes of a communicator that ends, the last set first. */
int opir_attrs_delete(struct opir_comm *c, MPI_Comm handle) {
    while (c->attrs) {
        int rc = delete_one(c, handle, c->attrs);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}

/* What a duplicate gets, by the copy functions. */
int opir_attrs_copy(const char *call, MPI_Comm from, struct opir_comm *old, struct opir_comm *new) {
    struct opir_attr **end = &new->attrs;
    for (struct opir_attr *a = old->attrs; a; a = a->next) {
        const struct opir_key *k = opir_key_of(&keys, a->keyval, 0);
        MPI_Comm_copy_attr_function *copy = (MPI_Comm_copy_attr_function *)k->copy;
        void *value = NULL;
        int flag = 0;
        int rc = copy ? copy(from, a->keyval, k->extra, a->value, &value, &flag) : MPI_SUCCESS;
        if (rc != MPI_SUCCESS)
            return opir_raise(old, rc, call, "an attribute's copy function failed");
        if (flag)
            end = &opir_attr_add(&keys, end, a->keyval, value)->next;
    }
    return MPI_SUCCESS;
}

/* ---- the names of MPI-1 ----------------------------------------------------------------------------------------------------------------------- */

#ifdef OPIR_HAS_MPI_Keyval_create
EXPORT int MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete, int *keyval, void *extra) {
    opir_me("MPI_Keyval_create");
    return key_new(copy, delete, keyval, extra);
}
EXPORT int MPI_Keyval_free(int *keyval) {
    return MPI_Comm_free_keyval(keyval);
}
EXPORT int MPI_Attr_put(MPI_Comm comm, int keyval, void *value) {
    return MPI_Comm_set_attr(comm, keyval, value);
}
EXPORT int MPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag) {
    return MPI_Comm_get_attr(comm, keyval, value, flag);
}
EXPORT int MPI_Attr_delete(MPI_Comm comm, int keyval) {
    return MPI_Comm_delete_attr(comm, keyval);
}
#endif
