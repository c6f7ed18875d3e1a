/* onesided.h - windows, written once for process ranks (libopi) and for thread and fiber ranks (libopi_ranks).
 *
 * The origin does everything: it reads and writes the target's memory by itself, and what ranks tell each other to synchronise lies in memory that all of
 * them reach.  The target takes no part, but for puts that it need not find before its epoch is over (batch.c).  A library fills in the functions under "the side"
 * below: process/mpi/onesided.c and ranks/window/onesided.c do. */
#ifndef OPIW_ONESIDED_H
#define OPIW_ONESIDED_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shared/datatypes/layout.h"
#include "shared/onesided/order.h"

#define OPIW_LIKELY(x) __builtin_expect(!!(x), 1)
#define OPIW_UNLIKELY(x) __builtin_expect(!!(x), 0)

#pragma GCC visibility push(hidden)

/* What a call answers where the window is none of ours and the MPI's own function is to be called.  No error code. */
#define OPIW_NATIVE (-1)

/* Pieces of a member's memory. */
struct opiw_piece {
    char *at;
    size_t n;
};

/* What two members of a window tell each other: member i alone writes `pair[i]` of another's seat, by stores.  Numbers only grow (and wrap). */
struct opiw_pair {
    _Atomic uint32_t posted;    /* how often i has posted to the owner of the seat; release: what i did to its memory before */
    _Atomic uint32_t completed; /* twice how often i has completed an access epoch at the owner, and 1 if it has left something; release: its operations */
};

/* Puts that a member leaves to their target, which stores them when it ends its epoch (batch.c).  Member i alone writes the two of `note[i]` of another's seat, and last
 * `due` (release); the owner reads one where it finds there what it looks for (acquire).  The first is for post and wait: the owner reads it after `completed`, and before it
 * posts again; i writes it after a post.  Fences use both in turns: the owner reads one before it comes to the next fence, and i writes that again after it. */
#define OPIW_NOTE_RUNS 4
#define OPIW_NOTE_BYTES 184
struct opiw_parcel;
struct opiw_note {
    _Atomic uint32_t due; /* when it is to be stored: OPIW_DUE_AT_WAIT, or OPIW_DUE_AT_FENCE of the fence's number; 0: it was */
    uint32_t runs;        /* 0: they are in parcels */
    union {
        struct opiw_piece run[OPIW_NOTE_RUNS]; /* in the owner's memory */
        struct opiw_parcel *parcels;           /* in memory that both reach, at the same address */
    };
    char data[OPIW_NOTE_BYTES]; /* of all runs, one after the other */
};
#define OPIW_DUE_AT_WAIT ((uint32_t)2)
#define OPIW_DUE_AT_FENCE(number) ((uint32_t)(number) * 2 + 1)
static inline int opiw_note_of(uint32_t due) {
    return due == OPIW_DUE_AT_WAIT ? 0 : (int)(due / 2 % 2);
}
_Static_assert(sizeof(struct opiw_note) == 256, "lines of their own");

/* A member's place in memory that all members reach, zero when it is made. */
struct opiw_seat {
    _Atomic uint32_t lock;      /* OPIW_EXCLUSIVE, or the number of shared locks; taken with acquire, given back with release */
    _Atomic uint32_t writers;   /* who waits for an exclusive lock.  A hint: those who want a shared one let them in for a while */
    _Atomic uint32_t combining; /* 1 while somebody accumulates into this member's memory; acquire and release */
    _Atomic uint32_t sleepers;  /* who waits for one of the two; sequentially consistent with them, so that who gives one back wakes who sleeps */
    _Atomic uint32_t asks;      /* the side's: 1 where its owner asks to be woken; only by exchange, acquire and release (ranks/window/onesided.c) */
    _Atomic uint32_t left;      /* the last fence that its owner has left; release: it has stored what was left to it there.  Kept where others may leave something */
    char apart[40];             /* what others poll lies in lines of their own */
    _Atomic uint32_t arrived;   /* of member 0's seat alone: who is at the barrier */
    _Atomic uint32_t round;     /* the same: barriers that are over; release by the last to come, acquire by all others */
    _Atomic uint32_t departed;  /* the same: who will not look at it again */
    _Atomic uint32_t posted;    /* the same: the last fence at which anybody has left something to anybody; relaxed, before `arrived` */
    _Atomic uint32_t failed;    /* the same: 1 since somebody has left the barrier with an error, and stays counted in `arrived`; release, acquire */
    char apart_too[44];
    struct opiw_pair pair[]; /* of each member, and after them, on a line of their own, their notes, two of each */
};
#define OPIW_EXCLUSIVE ((uint32_t)1 << 31)
#define OPIW_COMPLETIONS ((uint32_t)1 << 31) /* that `completed` tells apart */

