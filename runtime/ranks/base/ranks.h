/* ranks.h - virtual ranks: many MPI ranks in one address space, as threads or as fibers.
 *
 * Words: a *rank* is one member of the program's MPI_COMM_WORLD, run by a thread or a fiber of this process; the *MPI below* is the library whose mpi.h
 * the program was compiled with: datatypes, ops and infos are its own objects; communicators, groups, requests, messages and error handlers are ours.
 *
 * Who runs: with threads every rank is a thread, with fibers all ranks share one thread and change places only inside opir_switch_away.  A lock is a
 * mutex with threads and nothing with fibers, so no rank may wait or call a function of the program's while it holds one.  Order of locks: a communicator's
 * before a rank's; never two ranks'. */
#ifndef OPIR_RANKS_H
#define OPIR_RANKS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "ranks/base/types.h"

#include <string.h>

#include "opi.h"
#include "shared/onesided/onesided.h"
#include "opir_have.h" /* generated: OPIR_HAS_x for every function x of this MPI */

#define OPIR_LIKELY(x) __builtin_expect(!!(x), 1)
#define OPIR_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define OPIR_COLD __attribute__((cold, noinline))
#define EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(hidden)

extern struct opir_process opir;
extern _Thread_local struct opir_rank *opir_self;

/* NULL where it is in another process. */
static inline struct opir_rank *opir_rank_of(int world) {
    unsigned i = (unsigned)world - (unsigned)opir.first;
    return OPIR_LIKELY(i < (unsigned)opir.here) ? &opir.rank[i] : NULL;
}

/* ---- locks ---------------------------------------------------------------------------------------------------------------------------- */

static inline void opir_lock(pthread_mutex_t *m) {
    if (opir.threads)
        pthread_mutex_lock(m);
}
static inline void opir_unlock(pthread_mutex_t *m) {
    if (opir.threads)
        pthread_mutex_unlock(m);
}

/* ---- waiting (thread.c, fiber.c) -------------------------------------------------------------------------------------------------------- */

static inline void opir_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

struct opir_wait {
    uint32_t n, seen;
    bool vain; /* of what this rank's sends hold nothing can be copied aside */
};
/* One step of waiting: `struct opir_wait w = {0}; while (!condition) opir_relax(&w);`.  The condition is looked at after each step; whoever makes it true
 * calls opir_wake afterwards. */
void opir_relax(struct opir_wait *w);
void opir_thread_relax(struct opir_wait *w);
void opir_relaxed(const struct opir_wait *w); /* after the last step */
void opir_thread_wake(struct opir_rank *r);
void opir_thread_awake(struct opir_rank *me);
void opir_thread_run(void);
void opir_fiber_relax(void);
void opir_fiber_yield(void);
void opir_fiber_wake_slow(struct opir_rank *r);
void opir_fiber_run(void);
void opir_fiber_sleep(uint64_t ns);
_Noreturn void opir_fiber_end(void);
void opir_yield(void); /* lets others run */
void opir_vain(void);  /* the same after a test in vain, of which many follow one another */
bool opir_net_poll(void); /* looks what other processes have sent; true where something was done */
void opir_idle(uint64_t ns); /* nothing has come for so long */
int opir_process_of(int world);
void opir_relieve(struct opir_rank *r, bool *some);
uint64_t opir_now(void);

enum opir_fiber_state { OPIR_F_READY, OPIR_F_RUNNING, OPIR_F_WAITING, OPIR_F_SLEEPING, OPIR_F_ENDED };

static inline void opir_wake(struct opir_rank *r) {
    if (opir.threads)
        opir_thread_wake(r);
    else if (r->fiber.state == OPIR_F_WAITING)
        opir_fiber_wake_slow(r);
}

/* The request is complete; the caller must not touch it any more. */
static inline void opir_done(struct opir_req *q) {
    struct opir_rank *owner = q->owner;
    atomic_store_explicit(&q->done, true, memory_order_release); /* the result, and the data, come before */
    opir_wake(owner);
}

