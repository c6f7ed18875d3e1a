/* types.h - every structure of libopi, with who writes it, who reads it, and under which ordering.
 *
 * Words: a *rank* is an MPI process; the *node* is the set of ranks that share a heap; a rank's *local index* is its number in the node (0..nlocal-1);
 * its *slot* is its place in the address space.  An *envelope* is the 64-byte description of a message; a *block* is a buffer of the shared heap;
 * a *ring* carries envelopes from one rank to one other.
 *
 * Who runs: the owner thread of a rank (inside a libopi call), its helper thread, or a guest, another thread that allocates or frees (helper.c), never two of
 * them; so everything not marked shared below is plain memory with one user at a time.  Where any thread may call MPI (MPI_THREAD_SERIALIZED, MULTIPLE) a mutex
 * takes the place of that rule. */
#ifndef OPI_TYPES_H
#define OPI_TYPES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shared/datatypes/layout.h"
#include "opi.h"
#include "shared/window.h"

/* Here they are functions. */
#undef OPI_Alloc
#undef OPI_Free
#undef OPI_Give
#undef OPI_Sgive
#undef OPI_Take
#undef OPI_Igive
#undef OPI_Itake
#undef OPI_Take_replace
#undef OPI_Itake_replace
#undef OPI_Givetake
#undef OPI_Givetake_replace
#undef OPI_Giverecv
#undef OPI_Sendtake

#define OPI_LINE 64
#define OPI_ALIGNED __attribute__((aligned(OPI_LINE)))
#define OPI_LIKELY(x) __builtin_expect(!!(x), 1)
#define OPI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define OPI_COLD __attribute__((cold, noinline))

#if defined(__SANITIZE_THREAD__)
#define OPI_TSAN 1
#else
#define OPI_TSAN 0
#endif

#pragma GCC visibility push(hidden)

/* ---- address space (window.h, heap.c) ------------------------------------------------------------------------------------------------------------- */

#define OPI_PAGE_SHIFT 16 /* unit of the class map: each 64 KiB belongs to one run, so to one size class */
#define OPI_PAGE ((uintptr_t)1 << OPI_PAGE_SHIFT)

/* Size classes: 64..512 in steps of 64, then four steps a doubling.  8 + 4 * (38 - 9) classes reach the whole region. */
#define OPI_CLASSES 124 /* class + 1 fits in seven bits */

struct opi_ring;

/* The head of a rank's window, in shared memory.  Fields are grouped by writer, a cache line each. */
struct opi_arena {
    /* Constant after opi_heap_init; readers map it later (in MPI_Init, which synchronises). */
    uint64_t magic;
    uint64_t window; /* bytes */
    int32_t slot;
    int32_t pid;
    int32_t fd; /* of the memfd, for peers to open through /proc */

    /* Blocks of this arena that others freed, linked through their first word.  Anyone pushes (release), the owner takes the whole list (acquire);
     * taking all at once leaves no ABA. */
    _Atomic(void *) homecoming OPI_ALIGNED;

    /* Nonzero while the owner thread is inside libopi.  Written by the owner only, read by kickers as a hint and by the helper under membarrier. */
    _Atomic uint32_t inside OPI_ALIGNED;
    /* Envelopes waiting for room in a ring: a receiver that waits long kicks the helper of a peer with some.  A hint. */
    _Atomic uint32_t backlog;

    /* 1 while the owner sleeps on it (futex).  Owner sets, any waker clears.  A lost wake-up costs one sleep, at most 100 us. */
    _Atomic uint32_t asleep OPI_ALIGNED;

    /* 1 from when the owner has begun MPI_Finalize: that it ends then is in order.  Owner stores (release), anyone reads. */
    _Atomic uint32_t left;

    /* Incremented to wake the helper (futex). */
    _Atomic uint32_t kick OPI_ALIGNED;

    /* Rings into this rank.  A sender stores its ring in the first place that is NULL (compare-and-swap, release) and then adds to the number; the owner reads
     * in order up to the first NULL.  So a sender that dies between the two hides nobody's ring: the number is a hint that there are new ones. */
    _Atomic uint32_t nrings OPI_ALIGNED;
    _Atomic(struct opi_ring *) rings[OPI_MAX_LOCAL];

    /* Size class + 1 of every 64 KiB of the window, 0 where nothing was carved.  Written once by the owner before the first block of the run leaves
     * its hands; whoever holds a block got it through a release/acquire pair, so plain reads are ordered. */
    uint8_t class_map[] OPI_ALIGNED;
};

