/* types.h - every structure of libopi_ranks that several files share: who writes it, who reads it, and under which lock.  ranks.h has the words and the order
 * of the locks, and includes this file. */
#ifndef OPIR_TYPES_H
#define OPIR_TYPES_H

#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/datatypes/layout.h"

/* ---- handles (handle.c) -------------------------------------------------------------------------------------------------------------- */

enum opir_kind { OPIR_FREE, OPIR_COMM, OPIR_GROUP, OPIR_REQUEST, OPIR_MESSAGE, OPIR_ERRHANDLER, OPIR_WIN };

/* First member of everything that a handle stands for.  Written by the rank that makes the object before the handle leaves its hands. */
struct opir_obj {
    uint32_t handle; /* number in the table, from 1; 0: none yet (only where handles are addresses) */
    uint8_t kind;
};

/* ---- datatypes (type.c) -------------------------------------------------------------------------------------------------------------- */

/* A datatype.  Constant once made; `refs` counts the type itself and the pending operations that use it. */
struct opir_type {
    MPI_Datatype handle;
    size_t size;
    ptrdiff_t lb, extent, true_lb, true_extent;
    struct opi_part layout; /* of one element (shared/datatypes/layout.h) */
    bool contiguous, named, opaque; /* opaque: only the MPI below knows how to pack it */
    atomic_int refs;
    struct opir_type *base; /* of a private handle: whose layout this is */
};

/* ---- groups and communicators (group.c, comm.c) ------------------------------------------------------------------------------------- */

/* An ordered set of ranks, shared by all that hold it, constant but for `refs` and the index, which is made once under its lock. */
struct opir_group {
    struct opir_obj obj;
    atomic_int refs;
    int size;
    int *world; /* world rank of each member; NULL: 0, 1, 2, ... */
    _Atomic(int *) index; /* members sorted by world rank, made when first needed */
};

struct opir_topo;
struct opir_meeting;
struct opir_coll;
struct opir_spread;
struct opir_arena;

/* What all members of a communicator in this process share.  `open`, `spare` and `meetings` are guarded by `lock`; the rest is constant. */
struct opir_shared {
    atomic_int refs; /* members in this process that have not freed it, and what pends on it */
    uint64_t ctx; /* never used again, the same in all processes; OPIR_INTERNAL is free */
    int here; /* members in this process */
    struct opir_spread *spread; /* where the members are; NULL: all in this process */
    bool inter;
    struct opir_group *group[2]; /* of an intercommunicator both sides, else the same twice */
    struct opir_topo *topo;
    pthread_mutex_t lock;
    struct opir_coll *open; /* collectives that some and not all members have reached */
    struct opir_coll *spare;
    struct opir_meeting *meetings; /* creations by some of the members */
};

#define OPIR_INTERNAL ((uint64_t)1 << 63) /* added to a context: messages of ours, not the program's */

struct opir_attr {
    struct opir_attr *next;
    int keyval;
    void *value;
};

struct opir_errh {
    struct opir_obj obj;
    atomic_int refs;
    MPI_Comm_errhandler_function *function; /* of a communicator's, else NULL */
    MPI_Win_errhandler_function *win_function; /* of a window's, else NULL */
};

/* A communicator as one member sees it; only that rank touches it. */
struct opir_comm {
    struct opir_obj obj;
    struct opir_shared *shared;
    struct opir_group *local, *remote; /* of an intracommunicator the same */
    int rank;
    int side;
    uint64_t ctx; /* shared->ctx */
    uint64_t seq; /* collectives begun */
    uint32_t persistent; /* persistent collectives made, less than 2^31: they match by this order, however they are started */
    int refs; /* the handle, and this rank's requests */
    int idle; /* of these, persistent ones that are not started */
    bool freed;
    MPI_Errhandler errh; /* as the program set it */
    struct opir_attr *attrs;
    char *name;
    MPI_Info info;
};

/* ---- messages and requests (match.c, send.c, request.c) --------------------------------------------------------------------------------------- */

struct opir_req;
struct opir_far;

enum opir_msg_kind {
    OPIR_M_EAGER, /* `bytes` packed bytes after the message, which lies on the heap */
    OPIR_M_REF,   /* the data are where the sender's request says; the message is part of that request */
    OPIR_M_BLOCK, /* `block` of `room` bytes with packed data, owned by the message; the message lies on the heap */
    OPIR_M_COPY,  /* the same, and the block goes back to the rank `home` */
    OPIR_M_FAR    /* the data are in another process; the message lies on the heap */
};

