/* What a program does in MPI and when, for `opi-bench apps`: linked into every build of it with --wrap, so that it stands in front of the MPI
 * and of libopi alike.  A call of the program is timed once, whatever it calls in turn.
 *
 * Each rank writes $OPI_BENCH_TRACE.RANK when MPI ends: a header, the calls, then the messages (both sides).  The clock is the node's, so times of different ranks compare.
 */
#include <mpi.h>
#ifdef APPS_OPI
#include <opi.h>
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
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How a call may wait. */
enum { NEVER, MESSAGES, FOR_ALL, FOR_ROOT, AT_ROOT, POLLED };

/* One call of the program. */
struct call {
    double enter, leave;
    int32_t how;
    int32_t root;               /* of a collective with one: is it this rank? */
    uint32_t comm;              /* of a collective */
    int32_t size;               /* of that communicator */
};

enum { SENT, RECEIVED };

/* One side of a message. */
struct message {
    double posted;
    int32_t side, peer, tag;
    uint32_t comm;
    int32_t call;               /* in which it was complete; -1: never seen */
    int32_t spare;
};

struct group {
    MPI_Comm comm;
    uint32_t key;               /* the same on all members */
    int32_t size, rank;
    int *world;                 /* world ranks of its members */
    struct group *next;
};

struct pending {
    MPI_Request request;
    int message;
    struct group *group;
};

static struct call *calls;
static struct message *messages;
static struct pending *pending;
static struct group *groups;
static size_t ncalls, calls_room, nmessages, messages_room, npending, pending_room;
static int depth;               /* of our own functions: only the outermost counts */
static double begun;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *more(void *p, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return p;
    *room = *room ? 2 * *room : 4096;
    p = realloc(p, *room * size);
    if (!p) {
        fprintf(stderr, "apps_profile: out of memory\n");
        abort();
    }
    return p;
}

#define REAL(type, name, parameters) \
    extern type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters

REAL(int, MPI_Comm_free, (MPI_Comm *comm))
{
    for (struct group **g = &groups; *g; g = &(*g)->next)
        if ((*g)->comm == *comm) {
            struct group *gone = *g;
            *g = gone->next;            /* leaked: pending messages may point to it */
            break;
        }
    return __real_MPI_Comm_free(comm);
}

/* World ranks of a communicator's members; NULL for intercommunicators. */
static struct group *group_of(MPI_Comm comm)
{
    for (struct group *g = groups; g; g = g->next)
        if (g->comm == comm)
            return g;
    int inter = 0, size;
    MPI_Comm_test_inter(comm, &inter);
    if (inter)
        return NULL;
    MPI_Group mine, all;
    MPI_Comm_group(comm, &mine);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_size(mine, &size);
    struct group *g = malloc(sizeof *g);
    int *ranks = malloc((size_t)size * sizeof *ranks), *world = malloc((size_t)size * sizeof *world);
    if (!g || !ranks || !world)
        abort();
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(mine, size, ranks, all, world);
    g->key = 2166136261u;
    for (int i = 0; i < size; i++)
        g->key = (g->key ^ (uint32_t)world[i]) * 16777619u;
    g->comm = comm;
    g->size = size;
    g->world = world;
    MPI_Group_rank(mine, &g->rank);
    g->next = groups;
    groups = g;
    free(ranks);
    MPI_Group_free(&mine);
    MPI_Group_free(&all);
    return g;
}

static struct call *begin(int how)
{
    calls = more(calls, ncalls, &calls_room, sizeof *calls);
    struct call *c = &calls[ncalls++];
    memset(c, 0, sizeof *c);
    c->how = how;
    c->enter = now();
    return c;
}

static int add_message(int side, int peer, int tag, MPI_Comm comm, struct group **group)
{
    if (peer == MPI_PROC_NULL)
        return -1;
    struct group *g = group_of(comm);
    if (group)
        *group = g;
    if (!g)
        return -1;
    messages = more(messages, nmessages, &messages_room, sizeof *messages);
    messages[nmessages] = (struct message){ now(), side, peer == MPI_ANY_SOURCE ? -1 : g->world[peer], tag, g->key, -1, 0 };
    return (int)nmessages++;
}