static inline bool opir_is_done(const struct opir_req *q) {
    return atomic_load_explicit(&((struct opir_req *)(uintptr_t)q)->done, memory_order_acquire);
}

void opir_wait_slow(const char *call, struct opir_req *q);
static inline void opir_wait_req(const char *call, struct opir_req *q);

/* The rank that calls; ends the process with a line where it is none. */
struct opir_rank *opir_no_rank(const char *call);
static inline struct opir_rank *opir_me(const char *call) {
    struct opir_rank *r = opir_self;
    if (OPIR_UNLIKELY(!r || !r->initialized || r->finalized))
        return opir_no_rank(call);
    return r;
}

/* ---- handles --------------------------------------------------------------------------------------------------------------------------- */

void opir_obj_number(struct opir_obj *o);
void opir_obj_gone(struct opir_obj *o);
struct opir_obj *opir_obj_numbered(uint32_t number);
int opir_obj_c2f(struct opir_obj *o);

#define OPIR_NUMBERS (sizeof(MPI_Comm) == sizeof(uint32_t)) /* handles are numbers (MPICH), else addresses (Open MPI) */

static inline void opir_obj_init(struct opir_obj *o, int kind) {
    o->kind = (uint8_t)kind;
    if (OPIR_NUMBERS) {
        if (!o->handle)
            opir_obj_number(o);
    }
}

/* Stores the handle that stands for an object into a variable of a handle type. */
static inline void opir_put(void *handle, size_t bytes, const struct opir_obj *o) {
    if (OPIR_NUMBERS) {
        memcpy(handle, &o->handle, sizeof o->handle);
    } else {
        uintptr_t v = (uintptr_t)o | 1;
        memcpy(handle, &v, bytes);
    }
}
#define OPIR_PUT(variable, object) opir_put((variable), sizeof *(variable), &(object)->obj)

/* The object that a handle stands for; NULL when it is none of ours, or of another kind. */
static inline void *opir_get(const void *handle, size_t bytes, int kind) {
    struct opir_obj *o;
    if (OPIR_NUMBERS) {
        uint32_t v;
        memcpy(&v, handle, sizeof v);
        o = opir_obj_numbered(v);
    } else {
        uintptr_t v = 0;
        memcpy(&v, handle, bytes);
        o = v & 1 ? (struct opir_obj *)(v & ~(uintptr_t)1) : NULL;
    }
    return o && o->kind == kind ? o : NULL;
}
static inline struct opir_req *opir_req_of(MPI_Request h) {
    return h == MPI_REQUEST_NULL ? NULL : opir_get(&h, sizeof h, OPIR_REQUEST);
}
static inline struct opir_group *opir_group_of(MPI_Group h) {
    return opir_get(&h, sizeof h, OPIR_GROUP);
}
struct opir_comm *opir_comm_slow(struct opir_rank *me, MPI_Comm h);
static inline struct opir_comm *opir_comm_of(struct opir_rank *me, MPI_Comm h) {
    return OPIR_LIKELY(h == MPI_COMM_WORLD) ? me->world_comm : opir_comm_slow(me, h);
}

/* ---- the rest, by file ------------------------------------------------------------------------------------------------------------------ */

/* start.c */
_Noreturn void opir_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void opir_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *opir_alloc(size_t bytes); /* zeroed; ends the process where there is no memory */
_Noreturn void opir_job_abort(int code);
void opir_rank_body(struct opir_rank *r);
_Noreturn void opir_missing(const char *call);

/* window/watch.c */
void opir_watch_load(void);      /* reads the settings */
void opir_profile_finish(void);  /* of the processes together, when their ranks have ended */
/* Return addresses, where OPI_CHECK is on: of the call of a window's operation at work, and of its weak MPI_x, which calls the PMPI_x that takes it over.  A program's
 * own MPI_x calls PMPI_x from the place that is told then. */