/* ---- envelopes and rings (ring.h) ------------------------------------------------------------------------------------------------------- */

#define OPI_INLINE_MAX OPI_INLINE_LIMIT

/* Payload of a message that takes several slots: the first holds OPI_INLINE_MAX bytes, each further one all but its stamp. */
#define OPI_MORE_BYTES ((size_t)OPI_LINE - sizeof(uint32_t))
#define OPI_LONG_SLOTS 7u /* further slots at most; a ring has always room for one such message (opi_progress_ring) */
#define OPI_LONG_MAX (OPI_INLINE_MAX + OPI_LONG_SLOTS * OPI_MORE_BYTES)

enum opi_kind {
    OPI_K_MORE = 0,   /* not an envelope: a further slot of a LONG message */
    OPI_K_INLINE = 1, /* `len` bytes of payload in the envelope */
    OPI_K_LONG,       /* `len` bytes of payload in the envelope and the slots after it; only in rings */
    OPI_K_COPY,       /* a LONG message that nobody expected: `size` bytes in private memory of the receiver */
    OPI_K_BLOCK,      /* a block with `size` bytes of packed data, owned by the envelope: a Give, or data its sender copied */
    OPI_K_PIPE,       /* a desc whose block the sender is still filling */
    OPI_K_RNDV        /* a desc: the data lie at desc->addr and the sender waits for desc->state */
};

/* `len` of a block envelope: its bytes count against the sender's cap. */
#define OPI_LEN_ACCOUNTED 1

/* One cache line: flag, envelope and small payload travel in one transfer.  The producer writes the body, then `stamp` with release; the consumer
 * reads `stamp` with acquire.  stamp = lap << 16 | kind << 12 | len, lap counting the ring's rounds from 1, so slots need no clearing.
 *
 * A LONG message fills the slots after its envelope too, before the envelope's stamp is stored.  They carry a stamp of their own, kind MORE and the lap they
 * were written in (relaxed; no one waits for it), so that a slot which is an envelope in a later lap never shows that lap's number by chance. */
struct opi_slot {
    _Atomic uint32_t stamp;
    int32_t tag;
    uint64_t ctx; /* context of the communicator, with the source's identity given by the ring */
    union {
        unsigned char data[OPI_INLINE_MAX];
        struct {
            void *ptr;
            uint64_t size; /* bytes of packed data */
        } ref;
    } u;
} OPI_ALIGNED;

#define OPI_STAMP(lap, kind, len) ((uint32_t)(lap) << 16 | (uint32_t)(kind) << 12 | (uint32_t)(len))

/* A single-producer single-consumer ring in the sender's arena, created at the first message of an ordered pair. */
struct opi_ring {
    /* Consumer's line.  head: slots consumed, release after the slots were read; the producer acquires it when the ring looks full.
     * freed: accounted bytes consumed, monotone. */
    _Atomic uint32_t head OPI_ALIGNED;
    _Atomic uint64_t freed;
    /* Constant. */
    uint32_t nslots OPI_ALIGNED; /* power of two */
    int32_t src;                 /* local index of the producer */
    struct opi_slot slot[] OPI_ALIGNED;
};

/* A message whose data are not in the envelope.  Lives in a block of the sender's arena.
 *
 *   OPEN      -> CLAIMED -> DONE       receiver takes the data from `addr`; then the sender frees the desc
 *   OPEN      -> BUFFERING -> BUFFERED sender copies to `block` and leaves; the receiver frees block and desc
 *   BUFFERING -> WANTED -> BUFFERED    the same, and the receiver has claimed it meanwhile: it does not wait here, but as for any data still to come
 *   WANTED    -> CLAIMED               there was no memory for a block: the receiver takes the data from `addr` after all
 *   OPEN      -> CANCELLED             sender withdrew; the receiver drops the envelope and frees the desc
 * CLAIMED   -> COPYING -> DONE       both copy blocks (copy.c)
 *   CLAIMED   -> REFUSED -> BUFFERED   the receiver cannot read the sender's memory: the sender copies to `block` after all
 *   CLAIMED   -> REFUSED -> FLOWING -> DONE   and where there is no memory for all of it, piece by piece through a small `block`
 * OPEN and BUFFERING are left by compare-and-swap (acq_rel), so exactly one side wins; the other states are left with release stores by their owner.
 * The two may be at work at the same time in COPYING only; whoever is left alone there by the other's death waits as for any request (alive.c).
 * A PIPE desc starts BUFFERED with `filled` growing (release by the sender, acquire by the receiver). */