/* The message is complete in the last call. */
static void complete(int message, const struct group *g, const MPI_Status *status)
{
    if (message < 0)
        return;
    struct message *m = &messages[message];
    m->call = (int32_t)ncalls - 1;
    if (m->side == RECEIVED && status && g && status->MPI_SOURCE >= 0 && status->MPI_SOURCE < g->size) {
        m->peer = g->world[status->MPI_SOURCE];
        m->tag = status->MPI_TAG;
    }
}

static void remember(int message, struct group *g, MPI_Request request)
{
    if (message < 0)
        return;
    pending = more(pending, npending, &pending_room, sizeof *pending);
    pending[npending++] = (struct pending){ request, message, g };
}

/* Forgets a request that was complete; the oldest of equal handles. */
static void completed(MPI_Request request, const MPI_Status *status)
{
    for (size_t i = 0; i < npending; i++)
        if (pending[i].request == request) {
            complete(pending[i].message, pending[i].group, status);
            memmove(&pending[i], &pending[i + 1], (npending - i - 1) * sizeof *pending);
            npending--;
            return;
        }
}

/* `body` runs with r as its result; only the outermost call is counted. */
#define COUNTED(how, real, body) \
    do { \
        if (depth) \
            return real; \
        depth++; \
        int r; \
        struct call *c = begin(how); \
        (void)c; \
        body; \
        depth--; \
        return r; \
    } while (0)
#define LEAVE() (calls[ncalls - 1].leave = now())

#define SEND_LIKE(name, type_of_buffer) \
    REAL(int, name, (type_of_buffer b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm comm)) \
    { \
        COUNTED(MESSAGES, __real_##name(b, n, t, peer, tag, comm), { \
            int m = add_message(SENT, peer, tag, comm, NULL); \
            r = __real_##name(b, n, t, peer, tag, comm); \
            LEAVE(); \
            complete(m, NULL, NULL); \
        }); \
    }
#define ISEND_LIKE(name, type_of_buffer) \
    REAL(int, name, (type_of_buffer b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm comm, MPI_Request *rq)) \
    { \
        COUNTED(NEVER, __real_##name(b, n, t, peer, tag, comm, rq), { \
            struct group *g = NULL; \
            int m = add_message(SENT, peer, tag, comm, &g); \
            r = __real_##name(b, n, t, peer, tag, comm, rq); \
            LEAVE(); \
            remember(m, g, *rq); \
        }); \
    }
#define RECV_LIKE(name) \
    REAL(int, name, (void *b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm comm, MPI_Status *s)) \
    { \
        COUNTED(MESSAGES, __real_##name(b, n, t, peer, tag, comm, s), { \
            MPI_Status own; \
            MPI_Status *got = s == MPI_STATUS_IGNORE ? &own : s; \
            struct group *g = NULL; \
            int m = add_message(RECEIVED, peer, tag, comm, &g); \
            r = __real_##name(b, n, t, peer, tag, comm, got); \
            LEAVE(); \
            complete(m, g, got); \
        }); \
    }
#define IRECV_LIKE(name) \
    REAL(int, name, (void *b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm comm, MPI_Request *rq)) \
    { \
        COUNTED(NEVER, __real_##name(b, n, t, peer, tag, comm, rq), { \
            struct group *g = NULL; \
            int m = add_message(RECEIVED, peer, tag, comm, &g); \
            r = __real_##name(b, n, t, peer, tag, comm, rq); \
            LEAVE(); \
            remember(m, g, *rq); \
        }); \
    }
#define SENDRECV_LIKE(name, type_of_buffer) \
    REAL(int, name, \
         (type_of_buffer sb, int sn, MPI_Datatype st, int to, int stag, void *rb, int rn, MPI_Datatype rt, int from, int rtag, MPI_Comm comm, \
          MPI_Status *s)) \
    { \
        COUNTED(MESSAGES, __real_##name(sb, sn, st, to, stag, rb, rn, rt, from, rtag, comm, s), { \
            MPI_Status own; \
            MPI_Status *got = s == MPI_STATUS_IGNORE ? &own : s; \
            struct group *g = NULL; \
            int m = add_message(RECEIVED, from, rtag, comm, &g); \
            int k = add_message(SENT, to, stag, comm, NULL); \
            r = __real_##name(sb, sn, st, to, stag, rb, rn, rt, from, rtag, comm, got); \
            LEAVE(); \
            complete(m, g, got); \
            complete(k, NULL, NULL); \
        }); \
    }

