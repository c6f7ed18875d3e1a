/* win.h - windows as objects: what onesided.c, which makes them, and win.c, which keeps what MPI keeps of them, share. */
#ifndef OPIR_WIN_H
#define OPIR_WIN_H

#include "ranks/base/ranks.h"

#pragma GCC visibility push(hidden)

/* A window as one member sees it; only that rank touches it. */
struct opir_win {
    struct opir_obj obj;
    struct opiw_win *w;
    struct opir_group *group;
    MPI_Errhandler errh;
    MPI_Info info; /* as the program gave it */
    struct opir_attr *attrs;
    char *name;
    void *base, *block; /* block: memory that the window brought along, to be freed with it */
    struct opir_ground *ground; /* of a window of several processes: where seats and memory lie; NULL: all members are in this process */
    MPI_Aint size;
    int unit, flavor, model;
};

static inline struct opir_win *opir_win_of(MPI_Win h) {
    return h == MPI_WIN_NULL ? NULL : opir_get(&h, sizeof h, OPIR_WIN);
}

int opir_win_make(const char *call, int flavor, void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win);

/* ---- ground.c: memory that the members of a window share, who live in several processes of a node --------------------------------------------------------- */

/* Of each process with members one piece, mapped by all others, too.  Where things lie is the same sum for all members. */
#define OPIR_GROUND_HEAD 64 /* of each piece, which begins at a page: the token, and nothing else on its line */
struct opir_ground;
struct opir_ground_card {
    uint64_t token; /* what the piece, which lies there in its process, begins with */
    uintptr_t at;
    int fd; /* -1: none */
};
/* The piece of this process; NULL: no memory. */
struct opir_ground *opir_ground_new(int pieces, int here, size_t bytes, int members, struct opir_ground_card *card);
/* Maps the piece of another process.  `copies`: the kernel is to copy between the two, too.  False where the system does not allow it. */
bool opir_ground_join(struct opir_ground *g, int piece, int pid, size_t bytes, const struct opir_ground_card *card, bool copies);
void opir_ground_ready(struct opir_ground *g); /* all have joined */
char *opir_ground_at(const struct opir_ground *g, int piece, size_t offset);
void opir_ground_drop(struct opir_ground *g); /* by each member */

/* error.c */
int opir_win_raise(MPI_Errhandler h, MPI_Win win, int code, const char *call, const char *why);
bool opir_errh_valid(MPI_Errhandler h);
/* winattr.c */
int opir_win_attrs_delete(struct opir_win *x, MPI_Win handle);

#pragma GCC visibility pop

/* In a call: the window of a handle. */
#define OPIR_WINDOW(name)                    \
    static const char call[] = name;         \
    opir_me(call);                           \
    struct opir_win *x = opir_win_of(win);   \
    if (OPIR_UNLIKELY(!x))                   \
    return opir_raise(NULL, MPI_ERR_WIN, call, "invalid window")

#endif
