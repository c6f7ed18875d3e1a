/* profile.h - OPI_PROFILE: hooks that cost one predictable branch each while it is off; profile.c has the rest.
 *
 * With OPI_PROFILE or OPI_CHECK set, `opi.watch` makes every call take its long way (opi.special), so the short ways carry no hooks. */
#ifndef OPI_PROFILE_H
#define OPI_PROFILE_H

#include "process/base/types.h"

#pragma GCC visibility push(hidden)

/* How a message left its sender.  The names that are printed stand in profile.c, in this order. */
enum opi_way {
    OPI_W_INLINE, /* in the envelope */
    OPI_W_GIVE,   /* the block itself */
    OPI_W_BLOCK,  /* copied to a heap block */
    OPI_W_PIPE,   /* copied to a heap block that the receiver reads meanwhile */
    OPI_W_REF,    /* by reference: the receiver copies from the sender's memory */
    OPI_W_KERNEL, /* by reference to private memory: the kernel copies */
    OPI_WAYS
};

void opi_profile_load(void);   /* reads OPI_PROFILE; before anything else */
void opi_profile_begin(void);  /* MPI is up, the node is known */
void opi_profile_finish(void); /* collective, before the MPI below is finalised */
void opi_profile_sent_slow(int way, int dst, size_t bytes);
void opi_profile_native_slow(MPI_Comm comm, int dest, size_t count, MPI_Datatype type);
void opi_profile_copied_slow(size_t bytes);
void opi_profile_pool_slow(bool carved);
void opi_profile_lent_slow(bool helped);
void opi_profile_enter(void);
void opi_profile_leave(void);
void opi_profile_wait_slow(bool begins);

void opi_profile_window(int kind, int way, size_t bytes); /* enum opiw_kind, enum opiw_way */

/* At the top of the calls that send, off their short ways: whose messages are counted from here on. */
extern _Thread_local void *opi_profile_site;
#define OPI_SENDER()                                        \
    do {                                                    \
        if (OPI_UNLIKELY(opi.profile))                      \
            opi_profile_site = __builtin_return_address(0); \
    } while (0)

/* A message leaves for local index dst. */
static inline void opi_profile_sent(int way, int dst, size_t bytes) {
    if (OPI_UNLIKELY(opi.profile))
        opi_profile_sent_slow(way, dst, bytes);
}

/* The MPI below carries a message. */
static inline void opi_profile_native(MPI_Comm comm, int dest, size_t count, MPI_Datatype type) {
    if (OPI_UNLIKELY(opi.profile))
        opi_profile_native_slow(comm, dest, count, type);
}

/* A message's bytes are copied once, by its sender or by its receiver. */
static inline void opi_profile_copied(size_t bytes) {
    if (OPI_UNLIKELY(opi.profile))
        opi_profile_copied_slow(bytes);
}

/* What became of a message by reference: its sender helped to copy it, or had to copy it aside, since the kernel would not. */
static inline void opi_profile_lent(bool helped) {
    if (OPI_UNLIKELY(opi.profile))
        opi_profile_lent_slow(helped);
}

/* Around waiting, of the calls that end when something is complete or there. */
static inline void opi_profile_wait(bool begins) {
    if (OPI_UNLIKELY(opi.profile))
        opi_profile_wait_slow(begins);
}

/* A block is asked for; `carved`: it came from memory never used before. */
static inline void opi_profile_pool(bool carved) {
    if (OPI_UNLIKELY(opi.profile))
        opi_profile_pool_slow(carved);
}

#pragma GCC visibility pop

#endif
