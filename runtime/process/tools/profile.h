/* profile.h - OPI_PROFILE: hooks that cost one predictable branch each while it is off; profile.c has the rest.
 *
 * With OPI_PROFILE or OPI_CHECK set, `opi.watch` makes every call take its long way (opi.special), so the short ways carry no hooks. */
#ifndef OPI_PROFILE_H
#define OPI_PROFILE_H

#include "process/base/types.h"

#include <stdio.h>

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

/* What windows carried, by operation (enum opiw_kind) and way.  Every field is a uint64_t. */
enum opi_window_way {
    OPI_WW_DIRECT, /* loads and stores */
    OPI_WW_KERNEL, /* the kernel copies, or an accumulating origin lets it copy there and back */
    OPI_WW_MPI,    /* the MPI below */
    OPI_WINDOW_WAYS
};
#define OPI_WINDOW_KINDS 6
struct opi_window_counts {
    struct opi_window_count {
        uint64_t operations, bytes;
    } of[OPI_WINDOW_KINDS][OPI_WINDOW_WAYS];
};
void opi_profile_window(int kind, int way, size_t bytes);
void opi_windows_table(const struct opi_window_counts *c);
void opi_windows_json(FILE *f, const struct opi_window_counts *c);

/* site.c: a place in the program as all ranks know it: they load the same files, each at addresses of its own.  Every field is a uint64_t. */
struct opi_site {
    uint64_t module; /* a hash of the file's name */
    uint64_t offset; /* of the return address in it */
};
bool opi_site_of(const void *pc, struct opi_site *s);
void opi_site_text(const struct opi_site *s, char *text, size_t room);

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