/* Where a process is asked for copies to and from its private memory, by others that have a window on it (ask.c).  One for all windows of a process, in memory that
 * all their members reach, zero when it is made and never given back.  What is polled, and what is written by whom, lies in lines of its own.
 *
 * A desk has several lanes, so that a long copy goes in parts of which several are under way.  `busy` is of the whole desk; every lane has a state:
 *
 *     state       busy  asked  who goes on                                            to
 *     idle        0     0      an origin: busy 0 -> 1 by compare-and-swap, acquire    writing
 *     writing     1     0      that origin alone: the question, then asked = number,  waiting
 *                              release; or, with nothing to ask, busy = 0             idle
 *     waiting     1     n      the owner: asked n -> 0 by compare-and-swap, acquire   taken
 *                              the origin: the same, after 2 us                       writing, with nothing copied
 *     taken       1     0      the owner alone: copies, then answered = n, release    answered
 *     answered    1     0      that origin alone: has seen answered == n, acquire;    writing
 *                              reads the answer
 *
 *  - The origin stores busy = 0, release, when all its lanes are in writing.
 *  - One compare-and-swap brings `asked` from n to 0.  Whose it is copies: the owner, or the origin by the kernel.  So a question is carried out once, and
 *    before the call that asked it goes on: the copy is ordered as the kernel's would be.  Numbers are not 0, nor that of the lane's last answer.
 *  - The owner reads `write`, `pieces`, `more` and `question` only when the question is taken, and writes `answer` and `answered` only then; busy is 1 until the origin has
 *    seen `answered`, so nobody else writes or reads them meanwhile, whichever of the owner's threads took it.  Each origin's store of `asked` comes after the
 *    swap to 0 that ended the lane's question before: by way of `answered` (and `busy`), or of `busy` alone where it was withdrawn.
 *  - Nobody waits in idle, writing, or for `busy`: who finds it 1 takes the kernel.  In waiting the origin gives up by itself: an owner that leaves its wait,
 *    finalises, sleeps, is stopped, or waits where nobody looks, leaves the question there.  Nobody is woken for a question, so no wake-up can be lost.
 *    An origin that is killed then leaves its questions, one a lane at most, too, and the owner carries them out at its next look: before libopi tells it of the death, but perhaps
 *    after it has heard of that otherwise, and used the memory for something else.
 *  - In taken the origin waits.  It could not know whether a late store of the owner's would come after a later one, and a late load would be a race with what the
 *    program's threads may do then.  The owner takes no lock there, calls nothing and copies at most 8 KiB: it needs its processor and nobody, unless a thread of its program brings the pages
 *    (userfaultfd), which must not call MPI for that.  Where it has died the origin gives up: nobody stores any more, and the kernel refuses.  The desk is idle again then, and nobody answers there.
 *  - The owner looks inside the section or, without MPI_THREAD_MULTIPLE, on the one thread that is in a call of MPI.  The window is not freed before the
 *    origin has called to free it, so the memory is there while the owner copies.
 *  - Origins that ask each other look at their own desks in waiting and in taken.  What they are asked is done between two looks: no circle. */