SEND_LIKE(MPI_Send, const void *)
SEND_LIKE(MPI_Ssend, const void *)
SEND_LIKE(MPI_Rsend, const void *)
ISEND_LIKE(MPI_Isend, const void *)
ISEND_LIKE(MPI_Issend, const void *)
ISEND_LIKE(MPI_Irsend, const void *)
RECV_LIKE(MPI_Recv)
IRECV_LIKE(MPI_Irecv)
SENDRECV_LIKE(MPI_Sendrecv, const void *)

REAL(int, MPI_Wait, (MPI_Request *rq, MPI_Status *s))
{
    COUNTED(MESSAGES, __real_MPI_Wait(rq, s), {
        MPI_Status own;
        MPI_Status *got = s == MPI_STATUS_IGNORE ? &own : s;
        MPI_Request was = *rq;
        r = __real_MPI_Wait(rq, got);
        LEAVE();
        completed(was, got);
    });
}

REAL(int, MPI_Waitall, (int n, MPI_Request rq[], MPI_Status s[]))
{
    MPI_Request few[64], *was = few;
    MPI_Status few_own[64], *own = few_own;
    if (depth)
        return __real_MPI_Waitall(n, rq, s);
    if (n > 64) {
        was = malloc((size_t)n * sizeof *was);
        own = malloc((size_t)n * sizeof *own);
        if (!was || !own)
            abort();
    }
    if (n > 0)
        memcpy(was, rq, (size_t)n * sizeof *was);
    depth++;
    begin(MESSAGES);
    MPI_Status *got = s == MPI_STATUSES_IGNORE ? own : s;
    int r = __real_MPI_Waitall(n, rq, got);
    LEAVE();
    for (int i = 0; i < n; i++)
        completed(was[i], &got[i]);
    depth--;
    if (n > 64) {
        free(was);
        free(own);
    }
    return r;
}

REAL(int, MPI_Waitany, (int n, MPI_Request rq[], int *index, MPI_Status *s))
{
    if (depth || n <= 0)
        return __real_MPI_Waitany(n, rq, index, s);
    depth++;
    MPI_Request *was = malloc((size_t)n * sizeof *was);
    if (!was)
        abort();
    memcpy(was, rq, (size_t)n * sizeof *was);
    MPI_Status own, *got = s == MPI_STATUS_IGNORE ? &own : s;
    begin(MESSAGES);
    int r = __real_MPI_Waitany(n, rq, index, got);
    LEAVE();
    if (*index != MPI_UNDEFINED)
        completed(was[*index], got);
    free(was);
    depth--;
    return r;
}

REAL(int, MPI_Test, (MPI_Request *rq, int *flag, MPI_Status *s))
{
    COUNTED(POLLED, __real_MPI_Test(rq, flag, s), {
        MPI_Status own;
        MPI_Status *got = s == MPI_STATUS_IGNORE ? &own : s;
        MPI_Request was = *rq;
        r = __real_MPI_Test(rq, flag, got);
        LEAVE();
        if (*flag) {
            calls[ncalls - 1].how = MESSAGES;
            if (was != MPI_REQUEST_NULL)
                completed(was, got);
        }
    });
}

REAL(int, MPI_Probe, (int peer, int tag, MPI_Comm comm, MPI_Status *s))
{
    COUNTED(POLLED, __real_MPI_Probe(peer, tag, comm, s), {
        r = __real_MPI_Probe(peer, tag, comm, s);
        LEAVE();
    });
}

REAL(int, MPI_Iprobe, (int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *s))
{
    COUNTED(POLLED, __real_MPI_Iprobe(peer, tag, comm, flag, s), {
        r = __real_MPI_Iprobe(peer, tag, comm, flag, s);
        LEAVE();
        if (*flag)
            calls[ncalls - 1].how = NEVER;
    });
}

/* A collective: which one of its communicator is told by counting, the same on all members. */
static void collective(MPI_Comm comm, int root)
{
    const struct group *g = group_of(comm);
    struct call *c = &calls[ncalls - 1];
    if (!g) {
        c->how = NEVER;
        return;
    }
    c->comm = g->key;
    c->size = g->size;
    c->root = g->rank == root;
}

#define COLLECTIVE(name, how, root, parameters, arguments) \
    REAL(int, name, parameters) \
    { \
        COUNTED(how, __real_##name arguments, { \
            r = __real_##name arguments; \
            LEAVE(); \
            collective(comm, root); \
        }); \
    }

