/* internal.h - what the files of libopi call in each other, and the short inline functions on the paths that matter. */
#ifndef OPI_INTERNAL_H
#define OPI_INTERNAL_H

#include "process/base/types.h"

#include "process/base/alive.h"
#include "process/engine/deliver.h"
#include "process/below/outside.h"
#include "process/heap/pool.h"
#include "process/tools/profile.h"

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

/* An MPI function of libopi's: one of the program's or a tool's takes its place (overridden.c).  OPI functions are libopi's alone. */
#define EXPORT __attribute__((visibility("default"), weak, section("opi_names")))
#define API __attribute__((visibility("default")))

#pragma GCC visibility push(hidden)

/* heap.c, pool.c */
bool opi_heap_init(void);
bool opi_heap_place_known(void);
struct opi_arena *opi_heap_map_peer(int pid, int fd, uintptr_t address, size_t window);
void opi_heap_unmap_peer(struct opi_arena *a);
void *opi_heap_carve(int cls);
extern void *opi_heap_fresh; /* the large block that was carved last: all its bytes are zero until somebody writes to it */
void opi_heap_lift(bool lifted);
size_t opi_heap_committed(void);
bool opi_heap_scarce(int cls, size_t bytes);
void opi_fork_init(void);
void opi_pool_init(size_t heap);

/* init.c */
extern int *opi_local_of_world; /* world rank -> local index, -1 for ranks of other nodes */

/* helper.c: the section in which the owner thread (or a thread under the mutex) may touch the state */
extern _Atomic uint32_t opi_helper_busy;
extern _Atomic uint32_t opi_guests; /* threads that want to allocate or free: the owner, where it waits, lets them in.  A hint */
extern _Atomic uint32_t opi_inside_dummy;
extern _Atomic uint32_t *opi_inside;
extern _Thread_local bool opi_helping; /* this thread is the helper */
void opi_enter_wait(void);
void opi_enter_special(void);
void opi_leave_special(void);
void opi_guest_enter(void);
void opi_guest_leave(void);
void opi_guests_by_lock(void);
bool opi_helper_load(void);
void opi_helper_start(void);
void opi_helper_stop(void);
void opi_helper_watch(void);
bool opi_in_section(void);
void opi_helper_fork_init(void);
void opi_kick(int local);

/* What tells threads of a process apart, without a call. */
static inline uintptr_t opi_self(void) {
#if defined(__x86_64__) && !defined(__ILP32__)
    uintptr_t self;
    __asm__("mov %%fs:0, %0" : "=r"(self)); /* the word at its beginning is the address of the thread's block */
    return self;
#elif defined(__aarch64__)
    uintptr_t self;
    __asm__("mrs %0, tpidr_el0" : "=r"(self));
    return self;
#else
    return (uintptr_t)pthread_self();
#endif
}

/* Is the calling thread another than the one that calls MPI? */
static inline bool opi_guest(void) {
    return opi_self() != atomic_load_explicit(&opi.owner, memory_order_relaxed);
}

