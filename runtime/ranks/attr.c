/* attr.c - attributes of communicators. */
#include "ranks.h"

#include <limits.h>
#include <stdlib.h>

#define FIRST 1000 /* below are keys of the MPI's own */

/* Keys of all ranks.  A key is constant once made; `refs` and the list are guarded by `lock`. */
struct key {
    int number, refs;
    bool freed;
    MPI_Comm_copy_attr_function *copy;
    MPI_Comm_delete_attr_function *delete;
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

static int key_new(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *number, void *extra) {
    struct key *k = opir_alloc(sizeof *k);
    *k = (struct key){.refs = 1, .copy = copy, .delete = delete, .extra = extra};
    opir_lock(&lock);
    int at = 0;
    while (at < nkeys && keys[at])
        at++;
    if (at == nkeys) {
        int more = nkeys ? nkeys * 2 : 64;
        keys = realloc(keys, (size_t)more * sizeof *keys);
        if (!keys)
            opir_die("out of memory for attribute keys");
        memset(keys + nkeys, 0, (size_t)(more - nkeys) * sizeof *keys);
        nkeys = more;
    }
    keys[at] = k;
    k->number = at + FIRST;
    opir_unlock(&lock);
    *number = k->number;
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *keyval, void *extra) {
    opir_me("MPI_Comm_create_keyval");
    return key_new(copy, delete, keyval, extra);
}

EXPORT int MPI_Comm_free_keyval(int *keyval) {
    static const char call[] = "MPI_Comm_free_keyval";
    opir_me(call);
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

static int call_delete(struct key *k, MPI_Comm comm, void *value) {
    return k->delete ? k->delete(comm, k->number, value, k->extra) : MPI_SUCCESS;
}

static struct opir_attr *find(struct opir_comm *c, int keyval) {
    struct opir_attr *a = c->attrs;
    while (a && a->keyval != keyval)
        a = a->next;
    return a;
}

#define COMM(name)                                                              \
    static const char call[] = name;                                            \
    struct opir_comm *c = opir_comm_of(opir_me(call), comm);                    \
    if (!c)                                                                     \
    return opir_raise(NULL, MPI_ERR_COMM, call, "invalid communicator")

EXPORT int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value) {
    COMM("MPI_Comm_set_attr");
    struct key *k = key_of(keyval, 0);
    if (!k)
        return opir_raise(c, MPI_ERR_KEYVAL, call, "invalid key %d", keyval);
    struct opir_attr *a = find(c, keyval);
    if (a) {
        int rc = call_delete(k, comm, a->value);
        if (rc != MPI_SUCCESS)
            return opir_raise(c, rc, call, "the delete function failed");
    } else {
        a = opir_alloc(sizeof *a);
        a->keyval = keyval;
        a->next = c->attrs;
        c->attrs = a;
        key_of(keyval, 1);
    }
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
    } else if (!key_of(keyval, 0))
        return opir_raise(c, MPI_ERR_KEYVAL, call, "invalid key %d", keyval);
    struct opir_attr *a = find(c, keyval);
    if (a)
        known = a->value;
    *flag = a || known;
    if (*flag)
        memcpy(value, &known, sizeof known);
    return MPI_SUCCESS;
}

static int delete_one(struct opir_comm *c, MPI_Comm handle, struct opir_attr *a) {
    struct key *k = key_of(a->keyval, 0);
    int rc = call_delete(k, handle, a->value);
    if (rc != MPI_SUCCESS)
        return rc;
    struct opir_attr **at = &c->attrs;
    while (*at && *at != a)
        at = &(*at)->next;
    if (*at) {
        *at = a->next;
        key_of(a->keyval, -1);
        free(a);
    }
    return MPI_SUCCESS;
}

EXPORT int MPI_Comm_delete_attr(MPI_Comm comm, int keyval) {
    COMM("MPI_Comm_delete_attr");
    struct opir_attr *a = find(c, keyval);
    if (!a)
        return key_of(keyval, 0) ? MPI_SUCCESS : opir_raise(c, MPI_ERR_KEYVAL, call, "invalid key %d", keyval);
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
        struct key *k = key_of(a->keyval, 0);
        void *value = NULL;
        int flag = 0;
        int rc = k->copy ? k->copy(from, k->number, k->extra, a->value, &value, &flag) : MPI_SUCCESS;
        if (rc != MPI_SUCCESS)
            return opir_raise(old, rc, call, "an attribute's copy function failed");
        if (flag) {
            struct opir_attr *b = opir_alloc(sizeof *b);
            b->keyval = a->keyval;
            b->value = value;
            *end = b;
            end = &b->next;
            key_of(b->keyval, 1);
        }
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