COLLECTIVE(MPI_Barrier, FOR_ALL, -1, (MPI_Comm comm), (comm))
COLLECTIVE(MPI_Bcast, FOR_ROOT, root, (void *b, int n, MPI_Datatype t, int root, MPI_Comm comm), (b, n, t, root, comm))
COLLECTIVE(MPI_Reduce, AT_ROOT, root, (const void *s, void *d, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm), (s, d, n, t, op, root, comm))
COLLECTIVE(MPI_Allreduce, FOR_ALL, -1, (const void *s, void *d, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (s, d, n, t, op, comm))
COLLECTIVE(MPI_Scan, FOR_ALL, -1, (const void *s, void *d, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (s, d, n, t, op, comm))
COLLECTIVE(MPI_Gather, AT_ROOT, root, (const void *s, int sn, MPI_Datatype st, void *d, int dn, MPI_Datatype dt, int root, MPI_Comm comm),
           (s, sn, st, d, dn, dt, root, comm))
COLLECTIVE(MPI_Scatter, FOR_ROOT, root, (const void *s, int sn, MPI_Datatype st, void *d, int dn, MPI_Datatype dt, int root, MPI_Comm comm),
           (s, sn, st, d, dn, dt, root, comm))
COLLECTIVE(MPI_Allgather, FOR_ALL, -1, (const void *s, int sn, MPI_Datatype st, void *d, int dn, MPI_Datatype dt, MPI_Comm comm), (s, sn, st, d, dn, dt, comm))
COLLECTIVE(MPI_Alltoall, FOR_ALL, -1, (const void *s, int sn, MPI_Datatype st, void *d, int dn, MPI_Datatype dt, MPI_Comm comm), (s, sn, st, d, dn, dt, comm))
COLLECTIVE(MPI_Alltoallv, FOR_ALL, -1,
           (const void *s, const int *sn, const int *so, MPI_Datatype st, void *d, const int *dn, const int *po, MPI_Datatype dt, MPI_Comm comm),
           (s, sn, so, st, d, dn, po, dt, comm))

#ifdef APPS_OPI
SEND_LIKE(OPI_Give, void *)
SEND_LIKE(OPI_Sgive, void *)
ISEND_LIKE(OPI_Igive, void *)
RECV_LIKE(OPI_Take)
IRECV_LIKE(OPI_Itake)
RECV_LIKE(OPI_Take_replace)
IRECV_LIKE(OPI_Itake_replace)
SENDRECV_LIKE(OPI_Givetake, void *)
SENDRECV_LIKE(OPI_Giverecv, void *)
SENDRECV_LIKE(OPI_Sendtake, const void *)

REAL(int, OPI_Alloc, (void *b, size_t n))
{
    COUNTED(NEVER, __real_OPI_Alloc(b, n), {
        r = __real_OPI_Alloc(b, n);
        LEAVE();
    });
}

REAL(void *, OPI_Calloc, (size_t n, size_t s))
{
    if (depth)
        return __real_OPI_Calloc(n, s);
    depth++;
    (void)begin(NEVER);
    void *r = __real_OPI_Calloc(n, s);
    LEAVE();
    depth--;
    return r;
}

REAL(int, OPI_Free, (void *b))
{
    COUNTED(NEVER, __real_OPI_Free(b), {
        r = __real_OPI_Free(b);
        LEAVE();
    });
}
#endif

REAL(int, MPI_Init, (int *argc, char ***argv))
{
    depth++;
    int r = __real_MPI_Init(argc, argv);
    depth--;
    begun = now();
    return r;
}

REAL(int, MPI_Finalize, (void))
{
    const char *name = getenv("OPI_BENCH_TRACE");
    double end = now();
    int rank;
    depth++;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (name) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d", name, rank);
        FILE *f = fopen(path, "wb");
        double seconds[2] = { begun, end };
        uint64_t counts[2] = { ncalls, nmessages };
        if (!f || fwrite(seconds, sizeof seconds, 1, f) != 1 || fwrite(counts, sizeof counts, 1, f) != 1
            || fwrite(calls, sizeof *calls, ncalls, f) != ncalls || fwrite(messages, sizeof *messages, nmessages, f) != nmessages || fclose(f)) {
            fprintf(stderr, "apps_profile: cannot write %s\n", path);
            __real_MPI_Finalize();
            exit(1);
        }
    }
    int r = __real_MPI_Finalize();
    depth--;
    return r;
}