static inline void opi_enter(void) {
    if (OPI_UNLIKELY(opi.special)) {
        opi_enter_special();
        return;
    }
    /* Only this thread writes it.  The store and the load below may be reordered by the processor; the helper makes up for that with membarrier
     * between its own store and load (helper.c). */
    atomic_store_explicit(opi_inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (OPI_UNLIKELY(atomic_load_explicit(&opi_helper_busy, memory_order_acquire)))
        opi_enter_wait();
}

static inline void opi_leave(void) {
    if (OPI_UNLIKELY(opi.special)) {
        opi_leave_special();
        return;
    }
    atomic_store_explicit(opi_inside, 0, memory_order_release); /* release: the helper sees all we did */
}

/* Around calls of the MPI below that may call back into the program (generalised requests, attributes), made while we are inside: MPI calls of the
 * callback must not let the helper in when they leave. */
static inline void opi_below_begin(void) {
    if (opi.threads) /* the mutex stays ours, and counts depth */
        return;
    opi.nested++;
    opi.special = true;
}

static inline void opi_below_end(void) {
    if (!opi.threads)
        opi.special = --opi.nested != 0 || opi.watch;
}

/* The line will be written soon. */
static inline void opi_prefetch_write(const void *p) {
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
    __builtin_prefetch(p, 1);
#endif
}

/* datatype.c */
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

static inline size_t opi_handle_hash(const void *handle, size_t bytes) {
    uint64_t v = 0;
    memcpy(&v, handle, bytes);
    return (size_t)((v * 0x9e3779b97f4a7c15u) >> 40);
}

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

/* comm.c */
struct opi_comm *opi_comm_slow(MPI_Comm c);
void opi_comm_release(struct opi_comm *c);
void opi_comm_adopt(MPI_Comm c);
void opi_comm_forget(void);
struct opi_comm *opi_comm_adopt_ctx(MPI_Comm c, uint64_t ctx);
void opi_comms_init(void);
void opi_comms_fini(void);
uint64_t opi_ctx_derive(uint64_t parent, uint64_t n);

/* The context of a communicator's exchanges (alltoall.c).  A context that rank 0 made has a world rank above its lower half, so this bit is free in it; in a
 * derived one it is as random as the others. */
static inline uint64_t opi_ctx_exchange(uint64_t ctx) {
    return ctx ^ (uint64_t)1 << 62;
}

#define OPI_COMM_CACHE 64
struct opi_comm_cache {
    MPI_Comm handle;
    struct opi_comm *comm;
};
extern struct opi_comm_cache opi_comm_cache[OPI_COMM_CACHE];

/* What we know of a communicator; NULL when it is invalid. */
static inline struct opi_comm *opi_comm_of(MPI_Comm c) {
    if (OPI_LIKELY(opi.last_comm && opi.last_comm_handle == c))
        return opi.last_comm;
    const struct opi_comm_cache *e = &opi_comm_cache[opi_handle_hash(&c, sizeof c) % OPI_COMM_CACHE];
    if (OPI_LIKELY(e->comm != NULL && e->handle == c)) {
        opi.last_comm_handle = c;
        return opi.last_comm = e->comm;
    }
    return opi_comm_slow(c);
}

/* overridden.c */
/* The first of the MPI's names that somebody else's function has; NULL: all are libopi's.  Known once opi_overridden has looked. */
extern const char *opi_other;
void opi_overridden(void);
/* For a call whose request only libopi's own completion calls know: says so and ends, where one of the names is not libopi's. */
_Noreturn void opi_not_mine(const char *call);
static inline void opi_need_names(const char *call) {
    if (OPI_UNLIKELY(opi_other != NULL))
        opi_not_mine(call);
}

/* error.c */
int opi_raise(MPI_Comm comm, int class, const char *call, const char *format, ...) __attribute__((format(printf, 4, 5)));
int opi_raise_world(int class, const char *call, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void opi_uncovered(const char *call);
_Noreturn void opi_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void opi_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *opi_class_name(int class);

/* match.c */
#define OPI_BUCKETS 1024u
struct opi_posted {
    struct opi_req *head, *tail;
};
extern struct opi_posted opi_posted[OPI_BUCKETS], opi_wild;
extern size_t opi_unexpected_now;

static inline uint32_t opi_bucket_of(uint64_t ctx, int src, int tag) {
    uint64_t h = (ctx ^ ((uint64_t)(uint32_t)tag << 32 | (uint32_t)src) * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (uint32_t)(h >> 40) & (OPI_BUCKETS - 1);
}

static inline bool opi_fits(const struct opi_req *r, uint64_t ctx, int src, int tag) {
    return r->ctx == ctx && (r->any_source || r->src == src) && (r->any_tag || r->tag == tag);
}

static inline void opi_post_at(struct opi_posted *list, struct opi_req *r) {
    struct opi_req *last = list->tail;
    r->seq = ++opi.seq;
    r->next = NULL;
    r->prev = last;
    if (OPI_UNLIKELY(last != NULL))
        last->next = r;
    else
        list->head = r;
    list->tail = r;
    opi.nposted++;
}

/* Posts a receive without wildcards. */
static inline void opi_post_exact(struct opi_req *r) {
    r->bucket = opi_bucket_of(r->ctx, r->src, r->tag);
    r->posted = true;
    opi_post_at(&opi_posted[r->bucket], r);
}

static inline void opi_unpost(struct opi_req *r) {
    struct opi_posted *list = OPI_UNLIKELY(r->bucket == OPI_BUCKETS) ? &opi_wild : &opi_posted[r->bucket];
    struct opi_req *prev = r->prev, *next = r->next;
    if (OPI_UNLIKELY(prev != NULL))
        prev->next = next;
    else
        list->head = next;
    if (OPI_UNLIKELY(next != NULL))
        next->prev = prev;
    else
        list->tail = prev;
    r->posted = false;
    opi.nposted--;
}

struct opi_req *opi_match_wild(struct opi_req *r, uint64_t ctx, int src, int tag);

/* The receive that a message from local index `src` goes to; it stays posted. */
static inline struct opi_req *opi_match_posted(uint64_t ctx, int src, int tag) {
    struct opi_req *r = opi_posted[opi_bucket_of(ctx, src, tag)].head;
    while (r && !opi_fits(r, ctx, src, tag))
        r = r->next;
    return OPI_LIKELY(!opi_wild.head) ? r : opi_match_wild(r, ctx, src, tag);
}

void opi_post(struct opi_req *r);
struct opi_umsg *opi_find_unexpected(const struct opi_req *r);
void opi_add_unexpected(const struct opi_slot *e, int src);
void opi_drop_unexpected(struct opi_umsg *m);
struct opi_umsg *opi_umsg_new(void);
void opi_umsg_free(struct opi_umsg *m);

/* tune.c */
void opi_tune(void);
size_t opi_size_setting(const char *name, size_t otherwise);
bool opi_kernel_copy_wanted(void);

/* progress.c */
void opi_progress_slow(void);
bool opi_rings_ready(void);
void opi_progress_ring(struct opi_in *in);
void opi_new_rings(void);
struct opi_ring *opi_ring_connect(int dst);
void opi_queue_envelope(int dst, const struct opi_slot *e);
void opi_queue_drop(int dst);
bool opi_ring_from(int src);
struct opi_wait { /* zero but for `on` and `below` when it begins */
    uint32_t n;
    uint32_t naps;
    int on; /* local index of the rank we wait for, -1 for any */
    bool below; /* for the MPI below, which nothing wakes us for: yield, do not sleep */
    uint64_t since, kicked; /* ns: when it was first time to sleep, when others were kicked last while it stayed awake */
};
void opi_relax(struct opi_wait *w);
void opi_flush(void);
void opi_kick_those(int on);
bool opi_in_vain(void);
void opi_wake_slow(struct opi_arena *a);
int opi_native_poll(void);
void opi_native_poll_end(void);

/* request.c */
struct opi_req *opi_req_new(int kind);
void opi_req_free(struct opi_req *r);
void opi_free_any(void *p);
void opi_free_owned(void *p);
bool opi_req_poll(struct opi_req *r);
int opi_req_complete(struct opi_req *r, MPI_Status *status);
void opi_req_wait(struct opi_req *r);
void opi_status_set(MPI_Status *status, int source, int tag, size_t bytes, bool cancelled);
void opi_requests_fini(void);
extern struct opi_req opi_sent; /* the request of any send that is complete */
extern struct opi_req *opi_req_pool; /* free ones */
extern struct opi_req *opi_req_chunks[];
#define OPI_REQ_CHUNK 256u

/* path.c, recv.c */
enum opi_mode { OPI_STANDARD, OPI_SYNC, OPI_BUFFERED };
bool opi_send_start(const void *buf, size_t count, struct opi_type *t, struct opi_comm *c, int dst, int tag, int mode, struct opi_req *r);
int opi_give_start(void *block, size_t count, struct opi_type *t, struct opi_comm *c, int dst, int tag, int mode, struct opi_req *r);
void opi_recv_start(struct opi_req *r);

/* revoke.c */
void opi_comm_follow(struct opi_comm *c);
void opi_comm_unfollow(struct opi_comm *c);
void opi_revoke_poll(void);
bool opi_req_revoked(struct opi_req *r);
bool opi_comm_refused(MPI_Comm comm);

/* persist.c */
void opi_persist_drop(struct opi_req *r);

/* net.c */
int opi_net_send(const void *buf, size_t count, MPI_Datatype t, int dest, int tag, MPI_Comm comm, int mode, bool threads_idle);
int opi_net_isend(const void *buf, size_t count, MPI_Datatype t, int dest, int tag, MPI_Comm comm, int mode, MPI_Request *req);
int opi_net_imrecv(void *buf, MPI_Count count, MPI_Datatype t, MPI_Message *message, MPI_Request *req);
int opi_net_irecv(void *buf, size_t count, MPI_Datatype t, int source, int tag, MPI_Comm comm, MPI_Request *req);
bool opi_net_must_hold(const struct opi_comm *c, int source, int tag);
void opi_net_hold(struct opi_req *r);
void opi_net_unhold(struct opi_req *r);
void opi_net_try(void);
void opi_net_poll(void);
void opi_net_retire_req(struct opi_req *r);
void opi_net_retired_poll(bool all);
bool opi_comm_free_later(MPI_Comm c);
void opi_late_comms_poll(void);

/* Does something of ours need progress while the caller waits for the MPI below? */
static inline bool opi_busy(void) {
    return opi.nposted || opi.nqueued || opi.nstreams || opi.nheld;
}

/* ---- requests: whose is it? ------------------------------------------------------------------------------------------------------------------ */

/* MPICH's handles are ints whose two top bits are 0 only in null handles (0x2c000000): ours count from 1.  Elsewhere a handle is a pointer, or a small
 * even number, and ours have the low bit set. */
static inline bool opi_is_ours(MPI_Request h) {
    if (sizeof(MPI_Request) == sizeof(uint32_t)) {
        uint32_t v;
        memcpy(&v, &h, sizeof v);
        return v - 1u < 0x2bffffffu;
    }
    uintptr_t v = 0;
    memcpy(&v, &h, sizeof h);
    return (v & 1) != 0;
}

static inline MPI_Request opi_req_handle(const struct opi_req *r) {
    MPI_Request h;
    memset(&h, 0, sizeof h);
    if (sizeof h == sizeof(uint32_t)) {
        uint32_t v = r->handle;
        memcpy(&h, &v, sizeof v);
    } else {
        uintptr_t v = (uintptr_t)r | 1;
        memcpy(&h, &v, sizeof h);
    }
    return h;
}

/* Handles on MPICH are numbers into a table, 1 standing for opi_sent; elsewhere they are addresses.  NULL: no active request of ours. */
static inline struct opi_req *opi_req_of_handle(MPI_Request h) {
    struct opi_req *r;
    if (sizeof h == sizeof(uint32_t)) {
        uint32_t v;
        memcpy(&v, &h, sizeof v);
        if (v == 1)
            return &opi_sent;
        v -= 2;
        if (OPI_UNLIKELY(v / OPI_REQ_CHUNK >= opi.req_chunks))
            return NULL;
        r = &opi_req_chunks[v / OPI_REQ_CHUNK][v % OPI_REQ_CHUNK];
    } else {
        uintptr_t v = 0;
        memcpy(&v, &h, sizeof h);
        r = (struct opi_req *)(v & ~(uintptr_t)1);
    }
    return OPI_LIKELY(r->kind != OPI_R_FREE) ? r : NULL;
}

/* ---- reachability ------------------------------------------------------------------------------------------------------------------------------ */

/* Can every rank of the node read these bytes at this address? */
static inline bool opi_reachable(const void *p, size_t n) {
    if (opi.private_heap || !opi_in_region(p))
        return false;
    const char *a = (const char *)opi_arena_of(p);
    return (size_t)((const char *)p - a) + n <= ((size_t)1 << opi.window_shift);
}

/* ---- waking ---------------------------------------------------------------------------------------------------------------------------------------- */

/* After giving a peer something to do.  No fence: a sleeper that misses this wakes by itself within 100 us. */
static inline void opi_wake(int local) {
    struct opi_arena *a = opi.peer[local];
    if (OPI_UNLIKELY(atomic_load_explicit(&a->asleep, memory_order_relaxed)))
        opi_wake_slow(a);
}

/* ---- rings: sending ------------------------------------------------------------------------------------------------------------------------------- */

/* The next free slot towards dst, or NULL when the ring is full or envelopes are queued before it. */
static inline struct opi_slot *opi_ring_slot(int dst) {
    struct opi_out *o = &opi.out[dst];
    struct opi_ring *g = o->ring;
    if (OPI_UNLIKELY(!g)) {
        g = opi_ring_connect(dst);
        if (!g)
            return NULL;
    }
    if (OPI_UNLIKELY(o->queue_head != NULL))
        return NULL;
    if (OPI_UNLIKELY(o->tail - o->head_seen >= g->nslots)) {
        /* acquire: the consumer has finished reading the slots before head. */
        o->head_seen = atomic_load_explicit(&g->head, memory_order_acquire);
        if (o->tail - o->head_seen >= g->nslots)
            return NULL;
    }
    return &g->slot[o->tail & (g->nslots - 1)];
}

/* Publishes the slot that opi_ring_slot returned. */
static inline void opi_ring_publish(int dst, struct opi_slot *s, int kind, size_t len) {
    struct opi_out *o = &opi.out[dst];
    uint32_t shift = (uint32_t)__builtin_ctz(o->ring->nslots);
    uint32_t stamp = OPI_STAMP((o->tail >> shift) + 1, kind, len);
    o->tail++;
    atomic_store_explicit(&s->stamp, stamp, memory_order_release); /* publishes the body, and the data behind a pointer in it */
    opi_wake(dst);
    opi_prefetch_write(&o->ring->slot[o->tail & (o->ring->nslots - 1)]); /* ours again before the next message, unless the receiver looks there */
}

bool opi_ring_long(int dst, uint64_t ctx, int tag, const void *data, size_t n);

static inline int opi_env_kind(const struct opi_slot *e) {
    return (int)(atomic_load_explicit(&((struct opi_slot *)(uintptr_t)e)->stamp, memory_order_relaxed) >> 12 & 0xf);
}

static inline size_t opi_env_len(const struct opi_slot *e) {
    return atomic_load_explicit(&((struct opi_slot *)(uintptr_t)e)->stamp, memory_order_relaxed) & 0xfff;
}

/* Message bytes of an envelope. */
static inline size_t opi_env_bytes(const struct opi_slot *e) {
    return opi_env_kind(e) <= OPI_K_LONG ? opi_env_len(e) : (size_t)e->u.ref.size;
}

/* ---- progress ------------------------------------------------------------------------------------------------------------------------------------- */

static inline void opi_progress(void) {
    if (OPI_UNLIKELY(!opi.ready))
        return;
    if (OPI_UNLIKELY(atomic_load_explicit(&opi.arena->nrings, memory_order_relaxed) != (uint32_t)opi.nin))
        opi_new_rings();
    for (int i = 0; i < opi.nin; i++) {
        struct opi_in *in = &opi.in[i];
        const struct opi_slot *s = &in->ring->slot[in->head & in->mask];
        uint32_t stamp = atomic_load_explicit(&((struct opi_slot *)(uintptr_t)s)->stamp, memory_order_relaxed);
        if (stamp >> 16 == (((in->head >> in->shift) + 1) & 0xffff))
            opi_progress_ring(in);
    }
    if (OPI_UNLIKELY(opi.slow_work))
        opi_progress_slow();
}

#pragma GCC visibility pop

#endif