extern _Thread_local const void *opir_site, *opir_weak_site;
#define OPIR_WEAK_SITE()                                  \
    do {                                                  \
        if (OPIR_UNLIKELY(opir.check))                    \
            opir_weak_site = __builtin_return_address(0); \
    } while (0)
#define OPIR_SITE()                                                                  \
    do {                                                                             \
        if (OPIR_UNLIKELY(opir.check)) {                                             \
            opir_site = opir_weak_site ? opir_weak_site : __builtin_return_address(0); \
            opir_weak_site = NULL;                                                   \
        }                                                                            \
    } while (0)

/* libc.c */
void opir_libc_end(struct opir_rank *r);

/* error.c: raises an error class through the handler of a communicator (NULL: MPI_COMM_WORLD's) and returns it. */
int opir_raise(struct opir_comm *c, int code, const char *call, const char *format, ...) __attribute__((format(printf, 4, 5)));
int opir_below(int rc, const char *call); /* the same for what a call of the MPI below returned */
void opir_text(int rc, char *text);          /* what the MPI below says of a code, in MPI_MAX_ERROR_STRING bytes */
void opir_serial_begin(void);                /* around a call that the MPI below may not take from several threads */
void opir_serial_end(void);
/* In a call: where a result goes. */
#define OPIR_OUT(pointer)             \
    if (OPIR_UNLIKELY(!(pointer)))    \
    return opir_raise(NULL, MPI_ERR_ARG, call, "null pointer")
void opir_errh_keep(MPI_Errhandler h);
void opir_errh_drop(MPI_Errhandler h);
const char *opir_class_name(int class);

/* type.c */
struct opir_type *opir_type_slow(struct opir_rank *me, MPI_Datatype t);
static inline struct opir_type *opir_type_of(struct opir_rank *me, MPI_Datatype t) {
    return OPIR_LIKELY(me->type && me->type_handle == t) ? me->type : opir_type_slow(me, t);
}
struct opir_type *opir_type_none(struct opir_rank *me, MPI_Datatype t, MPI_Count count);
/* The same for a message of `count`: where there are none, the MPI below may not ask for a type. */
static inline struct opir_type *opir_type_for(struct opir_rank *me, MPI_Datatype type, MPI_Count count) {
    struct opir_type *t = opir_type_of(me, type);
    return OPIR_LIKELY(t != NULL) ? t : opir_type_none(me, type, count);
}
void opir_types_init(void);
void opir_type_drop(struct opir_type *t);
struct opir_type *opir_type_hold(struct opir_type *t);
void opir_pack(const struct opir_type *t, const void *buf, size_t count, void *to);
void opir_unpack(const struct opir_type *t, void *buf, size_t count, const void *from, size_t bytes);
/* Copies data between buffers of any two types; at most the receiver's; returns MPI_SUCCESS or MPI_ERR_TRUNCATE. */
int opir_copy(const void *sbuf, size_t scount, const struct opir_type *st, void *rbuf, size_t rcount, const struct opir_type *rt);

/* block.c: buffers of opi.h */
void *opir_block_new(size_t bytes, size_t *room);
void opir_block_free(void *block, size_t room);
void opir_block_own(struct opir_rank *r, void *block, size_t room);
bool opir_block_owned(struct opir_rank *r, const void *block, size_t *room);
bool opir_block_let_go(struct opir_rank *r, void *block, size_t bytes, size_t *room); /* disowns it where it is owned and so large */
void opir_block_disown(struct opir_rank *r, void *block);
void opir_block_drop(void *block, size_t room); /* the same, also when all ranks have ended */
void opir_blocks_end(struct opir_rank *r); /* gives back what a rank that has ended keeps, and again what has come for it since */
void opir_stores_end(void);
void opir_block_back(struct opir_rank *r, void *block, size_t room); /* frees it for r, or for the caller, who may soon need one */

/* send.c */
void opir_send_begin(struct opir_req *q);
bool opir_withdraw(struct opir_req *q);