#define OPIW_DESK_BYTES ((size_t)8 << 10)
#define OPIW_DESK_PIECES 128
#define OPIW_LANES 4
struct opiw_lane {
    _Atomic uint32_t asked; /* the number of the question that waits, 0: none */
    uint16_t pieces;
    uint8_t write;
    uint8_t more; /* another question is likely to follow at once */
    char question[OPIW_DESK_PIECES * sizeof(struct opiw_piece) + OPIW_DESK_BYTES + 56]; /* the pieces, then what is put */
    _Atomic uint32_t answered; /* the number of the last question that the owner has carried out.  It alone writes this and `answer` */
    uint32_t unused; /* so that both parts of data begin at a multiple of 8 */
    char answer[OPIW_DESK_BYTES + 56]; /* what is got */
    uint32_t number; /* of the last question; 0: none was asked.  The origin's */
    char apart[60];
};
struct opiw_desk {
    _Atomic uint32_t busy; /* 1 while somebody asks: who alone writes what is the origin's in the lanes */
    char apart[60];
    _Atomic uint32_t looks; /* how often the owner has looked at the lanes; a hint, relaxed: of two threads that look at once one may not be counted */
    char apart_too[60];
    struct opiw_lane lane[OPIW_LANES];
};
_Static_assert(sizeof(struct opiw_desk) % 64 == 0 && offsetof(struct opiw_desk, looks) % 64 == 0 && offsetof(struct opiw_desk, lane) % 64 == 0 &&
                   sizeof(struct opiw_lane) % 64 == 0 && offsetof(struct opiw_lane, answered) % 64 == 0 && offsetof(struct opiw_lane, number) % 64 == 0,
               "lines of their own");

enum opiw_held { OPIW_FREE, OPIW_HELD_SHARED, OPIW_HELD_EXCLUSIVE, OPIW_UNCHECKED };
/* A lock of the MPI beneath: asked for; an operation that moves bytes has been made under it; one of those has been completed. */
enum opiw_granted { OPIW_ASKED, OPIW_TRIED, OPIW_GRANTED };
enum opiw_kind { OPIW_PUT, OPIW_GET, OPIW_ACCUMULATE, OPIW_GET_ACCUMULATE, OPIW_FETCH, OPIW_SWAP, OPIW_KINDS };
/* What ends operations: at the target, at the origin alone, or the target's exposure epoch. */
enum opiw_ending { OPIW_FLUSHED, OPIW_FLUSHED_LOCAL, OPIW_WAITED };
enum opiw_access { OPIW_NONE, OPIW_FENCED, OPIW_STARTED, OPIW_LOCKED, OPIW_LOCKED_ALL };

/* Nanoseconds that a copy of one piece takes, 0: not known (from 8 KiB on: 8 KiB of it); how many there were. */
struct opiw_pace {
    uint32_t owner, kernel, turns;
};
#define OPIW_PACES 7 /* copies of up to 512 bytes, 2, 4, 8, 32, 256 KiB, and longer ones */

/* A member as another one sees it.  Constant after the window is made, but for what is marked; that belongs to the seeing rank alone. */
struct opiw_target {
    char *base; /* where the caller reaches its memory; for `direct` ones as an address of the caller's */
    size_t size;
    ptrdiff_t unit;
    struct opiw_seat *seat; /* NULL: on another node, and base, size, unit, and log say nothing */
    int id;              /* the side's name of the rank */
    struct opiw_batch *batch; /* marked: puts or gets that are kept for it (batch.c); NULL: none yet */
    struct opiw_desk *desk; /* of its process; NULL: it is not asked */
    void *log;           /* the side's, of a check of accesses; NULL: none */
    bool direct;         /* loads and stores reach its memory; else the kernel copies.  Not of dynamic windows */
    bool started;        /* marked: in the group of MPI_Win_start */
    uint8_t held;        /* marked: enum opiw_held */
    uint8_t granted;     /* marked: enum opiw_granted; in windows that span nodes, while it is held */
    bool lost;           /* marked: the kernel found no such process when it was to copy */
    bool carried;        /* marked: the MPI beneath has had operations on it since the last flush; in windows that span nodes */
    uint8_t passed, passing; /* marked: questions that are still not to be asked after one in vain, and how many there were then */
    bool answers;        /* marked: the last question was answered; false before the first one */
    bool left;           /* marked: something was left to it in the epoch that ends */
    uint32_t looks;      /* marked: its desk's, when the last question was in vain */
    struct opiw_pace pace[OPIW_PACES]; /* marked */
    uint32_t posts, completions; /* marked: what the caller has last written to the seat */
    uint32_t taken;      /* marked: posts of its that MPI_Win_start has seen */
    uint32_t seen;       /* marked: its completions that MPI_Win_wait has seen */
};

