/* keys.c - keys of attributes, and lists of attributes. */
#include "ranks/comm/keys.h"

#include <stdlib.h>

#define FIRST 1000 /* below are keys of the MPI's own */

struct opir_key *opir_key_of(struct opir_keys *keys, int number, int refs) {
    struct opir_key *k = NULL;
    opir_lock(&keys->lock);
    if (number >= FIRST && number - FIRST < keys->n)
        k = keys->all[number - FIRST];
    if (k)
        k->refs += refs;
    if (k && k->refs == 0) {
        keys->all[number - FIRST] = NULL;
        free(k);
        k = NULL;
    }
    opir_unlock(&keys->lock);
    return k;
}

int opir_key_new(struct opir_keys *keys, opir_function *copy, opir_function *delete, void *extra) {
    struct opir_key *k = opir_alloc(sizeof *k);
    *k = (struct opir_key){.refs = 1, .copy = copy, .delete = delete, .extra = extra};
    opir_lock(&keys->lock);
    int at = 0;
    while (at < keys->n && keys->all[at])
        at++;
    if (at == keys->n) {
        int more = keys->n ? keys->n * 2 : 64;
        struct opir_key **all = realloc(keys->all, (size_t)more * sizeof(struct opir_key *));
        if (!all)
            opir_die("out of memory for attribute keys");
        memset(all + keys->n, 0, (size_t)(more - keys->n) * sizeof(struct opir_key *));
        keys->all = all;
        keys->n = more;
    }
    keys->all[at] = k;
    opir_unlock(&keys->lock);
    return at + FIRST;
}

int opir_key_free(struct opir_keys *keys, const char *call, int *keyval) {
    struct opir_key *k = opir_key_of(keys, *keyval, 0);
    if (!k)
        return opir_raise(NULL, MPI_ERR_KEYVAL, call, "invalid key %d", *keyval);
    if (!k->freed) { /* while attributes use it, it may be freed again */
        k->freed = true;
        opir_key_of(keys, *keyval, -1);
    }
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

struct opir_attr *opir_attr_find(struct opir_attr *list, int keyval) {
    while (list && list->keyval != keyval)
        list = list->next;
    return list;
}

struct opir_attr *opir_attr_add(struct opir_keys *keys, struct opir_attr **at, int keyval, void *value) {
    struct opir_attr *a = opir_alloc(sizeof *a);
    a->keyval = keyval;
    a->value = value;
    a->next = *at;
    *at = a;
    opir_key_of(keys, keyval, 1);
    return a;
}

void opir_attr_drop(struct opir_keys *keys, struct opir_attr **list, struct opir_attr *a) {
    while (*list && *list != a)
        list = &(*list)->next;
    if (!*list)
        return;
    *list = a->next;
    opir_key_of(keys, a->keyval, -1);
    free(a);
}