enum opi_desc_state { OPI_D_OPEN = 1, OPI_D_CLAIMED, OPI_D_DONE, OPI_D_BUFFERING, OPI_D_BUFFERED, OPI_D_CANCELLED, OPI_D_COPYING, OPI_D_REFUSED, OPI_D_WANTED,
                      OPI_D_FLOWING };

struct opi_desc {
    _Atomic uint32_t state;
    uint32_t owned; /* addr is a block that passes to the receiver */
    _Atomic uint64_t filled;
    void *addr;
    uint64_t size;
    void *block;
    uint32_t accounted; /* block's bytes count against the cap */
    uint32_t remote;    /* addr is private memory of the sender: the kernel copies */
    uint64_t room;      /* while FLOWING: bytes of `block`, written round and round; `filled` and `moved` count what went in and came out */
    uint32_t flow;      /* the kernel does not: the receiver need not try */
    /* While COPYING.  `to` and `moving`, the receiver's buffer and the bytes to move, are constant then; `next` is the first byte nobody has taken (any side
     * adds, relaxed); `moved` counts the sender's bytes (release; the receiver acquires); `returned` is 1 + the start of a block the sender gave back. */
    void *to OPI_ALIGNED;
    uint64_t moving;
    _Atomic uint64_t next, moved, returned;
    uint64_t rest;   /* the receiver's own: bytes of the blocks that the sender took, once all are taken */
    uint32_t failed; /* likewise: the kernel has refused a block */
};
_Static_assert(sizeof(struct opi_desc) == 2 * OPI_LINE, "what changes while both sides copy has a line of its own");

/* A queued envelope on the receiving side: an unexpected message, private memory. */
struct opi_umsg {
    struct opi_slot env;
    struct opi_umsg *next, *prev;   /* in its hash bucket, arrival order */
    struct opi_umsg *anext, *aprev; /* in the list of all, arrival order */
    int src;                        /* local index */
};

/* Producer's private side of a ring. */
struct opi_out {
    struct opi_ring *ring; /* NULL until the first message */
    uint32_t tail;         /* slots written */
    uint32_t head_seen;
    uint64_t sent; /* accounted bytes sent */
    uint64_t freed_seen;
    /* Envelopes that found the ring full, in order; sent ones may not overtake them. */
    struct opi_umsg *queue_head, *queue_tail;
    uint64_t queued, flushed; /* how many entered and left the queue, ever */
};

/* Consumer's private side. */
struct opi_in {
    struct opi_ring *ring;
    uint32_t head, mask, shift;
    uint32_t published; /* last value of ring->head */
    int src;
    uint64_t freed;
};

/* ---- communicators and datatypes ----------------------------------------------------------------------------------------------------------- */

/* What libopi knows about a communicator; an attribute of it.  Counted: pending receives keep it. */
struct opi_comm {
    MPI_Comm handle;
    uint64_t ctx;
    int refs;
    int size, rank;
    int tag_ub;
    bool active;        /* on-node messages are ours */
    bool mixed;         /* active, and some member is on another node */
    bool lonely;        /* active, and no other member is on this node */
    bool remote_group;  /* intercommunicator: ranks are those of the remote group */
    int *local_of_rank; /* rank -> local index, -1 off node; NULL when not active */
    int *rank_of_local; /* local index -> rank, -1 when no member */
    size_t least;       /* blocks for its messages are at least so large (alltoall.c) */
    uint64_t idups;     /* nonblocking duplications started, for their contexts */
    uint32_t exchanges; /* calls of MPI_Alltoall and its like that were ours, the same on all members: their tags */
    uint32_t persistent; /* persistent requests on it, for whose sake MPI_Comm_free waits */
    struct opi_comm *next_all, **link_all; /* active ones (revoke.c); link_all is NULL outside that list */
    struct opi_comm *next_gone; /* freed by the program, not forgotten yet (comm.c) */
};

/* A datatype, described.  Counted: pending receives keep it.  `refs` is atomic since MPI_Type_free drops one wherever the MPI below calls us back; the last one
 * out sees all that was done under the others (acq_rel). */