/* A window as one member sees it; only that rank (and its threads, one at a time) touches it. */
struct opiw_win {
    int rank, size;
    int nnear, *near; /* the members on this node; `near` NULL: all */
    bool spans;    /* some are on other nodes: span.c */
    bool carried;  /* marked as a target's, of any of them */
    bool dynamic;  /* displacements are addresses */
    bool exposed;  /* between MPI_Win_post and the end of MPI_Win_wait */
    bool used;     /* the fence epoch has had an operation */
    bool owed;     /* at the last fence something was left to a target, which may have yet to store it */
    bool watched;  /* the side wants to hear of operations and of their ends */
    struct opiw_batch *batches; /* those that hold something are among them */
    uint32_t fences; /* how many there were; all members count alike */
    uint8_t access; /* enum opiw_access */
    int locks;     /* targets that are locked, one at a time */
    int nstart, npost;
    int *start, *post; /* the groups of the epochs that are open */
    struct opiw_target *at;
    MPI_Op fit_op; /* of the last accumulate: that operation has this type (opiw_op_fits).  Neither before the first */
    MPI_Datatype fit_type;
    void *side; /* what the side keeps */
    void *order; /* where members are in other processes, and some are not: what order.h takes, the same for all of this process; NULL: elsewhere */
};

/* Who tells another rank something, and who has heard it, says so here; in windows of one process ThreadSanitizer judges the numbers in the seats themselves. */
static inline void opiw_tells(const struct opiw_win *w) {
    opi_order_tells(w->order);
}

static inline void opiw_heard(const struct opiw_win *w) {
    opi_order_heard(w->order);
}

/* A datatype. */
struct opiw_shape {
    size_t size;
    ptrdiff_t extent, true_lb, true_extent;
    bool contiguous, named, opaque; /* opaque: only whole messages can be packed, by the MPI below */
    struct opi_part layout;
    void *type; /* the side's description */
};

/* ---- the side -------------------------------------------------------------------------------------------------------------------------------- */

/* The window that a handle stands for; NULL: none of ours, and then opiw_unknown says what the call answers. */
struct opiw_win *opiw_of(MPI_Win win);
int opiw_unknown(const char *call, MPI_Win win);
/* The same for an operation with so many elements. */
int opiw_unknown_op(const char *call, MPI_Win win, enum opiw_kind kind, MPI_Count count, MPI_Datatype type);
/* Around all that touches a window or a datatype; what waits lets others in between. */
void opiw_begin(void);
void opiw_end(void);
/* Begin, and opiw_of. */
struct opiw_win *opiw_begin_of(MPI_Win win);
/* Until `ready` says so.  Inside begin and end; nothing but `ready` runs for this rank meanwhile.  `on`: the member waited for, -1: any.  False: it will not
 * come, since a rank has died. */
