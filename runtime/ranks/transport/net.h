/* net.h - ranks of one job in several processes: what goes between the processes.
 *
 * A process is one member of the MPI below; it has the ranks [first, first + here).  Everything between processes is a *packet* on a duplicate of the
 * MPI_COMM_WORLD below: a head and up to opir_net.eager bytes.  Packets of one process to another arrive in the order in which they were sent.  Larger
 * data follow as a *transfer*, a message of its own with a tag that one of the two has chosen.
 *
 * Only whoever holds `driving` (net.c) calls the MPI below for this; nobody waits for it.  Who finds it held leaves packets in the queue, and the holder
 * looks at the queue once more after giving it up. */
#ifndef OPIR_NET_H
#define OPIR_NET_H

#include "ranks/base/ranks.h"

#pragma GCC visibility push(hidden)

enum opir_packet_kind {
    OPIR_P_EAGER,     /* a message with its data */
    OPIR_P_ASK,       /* a message whose data stay with their sender until they are asked for; `id` is its struct opir_far */
    OPIR_P_CLEAR,     /* the answer: `bytes` of it are wanted, by a transfer with `tag` */
    OPIR_P_CANCEL,    /* takes an ASK back, if nobody has received it */
    OPIR_P_CANCELLED, /* it was taken back */
    OPIR_P_CREDIT,    /* `bytes` of EAGER were received */
    OPIR_P_BUNDLE,    /* what a process brings to a collective: of `ctx`, number `id`; `bytes` inside, or by a transfer with `tag` */
    OPIR_P_WAKE,      /* `dst` waits in a call of a window, and what it waits for may be there (window/onesided.c) */
    OPIR_P_IDLE,      /* is everybody idle?  `id` is the number of the question (dead.c) */
    OPIR_P_STATE,     /* the answer */
    OPIR_P_TELL       /* everybody is: say who waits for what, and pass it on */
};

struct opir_head {
    uint64_t ctx, id, bytes;
    int32_t src, dst, tag; /* src: rank in its group; dst: rank in MPI_COMM_WORLD */
    uint8_t kind;
};

/* Data that go, or come, by themselves.  Owned by the driver from when it is handed over until it calls `over`. */
struct opir_xfer {
    void *buf;
    size_t bytes;
    int peer, tag;
    bool receives;
    int left; /* messages of the MPI below that are not complete */
    void (*over)(struct opir_xfer *x);
};

struct opir_packet {
    struct opir_packet *next;
    int to;
    size_t bytes; /* after the head */
    MPI_Request request;
    struct opir_xfer *with; /* started together with the packet */
    struct opir_head head;
    char data[];
};

/* Constant once the ranks run. */
struct opir_net {
    size_t eager; /* the most that a packet carries */
    uint64_t cap; /* bytes of EAGER to one process that it has not received; past that messages ask */
};
extern struct opir_net opir_net;

/* net.c */
void opir_net_begin(void);
int opir_net_end(int code);
struct opir_packet *opir_packet_new(int kind, size_t payload);
void opir_net_send(int process, struct opir_packet *p);
int opir_net_tag(bool of_sender);
void opir_net_start(struct opir_xfer *x); /* by the driver */
bool opir_net_watch(uint64_t idle_ns); /* opir_net_poll by a rank that has had nothing to do for so long */
bool opir_net_quiet(void);
void opir_net_counts(uint64_t *sent, uint64_t *received);

/* far.c: messages */
void opir_far_begin(void);
bool opir_far_send(struct opir_req *q, int world);
bool opir_far_relieve(struct opir_req *q);
void opir_far_withdraw(struct opir_req *q, int world);
void opir_far_received(int process, size_t bytes);
void opir_far_fetch(int process, uint64_t id, struct opir_req *q, void *to);
void opir_far_packet(int process, const struct opir_head *h, const void *data);

/* p2p.c: a message from another process, with its data if they came with it. */
void opir_deliver(struct opir_rank *to, const struct opir_msg *what, const void *data);

/* A packet of another process, for whoever it is. */
struct opir_around;
void opir_around_packet(int process, const struct opir_head *h, const void *data);
struct opir_around *opir_around_ready(void);
void opir_around_run(struct opir_around *c);
void opir_chore(struct opir_rank *me); /* does a collective that waits for one of its members to do it, if there is one of the caller's */

/* dead.c: has everybody stopped for ever? */
#define OPIR_TOLD 20 /* ranks of which it is said what they wait for */
int opir_waiting(void); /* ranks here that have not ended (fiber.c) */
int opir_tell_waiting(int most);
_Noreturn void opir_report_deadlock(void);
bool opir_fibers_stuck(void);
bool opir_threads_stuck(void);
void opir_dead_packet(int process, const struct opir_head *h, const void *data);
void opir_dead_idle(uint64_t idle_ns);

/* ---- collectives of members in several processes (bundle.c, around.c) ------------------------------------------------------------------------- */

/* Where the members of a communicator are.  A *place* is a member: its rank, on the second side of an intercommunicator after all of the first.  Constant. */
struct opir_spread {
    int procs, here; /* here: which of them this process is */
    int *proc;       /* processes that have members, in order */
    int *at;         /* of process k the places places[at[k]] to places[at[k + 1]], in order */
    int *places;
};
static inline int opir_spread_size(const struct opir_spread *p, int k) {
    return p->at[k + 1] - p->at[k];
}
struct opir_spread *opir_spread_of(const struct opir_shared *s);

/* A collective that has begun.  Guarded by the communicator's lock until all members of this process have come; then whoever came last owns it. */
struct opir_coll {
    struct opir_coll *next;
    uint64_t seq;
    int come, total;
    struct opir_shared *shared;
    struct opir_req **req; /* by place */
    struct opir_args **args;
    uint64_t base; /* of context ids, where communicators are made */
};

/* Bytes that grow. */
struct opir_buf {
    char *data;
    size_t used, room;
};
void *opir_buf_add(struct opir_buf *b, size_t bytes);

void opir_around_begin(struct opir_coll *o, struct opir_req *mine);
void opir_bundle_root(struct opir_view *v, const struct opir_spread *p);
void opir_bundle_write(const struct opir_view *v, const struct opir_coll *o, const char *call, int k, struct opir_buf *b);
void opir_bundle_read(struct opir_view *v, int k, const char *data, uint64_t *bases);
void opir_bundle_drop(struct opir_view *v);

/* reduce.c */
bool opir_op_predefined(MPI_Op op);
size_t opir_reduce_count(const struct opir_args *a, int members);
void *opir_reduce_packed(const struct opir_view *v, int side, int rank, bool first, size_t *bytes); /* first: of this process on its side */
void opir_reduce_unpacked(struct opir_args *a, const struct opir_args *like, size_t count, const void *packed, size_t bytes, struct opir_arena **arena);

/* What was made for members elsewhere; freed with the view. */
struct opir_arena {
    struct opir_arena *next;
    _Alignas(16) char data[];
};
void *opir_arena_new(struct opir_arena **a, size_t bytes);
void opir_arena_free(struct opir_arena *a);

/* make.c: what a leader brings to MPI_Intercomm_create, numbers that it got from the other one. */
struct opir_bridge {
    int *numbers;
    int n;
};

#pragma GCC visibility pop

#endif