struct opi_type {
    size_t size;
    ptrdiff_t lb, extent, true_lb, true_extent;
    bool contiguous; /* size bytes from offset 0, elements back to back */
    bool named;
    bool opaque; /* not described here: the MPI below packs and unpacks, where it may be called */
    _Atomic int refs;
    MPI_Datatype handle;
    struct opi_type *base; /* a description for one receive, whose handle is its own: the one of the program's type, which has the layout */
    struct opi_part layout; /* of an element, in type-map order */
    struct opi_type *below; /* the same, packed by the MPI below (device.c); NULL until it is wanted */
};

/* ---- requests -------------------------------------------------------------------------------------------------------------------------------- */

enum opi_req_kind {
    OPI_R_FREE = 0,
    OPI_R_SENT,    /* a send that is complete */
    OPI_R_RECV,    /* receive or take, in our queues */
    OPI_R_QUEUED,  /* send whose envelope waits for ring room; complete when `mark` left the queue */
    OPI_R_DESC,    /* send with a desc */
    OPI_R_NETSEND, /* native send, with a buffer to free after it */
    OPI_R_NETRECV, /* native receive (or take) */
    OPI_R_NETHELD, /* receive that may match off node and is served by Improbe (net.c) */
    OPI_R_IDUP,    /* Comm_idup in progress */
    OPI_R_PERSIST, /* persistent operation; never `done` itself */
    OPI_R_PAIR,    /* Isendrecv: complete when `first`, the receive, and `second`, the send, are */
    OPI_R_MESSAGE  /* what MPI_Mprobe found: an MPI_Message, never in a list of requests */
};

/* The first lines hold what posting, matching and completing a receive touch; flags that are set together stand together, for wide stores. */
struct opi_req {
    uint8_t kind;
    bool done;
    bool take;
    bool any_source, any_tag;
    bool posted; /* in the posted queues */
    bool held;   /* in the list of off-node receives served by Improbe */
    bool freed;  /* the user called MPI_Request_free */
    bool retired; /* freed, and in the list of net.c, which frees it when it is complete */
    bool cancelled;
    bool standard; /* a send that may be buffered when unmatched */
    bool on_stack;
    bool lent; /* in the list of sends that lend their memory */
    bool raised; /* its error went through the handler already (by the MPI below) */
    int r_error;
    int src; /* local index wanted, -1 for any; sends: destination */
    int tag;
    uint64_t ctx;
    struct opi_req *next, *prev; /* posted bucket or wildcard list */
    uint64_t seq;                /* posting order among all receives */
    uint32_t bucket;
    int block_class; /* of `block`, for a take */
    struct opi_comm *comm;
    struct opi_type *type;
    size_t count;
    void *buf; /* user's buffer; for a take the address of the user's pointer */
    size_t bytes_max;
    size_t room; /* take: bytes the buffer must hold */
    void *block; /* take: the buffer; net send: to be freed */
    struct opi_desc *pipe; /* receive in progress from a PIPE */
    void *aside; /* private memory: what a send has packed, what came for an opaque datatype */
    size_t pipe_off;
    /* result */
    int r_source, r_tag;
    size_t r_bytes;
    uint32_t handle;
    struct opi_req *free_next;
    /* sends */
    struct opi_desc *desc;
    uint64_t mark;
    uint64_t since; /* ns, when it was first found unmatched; 0: not yet */
    uint32_t polls;
    struct opi_req *snext;
    struct opi_req *hnext, *hprev; /* held list; sends: the list of lent ones */
    /* below */
    MPI_Request native;
    int net_rank; /* off-node: rank in comm wanted */
    MPI_Comm *newcomm;
    /* pair; `block` holds the packed data of a replace */
    struct opi_req *first, *second;
    /* message: claimed, out of the queues, ours until it is received */
    struct opi_umsg *message;
    /* persistent */
    bool started; /* `native` is the running instance: a request of ours or of the MPI below */
    bool p_owned; /* p_type is a duplicate of the program's */
    int p_mode, p_peer; /* p_mode: an opi_mode, -1 for a receive */
    MPI_Datatype p_type;
    MPI_Comm p_comm;
    struct opi_comm *p_known;
    void *site; /* OPI_CHECK: where the take was called */
};

/* ---- the pool (pool.h) --------------------------------------------------------------------------------------------------------------------------- */

#define OPI_STACK_MAX 64