/* match.c */
void opir_recv_begin(struct opir_req *q);
bool opir_unpost(struct opir_req *q);
void opir_msg_into(struct opir_msg *m, struct opir_req *q);
int opir_msgs_left(struct opir_rank *me, uint64_t ctx);
struct opir_msg *opir_msg_find(struct opir_rank *r, uint64_t ctx, int src, int tag);
void opir_msg_unlink(struct opir_msg *m);

/* inbox.c */
bool opir_look_in(struct opir_rank *me); /* takes in a message that has come to the caller; false when there was none */
/* The short way of most gives between threads; false: nothing was done. */
bool opir_give_fast(struct opir_rank *me, void *bufp, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);

/* p2p.c */
int opir_check_args(struct opir_rank *me, const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, bool recv,
                    struct opir_comm **c, struct opir_type **t);
int opir_send_block(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, int mode);
int opir_send_start(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request, int mode);
int opir_recv_block(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status, bool take);
int opir_recv_start(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request, bool take);
int opir_persist_init(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request, int mode);

/* sendrecv.c */
int opir_give_taken(const char *call, struct opir_rank *me, void *bufp, struct opir_req *q);
int opir_sendrecv(const char *call, void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, bool give, void *rbuf, MPI_Count rcount,
                  MPI_Datatype rtype, int source, int rtag, bool take, MPI_Comm comm, MPI_Status *status);
int opir_sendrecv_replace(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm, MPI_Status *status);
int opir_isendrecv(const char *call, const void *sbuf, MPI_Count scount, MPI_Datatype stype, int dest, int stag, void *rbuf, MPI_Count rcount,
                   MPI_Datatype rtype, int source, int rtag, MPI_Comm comm, MPI_Request *request, bool replace);

/* probe.c */
int opir_probe(const char *call, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int opir_iprobe(const char *call, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status);
int opir_mrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status);
int opir_imrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request);

/* request.c */
static inline bool opir_req_poll(struct opir_req *q) {
    if (OPIR_LIKELY(opir_is_done(q)) || (opir.threads && opir_look_in(q->owner) && opir_is_done(q)))
        return true;
    return !q->active || (q->kind == OPIR_R_PAIR && opir_is_done(q->first) && opir_is_done(q->second));
}
struct opir_req *opir_req_new(struct opir_rank *me, int kind);
void opir_req_setup(struct opir_req *q, struct opir_rank *me, int kind);
struct opir_req *opir_req_sent(struct opir_rank *me); /* complete, and it may stand for any number of sends */
void opir_req_release(struct opir_req *q);
bool opir_req_end_fast(struct opir_req *q);
void opir_req_start(struct opir_req *q);
void opir_req_rest(struct opir_req *q); /* a persistent one is not started any more, or not yet */
int opir_req_finish(struct opir_req *q, MPI_Status *status);
void opir_status_set(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled);
void opir_status_empty(MPI_Status *status);
static inline void opir_wait_req(const char *call, struct opir_req *q) {
    if (!opir_req_poll(q))
        opir_wait_slow(call, q);
}
void opir_sweep(struct opir_rank *me);
void opir_sweep_all(struct opir_rank *me);

/* group.c */
struct opir_group *opir_group_new(int size, bool identity);
void opir_group_drop(struct opir_group *g);
int opir_group_rank(struct opir_group *g, int world);
static inline int opir_group_world(const struct opir_group *g, int rank) {
    return g->world ? g->world[rank] : rank;
}
static inline struct opir_group *opir_group_keep(struct opir_group *g) {
    atomic_fetch_add_explicit(&g->refs, 1, memory_order_relaxed); /* the caller holds one already */
    return g;
}