bool opiw_wait(const char *call, struct opiw_win *w, int on, bool (*ready)(void *), void *of);
void opiw_wake(struct opiw_win *w, int member);
/* After a test in vain; and where a program may look again and again for what another rank does: ranks that take turns give theirs. */
void opiw_vain(void);
void opiw_turn(void);
/* Raises an error class through the window's handler and returns it.  Outside begin and end. */
int opiw_raise(struct opiw_win *w, int class, const char *call, const char *why);
int opiw_lost_class(void);
/* `buf`: where data of this type lie in the caller's memory, or NULL.  False: no valid datatype. */
bool opiw_shape_of(MPI_Datatype type, const void *buf, struct opiw_shape *s);
/* The size of a predefined type without gaps, whose elements the caller's loads and stores reach; 0: some other type. */
size_t opiw_plain_size(MPI_Datatype type);
/* False: MPI_Reduce_local of this predefined type would not return, but end the program.  Inside begin and end. */
bool opiw_op_fits(MPI_Op op, MPI_Datatype type);
void opiw_pack(const struct opiw_shape *s, const void *buf, size_t count, size_t at, size_t n, void *to);
void opiw_unpack(const struct opiw_shape *s, void *buf, size_t count, size_t at, size_t n, const void *from);
/* Do loads and stores reach these bytes of another member, at this address?  Asked for dynamic windows. */
bool opiw_reaches(const struct opiw_win *w, const struct opiw_target *t, const void *p, size_t n);
/* Memory that all members reach who are on this node, at the same address; NULL: there is none.  Inside begin and end. */
void *opiw_common(size_t n);
void opiw_common_free(void *p);
/* The process of a target that loads and stores do not reach. */
int opiw_pid(const struct opiw_target *t);
/* The members of a group, by their rank in the window, to be freed; NULL where one is no member or memory is short.  A group of none gives one unused int. */
int *opiw_members(struct opiw_win *w, MPI_Group group, int *n);
/* Has the process of a target with a desk died? */
bool opiw_gone(const struct opiw_target *t);
struct opiw_op;
/* Of windows that are watched: an operation is about to touch its target (`op`: MPI_OP_NULL where it has none; `requested`: it has a request); the operations
 * of this rank on a target, -1: on all, have ended, or with OPIW_WAITED those of all ranks on this one. */
void opiw_watch(struct opiw_op *o, enum opiw_kind kind, MPI_Op op, bool requested);
void opiw_watch_end(const char *call, struct opiw_win *w, int target, enum opiw_ending how);
/* A request that is complete. */
void opiw_complete(const char *call, MPI_Request *request);

/* ---- kernel.c -------------------------------------------------------------------------------------------------------------------------------------- */

/* Is the kernel to copy between processes at all?  As the user says. */
bool opiw_kernel_wanted(void);
/* One copy by the kernel between memory of the caller and pieces of another member's.  False where it refuses. */
bool opiw_kernel(struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write);

/* ---- ask.c ------------------------------------------------------------------------------------------------------------------------------------------ */

/* The same by the target's process where it waits and the copy is small or of one piece, else by the kernel. */
bool opiw_carry(struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write);
/* By the target's process.  False where that does not look now, and then nothing was copied. */
bool opiw_ask(struct opiw_target *t, void *mine, const struct opiw_piece *theirs, size_t pieces, size_t n, bool write);
extern struct opiw_desk *_Atomic opiw_own_desk; /* NULL: nobody asks this process */
void opiw_answer(struct opiw_desk *d, bool stays);

/* `stays`: nothing of the caller's waits for it, so that it may wait a moment for the next part of a long copy. */
static inline bool opiw_look_at(struct opiw_desk *d, bool stays) {
    uint32_t asked = 0;
    atomic_store_explicit(&d->looks, atomic_load_explicit(&d->looks, memory_order_relaxed) + 1, memory_order_relaxed);
    for (int i = 0; i < OPIW_LANES; i++)
        asked |= atomic_load_explicit(&d->lane[i].asked, memory_order_relaxed);
    if (OPIW_UNLIKELY(asked != 0))
        opiw_answer(d, stays);
    return asked != 0;
}