/* A message that its receiver has not asked for.  In the receiver's queue under the receiver's lock; taken out, it belongs to whoever took it. */
struct opir_msg {
    struct opir_obj obj; /* of MPI_Message, after a matched probe */
    uint8_t kind;
    struct opir_msg *next, *prev;
    uint64_t ctx;
    int src, tag; /* src: the sender's rank in its group */
    size_t bytes;
    void *block;
    size_t room;
    struct opir_rank *home;
    struct opir_req *sender; /* of a REF; of a BLOCK: the give that is complete once it leaves the queue, or NULL */
    struct opir_rank *to; /* in whose queue it is; NULL: taken out */
    int from; /* the process that it came from, plus one; 0: this one */
    uint64_t id; /* of a FAR one: what its sender's process calls it */
};

enum opir_req_kind {
    OPIR_R_SEND = 1,
    OPIR_R_RECV,
    OPIR_R_COLL,
    OPIR_R_PAIR, /* of MPI_Isendrecv: `first` and `second` */
    OPIR_R_GREQ,
    OPIR_R_NULL /* complete from the start */
};

enum opir_mode { OPIR_STANDARD, OPIR_SYNC, OPIR_BUFFERED, OPIR_READY, OPIR_GIVE };

enum opir_coll_kind {
    OPIR_BARRIER, OPIR_BCAST, OPIR_GATHER, OPIR_SCATTER, OPIR_ALLGATHER, OPIR_ALLTOALL, OPIR_REDUCE, OPIR_ALLREDUCE, OPIR_REDUCE_SCATTER, OPIR_SCAN,
    OPIR_EXSCAN, OPIR_NEIGHBOR_ALLGATHER, OPIR_NEIGHBOR_ALLTOALL,
    /* Those that make communicators (make.c). */
    OPIR_MAKE_DUP, OPIR_MAKE_SPLIT, OPIR_MAKE_GROUP, OPIR_MAKE_TOPO, OPIR_MAKE_MERGE, OPIR_MAKE_INTER
};

/* What one rank brings to a collective.  Counts and displacements are ints or wider: csize and dsize are the sizes of one. */
struct opir_args {
    int kind; /* enum opir_coll_kind */
    uint8_t csize, dsize;
    const void *sbuf;
    void *rbuf;
    MPI_Count scount, rcount;
    const void *scounts, *rcounts, *sdispls, *rdispls;
    MPI_Datatype stype, rtype;
    const MPI_Datatype *stypes, *rtypes;
    MPI_Op op;
    int root;
    bool v, w;           /* counts, and types, for each peer */
    bool has_s, has_r;   /* the call has a send side, a receive side */
    bool in_place;
    bool remote; /* of a member in another process: what it sent of itself (bundle.c) */
    int error;           /* how it ended for this rank */
    struct opir_shared *on;
    struct opir_type *st, *rt; /* what the handles stand for; held while the request pends */
    struct opir_type **sts, **rts;
    int nsts, nrts; /* how many types of peers */
    int color, key; /* of creations of communicators */
    void *what;     /* of the same: what the rank brings, by kind */
    struct opir_comm *made;
};

/* A request, or on the stack a blocking operation.  Until `done` is set (release) by whoever completes it, the fields of the result belong to the
 * completer, afterwards to the owner (acquire); the completer does not touch it after that.  The links belong to the lock of the rank in whose queue it is. */
struct opir_req {
    struct opir_obj obj;
    atomic_bool done;
    uint8_t kind, mode;
    bool persistent, active, take, cancelled, detached, posted, on_stack, lent;
    struct opir_rank *owner;
    struct opir_comm *comm;
    struct opir_type *type;
    const char *call;
    uint64_t ctx;
    int peer, tag; /* peer: dest or source in the communicator, MPI_PROC_NULL and the wildcards included */
    void *buf;
    size_t count, bytes; /* bytes: count x size of the type */
    /* The result. */
    int r_source, r_tag, r_error;
    size_t r_bytes;
    void *block; /* of a take: what it got; of a give: what it gives */
    size_t room;
    struct opir_req *next, *prev;           /* in the owner's posted receives, or its free ones */
    struct opir_req *lent_next, *lent_prev; /* in the owner's sends that wait to be matched; only the owner touches these */
    struct opir_req *detached_next;
    struct opir_req *first, *second;
    struct opir_msg msg;
    struct opir_msg *gave; /* of a give that waits, until it is done: its message, in the receiver's queue under the receiver's lock */
    struct opir_far *far; /* of a send to another process that has not completed at once; far.c guards it */
    uint32_t order, starts; /* of a persistent collective: the how manieth of its communicator, and how often it was started */
    struct opir_args *a; /* of a collective: of a blocking one on the caller's stack, else `args` */
    struct opir_args args;
    MPI_Grequest_query_function *g_query;
    MPI_Grequest_free_function *g_free;
    MPI_Grequest_cancel_function *g_cancel;
    void *g_state;
    MPI_Comm *new_comm;
};