struct opi_class {
    uint32_t depth; /* blocks in `stack` */
    uint16_t limit; /* how many blocks may stay: bytes bounded */
    bool borrowed;  /* blocks of larger classes were handed out for this one */
    void *stack[OPI_STACK_MAX]; /* LIFO: the warmest block leaves first */
};

struct opi_class_cold {
    void *own;      /* our arena's blocks beyond the stack, linked through their first word */
    char *run, *run_end; /* uncarved rest of the current run */
    uint32_t colour;
};

#define OPI_HELD_SHIFT 26 /* one table of ownership bytes for each 64 MiB */
#define OPI_HELD_TABLES (OPI_REGION >> OPI_HELD_SHIFT)

/* ---- everything else --------------------------------------------------------------------------------------------------------------------------- */

struct opi_stats {
    uint64_t inline_msgs, give_msgs, block_msgs, pipe_msgs, rndv_msgs, buffered_msgs, net_msgs, self_msgs, unexpected, passed, copied, kicks, kicked;
};

struct opi_state {
    /* hot */
    bool ready;     /* MPI is initialised and the node's heap is shared */
    bool special;   /* threads, or nested: enter and leave take the long way */
    bool threads;   /* MPI_THREAD_SERIALIZED and MULTIPLE: use `lock` */
    bool locked;    /* so does a process without membarrier, whatever level MPI has */
    bool multiple;  /* MPI_THREAD_MULTIPLE: the helper may call the MPI */
    bool watch;     /* profile or check: special all the time */
    bool profile;   /* OPI_PROFILE (profile.h) */
    bool check;     /* OPI_CHECK (check.h) */
    uint32_t nested; /* depth of calls of the MPI below that may call back */
    _Atomic uintptr_t owner; /* relaxed: the thread that calls MPI (opi_self); others may allocate and free, as guests (helper.c) */
    /* The last predefined datatype and the last communicator looked up. */
    MPI_Datatype last_type_handle;
    MPI_Comm last_comm_handle;
    struct opi_type *last_type;
    struct opi_comm *last_comm;
    bool broken;    /* a communicator was revoked (revoke.c), or a rank of this node has died (alive.c) */
    bool slow_work; /* streams or queued envelopes exist: progress does more than poll rings */
    int me;         /* local index */
    int nlocal;
    int nin;
    uint32_t req_chunks; /* of the request table */
    uint32_t nposted; /* receives in our queues */
    uint32_t nheld;   /* in the held list */
    uint32_t npersist; /* persistent requests */
    uint32_t nstreams, nqueued, nlent;
    struct opi_arena *arena; /* ours */
    struct opi_out *out;     /* by local index */
    struct opi_in *in;       /* nin active rings */
    struct opi_arena **peer; /* by local index */
    uintptr_t base;          /* of the region, or of a private window when the address was taken */
    uint32_t window_shift;
    /* set-up */
    bool mpi_running, mpi_over;
    bool disabled; /* OPI_DISABLE */
    bool exchanges; /* MPI_Alltoall and its like are ours; the same on all ranks (OPI_ALLTOALL) */
    int verbose;
    bool heap_tried;
    bool node_ok;      /* the node's arenas are mapped: on-node messages are ours */
    bool private_heap; /* the arena is not shared with anyone */
    int memfd;
    int world_rank, world_size;
    int slot_given;      /* our place, found in MPI_Init when the launcher does not tell; -1 */
    int node_ranks_phys; /* ranks on the machine, pretended nodes ignored */
    MPI_Comm all;  /* all ranks, and those of this node: ours, for what we tell each other (init.c) */
    MPI_Comm node;
    MPI_Comm self; /* this rank alone */
    uint32_t spin_limit, yield_limit;
    uint64_t awake_ns; /* a wait that is longer sleeps */
    uint32_t ring_slots;
    size_t inline_limit; /* sends up to it ride in ring slots, <= OPI_LONG_MAX */
    bool kernel_copy;    /* process_vm_readv works between all ranks of the node */
    size_t kernel_min;   /* private messages from here on are lent, and read by the kernel */
    size_t co_min;       /* lent messages from here on are copied by both sides */
    size_t eager_limit, pipe_min, cap;
    uint64_t seq;
    struct opi_req *streams; /* receives fed by a PIPE */
    struct opi_req *lent;    /* sends whose receiver may want help, or the copy (copy.c) */
    struct opi_stats stat;
    pthread_mutex_t lock;
};

extern struct opi_state opi;

#pragma GCC visibility pop

#endif