/* comm.c */
struct opir_shared *opir_shared_new(struct opir_group *a, struct opir_group *b, bool inter, uint64_t ctx);
void opir_shared_drop(struct opir_shared *s);
struct opir_comm *opir_comm_new(struct opir_rank *me);
void opir_comm_bind(struct opir_comm *c, struct opir_shared *s, int side, int rank);
void opir_comm_drop(struct opir_comm *c);
MPI_Info opir_comm_hints(MPI_Info info);
static inline int opir_comm_size(const struct opir_comm *c) {
    return c->local->size;
}
static inline struct opir_rank *opir_comm_peer(const struct opir_comm *c, int rank) {
    return opir_rank_of(opir_group_world(c->remote, rank));
}

/* parts.c */
bool opir_type_splits(const char *call, MPI_Comm comm, int type, MPI_Info info);

/* attr.c */
int opir_attrs_copy(const char *call, MPI_Comm from, struct opir_comm *old, struct opir_comm *new);
int opir_attrs_delete(struct opir_comm *c, MPI_Comm handle);

/* topo.c */
struct opir_topo *opir_topo_keep(struct opir_topo *t);
void opir_topo_drop(struct opir_topo *t);
/* The neighbours of a rank, as many as told; in order.  In is where data come from. */
int opir_topo_degree(const struct opir_topo *t, int rank, bool in);
void opir_topo_neighbours(const struct opir_topo *t, int rank, bool in, int *ranks);
bool opir_topo_is_cart(const struct opir_topo *t);
struct opir_topo *opir_topo_made(const struct opir_args *const *args, int n);
const int *opir_topo_triples(const struct opir_topo *t, int *n, int *first, bool *adjacent, bool *weighted);
struct opir_topo *opir_topo_brought(const int *triples, int n, int first, bool adjacent, bool weighted);
bool opir_topo_is_dist(const struct opir_topo *t);

/* coll.c, move.c, reduce.c, make.c */
/* A collective that all have reached: what the members of each side bring, by rank.  Of an intracommunicator both sides are the same. */
struct opir_view {
    int kind;
    bool inter;
    int n[2];
    struct opir_args **a[2]; /* where members are in other processes: NULL for those that sent nothing, else those are `remote` */
    struct opir_shared *shared;
    bool across; /* members are in several processes */
    int root_side, root; /* across: of what has a root; -1: its process does not say */
    const uint64_t *bases; /* across: each process's first context id */
    struct opir_arena *arena; /* across: what was made for remote members */
};
static inline bool opir_local(const struct opir_args *a) {
    return a && OPIR_LIKELY(!a->remote);
}
static inline struct opir_args *opir_first_local(const struct opir_view *v, int side) {
    int i = 0;
    while (i < v->n[side] && !opir_local(v->a[side][i]))
        i++;
    return i < v->n[side] ? v->a[side][i] : NULL;
}
static inline ptrdiff_t opir_at(const void *array, int size, int i) {
    if (size == sizeof(int))
        return ((const int *)array)[i];
    int64_t wide;
    memcpy(&wide, (const char *)array + (size_t)i * sizeof wide, sizeof wide);
    return (ptrdiff_t)wide;
}
void opir_move(struct opir_view *v);
void opir_reduce(struct opir_view *v);
void opir_make(struct opir_view *v);
void opir_coll_do(struct opir_view *v);
int opir_op_check(struct opir_rank *me, MPI_Op op, const struct opir_type *t);
void opir_coll_over(struct opir_coll *o, struct opir_req *mine);
uint64_t opir_view_ctx(const struct opir_view *v, int side, int rank);
int opir_sent_as(const struct opir_topo *t, const int *in, int k, int me, const int *out, int nout);
int opir_make_topo(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_topo *what, int n, MPI_Comm *out);
int opir_make_sub(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_topo *what, int color, int key, MPI_Comm *out);
int opir_make_run(const char *call, struct opir_rank *me, struct opir_comm *c, struct opir_args *args, MPI_Comm *made);
void opir_colls_free(struct opir_shared *s);
int opir_coll(const char *call, MPI_Comm comm, struct opir_args *args, MPI_Request *request, bool persistent);
void opir_coll_begin(struct opir_req *q);

#pragma GCC visibility pop

#endif