/* ---- ranks ---------------------------------------------------------------------------------------------------------------------------- */

struct opir_blocks;
struct opir_inbox;
struct opir_line;
struct opir_exit;
struct opir_libc;

/* A fiber.  Only the thread that runs all fibers touches it. */
struct opir_fiber {
    void *sp; /* NULL: not started */
    struct opir_rank *next; /* in the queue of those that can run, or of the sleepers */
    uint8_t state; /* enum opir_fiber_state */
    uint64_t until; /* of a sleeper: nanoseconds */
};

/* The lock of a rank's queues (guard.h).  visited and alone under the mutex. */
struct opir_guard {
    atomic_bool inside; /* written by the owner: it has the lock without the mutex, or is about to look whether it may */
    atomic_bool shared; /* written under the mutex: others may have the lock, and the owner takes the mutex, too */
    bool by_mutex;      /* the owner's: it has taken the mutex */
    bool visited;       /* another has had the lock since the owner had it last */
    uint16_t alone;     /* so often in succession the owner has taken the mutex in vain */
    pthread_mutex_t mutex;
};

/* `guard` guards the posted receives, the unexpected messages, and what is taken out of `inbox`.  Everything else belongs to the rank itself. */
struct opir_rank {
    struct opir_guard guard;
    struct opir_inbox *inbox; /* of a thread (inbox.h), else NULL; others take it from opir.inboxes */
    struct opir_req *posted_head, *posted_tail;
    struct opir_msg *msg_head, *msg_tail;
    size_t eager_bytes; /* of the unexpected messages that hold their data */
    bool probing; /* wake it when a message comes */

    int world;
    bool initialized, finalized;
    atomic_bool ended; /* others read it when nobody else runs (thread.c); ordered by what counts those */
    int provided;
    int code;
    struct opir_fiber fiber;
    struct opir_comm *world_comm, *self_comm;
    MPI_Datatype type_handle; /* the last type used, and what it stands for */
    struct opir_type *type;
    MPI_Op op; /* the last predefined operation that was seen to know a type, and the type */
    const struct opir_type *op_type;
    struct opir_req *free, *detached;
    struct opir_req *sent; /* for what is complete as it is started; NULL: not used yet */
    struct opir_req *lent; /* sends that wait to be matched and may be copied aside, and gives that wait for room */
    struct opir_blocks *blocks; /* buffers that this rank owns */
    const char *call; /* for the report of a deadlock: what it waits in, and for which request */
    const struct opir_req *waits;
    atomic_int chores; /* collectives that it may do, as a member (around.c); others write it, the rank only looks whether there are some */
    uint32_t vain; /* tests that found nothing: of so many one lets others have the processor (wait.c) */
    /* Seldom used, and so many that the next rank's lock is on another cache line than what is used often. */
    struct opir_line *line; /* what it has printed without an end of line */
    struct opir_exit *exits;
    struct opir_libc *libc; /* what the C library remembers for it; NULL: nothing yet */
    size_t bsend_size;
    void *bsend_buffer;
    jmp_buf *leave; /* threads: where exit goes */
    char **argv;
    uintptr_t globals; /* its private globals in the form struct, else 0 */
};

/* The process.  Constant once the ranks run, but for the atomics. */
struct opir_process {
    bool threads, fibers;
    bool several; /* processes */
    int size; /* of the program's MPI_COMM_WORLD */
    int first, here; /* the ranks of this process: the first, and how many */
    int process, processes;
    int *firsts; /* the first rank of each process, and after the last one `size` */
    int *node; /* of each process: the lowest process that shares its node */
    int *pid;  /* of each process, as its own node knows it */
    struct opir_rank *rank; /* those of this process */
    struct opir_inbox *inboxes; /* of threads, in the same order: looked up without a look at the rank, whose lines its owner writes */
    struct opir_group *world_group;
    struct opir_shared *world;
    size_t eager; /* up to this size a send that nobody waits for is copied aside at once */
    size_t eager_cap; /* as long as its receiver has no more than this waiting; past that a give is complete when it is received */
    size_t stack;
    bool rr;
    bool check, profile; /* OPI_CHECK and OPI_PROFILE; the first as this process is told, the second where one of them is */
    bool crowded; /* more ranks on this node than processors */
    bool shoots; /* threads: who goes to sleep makes all others pass a barrier, so that who wakes needs none (thread.c) */
    int spins;
    uintptr_t *(*base)(void); /* where the globals of the calling thread's rank are; NULL: nowhere */
    _Atomic uint64_t next_ctx;
};

#endif