/* Does what is asked of this process.  Wherever it waits, in the section or outside: nothing of ours is touched.  True: something was asked. */
static inline bool opiw_look(bool stays) {
    struct opiw_desk *d = atomic_load_explicit(&opiw_own_desk, memory_order_acquire);
    return OPIW_UNLIKELY(d != NULL) && opiw_look_at(d, stays);
}
/* The same where the next look is some time off. */
void opiw_look_seldom(void);

/* ---- copy.c ---------------------------------------------------------------------------------------------------------------------------------------- */

#define OPIW_LONG ((size_t)16 << 10)
void opiw_copy_long(void *to, const void *from, size_t n);

/* memmove, for memory that may be long. */
static inline void opiw_copy(void *to, const void *from, size_t n) {
    if (n < OPIW_LONG)
        memmove(to, from, n);
    else
        opiw_copy_long(to, from, n);
}

/* ---- reach.c: the bytes of a target -------------------------------------------------------------------------------------------------------------- */

/* One operation. */
struct opiw_op {
    const char *call;
    struct opiw_win *w;
    struct opiw_target *t;
    char *addr;  /* the first element's origin in the target's memory */
    size_t n;    /* bytes to be moved */
    size_t count, rcount;
    struct opiw_shape local, remote;
    bool direct;
    const char *why; /* of an error */
};
/* Bytes [at, at + n) of the target's elements, in type-map order.  An error class, or MPI_SUCCESS. */
int opiw_store(struct opiw_op *o, size_t at, size_t n, const void *packed);
int opiw_load(struct opiw_op *o, size_t at, size_t n, void *packed);
/* Each run of bytes that the operation touches at the target; false where the type does not tell. */
bool opiw_pieces(struct opiw_op *o, void (*see)(void *of, char *at, size_t n), void *of);
int opiw_put_all(struct opiw_op *o, const void *origin);
int opiw_get_all(struct opiw_op *o, void *origin);

/* An error of the kernel's. */
int opiw_refused(struct opiw_op *o);

/* ---- batch.c --------------------------------------------------------------------------------------------------------------------------------------- */

/* Keeps an operation that is not direct; false where it has to be done now.  `rc`: what became of those kept before, where there was no room. */
bool opiw_keep(struct opiw_op *o, void *local, bool put, int *rc);
/* What is kept for a target, if it is puts that can be left to it, is.  And what another member has left to this rank, due then: it is stored. */
void opiw_leave(struct opiw_win *w, struct opiw_target *t, uint32_t due);
void opiw_take(struct opiw_win *w, int from, uint32_t due);
/* The same for all, before a fence and after its barrier. */
void opiw_leave_all(struct opiw_win *w);
void opiw_take_all(struct opiw_win *w);
void opiw_batch_drop(struct opiw_batch *b);
/* All that is kept for a target, NULL: for all, happens.  False where the kernel refuses some of it. */
bool opiw_settle(struct opiw_win *w, struct opiw_target *t);

/* ---- combine.c ------------------------------------------------------------------------------------------------------------------------------------- */

bool opiw_op_known(MPI_Op op);
/* `result` NULL: nothing is fetched. */
int opiw_combine_all(struct opiw_op *o, MPI_Op op, const void *origin, MPI_Datatype rtype, void *result, size_t result_count, const struct opiw_shape *rs);
int opiw_swap(struct opiw_op *o, const void *origin, const void *compare, void *result);

/* ---- lock.c --------------------------------------------------------------------------------------------------------------------------------------- */

/* For the lock or the accumulating of a seat; and after giving one back. */
bool opiw_queue(const char *call, struct opiw_win *w, struct opiw_seat *s, bool (*ready)(void *), void *of);
void opiw_let_in(struct opiw_win *w, struct opiw_seat *s);
/* A target's lock, waited for; false: it will not come.  Given back as `held` says. */
bool opiw_acquire(const char *call, struct opiw_win *w, int target, bool exclusive);
void opiw_give_back(struct opiw_win *w, int target);

