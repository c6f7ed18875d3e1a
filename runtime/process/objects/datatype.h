/* datatype.h - datatypes (datatype.c). */
#ifndef OPI_DATATYPE_H
#define OPI_DATATYPE_H

#include "process/objects/handle.h"

#pragma GCC visibility push(hidden)

struct opi_type *opi_type_slow(MPI_Datatype t);
void opi_type_release(struct opi_type *t);
struct opi_type *opi_type_pending(struct opi_type *t, bool below);
static inline void opi_type_keep(struct opi_type *t) {
    if (!t->named)
        atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed); /* the caller has one, or the program keeps the type while the call lasts */
}
void opi_pack(const struct opi_type *t, const void *buf, size_t count, void *to);
void opi_pack_some(const struct opi_type *t, const void *buf, size_t count, size_t at, size_t bytes, void *to);
void opi_unpack_some(const struct opi_type *t, void *buf, size_t count, size_t at, const void *from, size_t bytes);
void opi_unpack(const struct opi_type *t, void *buf, size_t count, const void *from, size_t bytes);
struct opi_type *opi_type_below(struct opi_type *t);
void opi_types_init(void);
void opi_types_fini(void);

#define OPI_TYPE_CACHE 256
struct opi_type_cache {
    MPI_Datatype handle;
    struct opi_type *type;
};
extern struct opi_type_cache opi_type_cache[OPI_TYPE_CACHE];

/* The flattened form of a datatype, NULL when it is invalid.  Predefined types are found in a cache, others through an attribute. */
static inline struct opi_type *opi_type_of(MPI_Datatype t) {
    if (OPI_LIKELY(opi.last_type && opi.last_type_handle == t))
        return opi.last_type;
    const struct opi_type_cache *c = &opi_type_cache[opi_handle_hash(&t, sizeof t) % OPI_TYPE_CACHE];
    if (OPI_LIKELY(c->type != NULL && c->handle == t)) {
        opi.last_type_handle = t;
        return opi.last_type = c->type;
    }
    return opi_type_slow(t);
}

#pragma GCC visibility pop

#endif
