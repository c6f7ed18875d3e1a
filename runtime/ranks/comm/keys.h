/* keys.h - keys of attributes, for communicators and for windows, and the lists of attributes under them. */
#ifndef OPIR_KEYS_H
#define OPIR_KEYS_H

#include "ranks/base/ranks.h"

typedef void opir_function(void);

/* A key of all ranks.  Constant once made but for `refs` and `freed`, which the table's lock guards. */
struct opir_key {
    int refs; /* one of its own until it is freed, and one of each attribute */
    bool freed;
    opir_function *copy, *delete; /* of the kind's own types; NULL: none */
    void *extra;
};

/* The keys of a kind; the list is guarded by `lock`. */
struct opir_keys {
    struct opir_key **all;
    int n;
    pthread_mutex_t lock;
};
#define OPIR_KEYS {NULL, 0, PTHREAD_MUTEX_INITIALIZER}

#pragma GCC visibility push(hidden)

/* The key of a number, after its references changed; NULL: there is none, or none any more. */
struct opir_key *opir_key_of(struct opir_keys *keys, int number, int refs);
int opir_key_new(struct opir_keys *keys, opir_function *copy, opir_function *delete, void *extra);
/* MPI_Comm_free_keyval and its kin. */
int opir_key_free(struct opir_keys *keys, const char *call, int *keyval);
struct opir_attr *opir_attr_find(struct opir_attr *list, int keyval);
/* A new attribute of a key that there is, at a place in a list. */
struct opir_attr *opir_attr_add(struct opir_keys *keys, struct opir_attr **at, int keyval, void *value);
/* An attribute leaves its list, if it is still there: a delete function may have removed it. */
void opir_attr_drop(struct opir_keys *keys, struct opir_attr **list, struct opir_attr *a);

#pragma GCC visibility pop

#endif