/* ---- span.c: windows that span nodes; inside begin and end, which they leave where they call the MPI beneath -------------------------------------------- */

/* Is an operation on this target the MPI's?  Notes that it is.  An invalid target or one that no epoch allows is not: the rest refuses it. */
bool opiw_leaves(struct opiw_win *w, int target, bool accumulates);
/* Before a put or get by loads and stores: makes sure of the lock, or answers OPIW_NATIVE, or an error that the MPI has raised. */
int opiw_under_lock(struct opiw_op *o, MPI_Win win);
/* The MPI has returned from locking a target; `checked`: not with MPI_MODE_NOCHECK. */
void opiw_locked(struct opiw_win *w, int target, bool checked);
/* Target -1: all. */
int opiw_flush_below(struct opiw_win *w, int target, bool local, MPI_Win win);

/* ---- sync.c ---------------------------------------------------------------------------------------------------------------------------------------- */

/* May the caller access this target now?  NULL, or why not. */
const char *opiw_no_epoch(struct opiw_win *w, const struct opiw_target *t);
static inline bool opiw_may(struct opiw_win *w, const struct opiw_target *t) {
    return w->access == OPIW_LOCKED_ALL || !opiw_no_epoch(w, t);
}
bool opiw_barrier(const char *call, struct opiw_win *w);
void opiw_wake_all(struct opiw_win *w); /* the others on this node */
size_t opiw_seat_bytes(int members);
struct opiw_note *opiw_note(struct opiw_seat *s, int members, int of, uint32_t due);
/* The last that a member does with a window: false where another will not come.  Its own seat may be freed afterwards. */
bool opiw_depart(const char *call, struct opiw_win *w);
void opiw_drop(struct opiw_win *w);

/* The i-th member on this node. */
static inline int opiw_near(const struct opiw_win *w, int i) {
    return OPIW_UNLIKELY(w->near != NULL) ? w->near[i] : i;
}

/* ---- the calls (op.c, sync.c) ------------------------------------------------------------------------------------------------------------------------ */

int opiw_put(const char *call, const void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype,
             MPI_Win win, MPI_Request *request);
int opiw_get(const char *call, void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype, MPI_Win win,
             MPI_Request *request);
int opiw_accumulate(const char *call, const void *origin, MPI_Count count, MPI_Datatype type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype,
                    MPI_Op op, MPI_Win win, MPI_Request *request);
int opiw_get_accumulate(const char *call, const void *origin, MPI_Count count, MPI_Datatype type, void *result, MPI_Count result_count,
                        MPI_Datatype result_type, int target, MPI_Aint disp, MPI_Count rcount, MPI_Datatype rtype, MPI_Op op, MPI_Win win,
                        MPI_Request *request);
int opiw_fetch_and_op(const char *call, const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Op op, MPI_Win win);
int opiw_compare_and_swap(const char *call, const void *origin, const void *compare, void *result, MPI_Datatype type, int target, MPI_Aint disp, MPI_Win win);
int opiw_fence(const char *call, int asserted, MPI_Win win);
int opiw_post(const char *call, MPI_Group group, int asserted, MPI_Win win);
int opiw_start(const char *call, MPI_Group group, int asserted, MPI_Win win);
int opiw_complete_epoch(const char *call, MPI_Win win);
int opiw_wait_epoch(const char *call, MPI_Win win);
int opiw_test_epoch(const char *call, MPI_Win win, int *flag);
int opiw_lock(const char *call, int type, int target, int asserted, MPI_Win win);
int opiw_unlock(const char *call, int target, MPI_Win win);
int opiw_lock_all(const char *call, int asserted, MPI_Win win);
int opiw_unlock_all(const char *call, MPI_Win win);
int opiw_flush(const char *call, int target, enum opiw_ending how, MPI_Win win);
int opiw_flush_all(const char *call, enum opiw_ending how, MPI_Win win);
int opiw_sync(const char *call, MPI_Win win);

#pragma GCC visibility pop

#endif
