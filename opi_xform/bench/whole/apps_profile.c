/* What a program does in MPI and when, for `opi-bench apps` and `opi-bench compare`: linked into every build of it with --wrap, so that it stands in front
 * of the MPI and of libopi alike, or (APPS_PRELOAD) a library that is loaded before them.  A call of the program is timed once, whatever it calls in turn.
 *
 * Each rank writes $OPI_BENCH_TRACE.RANK when MPI ends: a header, the calls, then the messages (both sides).  The clock is the node's, so times of different ranks compare.
 * With $OPI_BENCH_CALLS only so many calls are kept, and the time of the others is added up; with 0 no call is timed.
 * The calls of a program that asks for MPI_THREAD_MULTIPLE are not timed.
 */
#define _GNU_SOURCE
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
#include "apps_profile.h"

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

#define SEND_LIKE(name, type_of_buffer) \
    REAL(int, name, (type_of_buffer b, int n, MPI_Datatype t, int peer, int tag, MPI_Comm comm)) \
    { \
        COUNTED(MESSAGES, __real_##name(b, n, t, peer, tag, comm), { \
            int m = add_message(SENT, peer, tag, comm, NULL); \
            r = __real_##name(b, n, t, peer, tag, comm); \
            leave(); \
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
            leave(); \
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
            leave(); \
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
            leave(); \
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
            leave(); \
            complete(m, g, got); \
            complete(k, NULL, NULL); \
        }); \
    }

SEND_LIKE(MPI_Send, const void *)
SEND_LIKE(MPI_Ssend, const void *)
SEND_LIKE(MPI_Rsend, const void *)
SEND_LIKE(MPI_Bsend, const void *)
ISEND_LIKE(MPI_Ibsend, const void *)
ISEND_LIKE(MPI_Isend, const void *)
ISEND_LIKE(MPI_Issend, const void *)
ISEND_LIKE(MPI_Irsend, const void *)
RECV_LIKE(MPI_Recv)
IRECV_LIKE(MPI_Irecv)
SENDRECV_LIKE(MPI_Sendrecv, const void *)

REAL(int, MPI_Sendrecv_replace, (void *b, int n, MPI_Datatype t, int to, int stag, int from, int rtag, MPI_Comm comm, MPI_Status *s))
{
    COUNTED(MESSAGES, __real_MPI_Sendrecv_replace(b, n, t, to, stag, from, rtag, comm, s), {
        MPI_Status own;
        MPI_Status *got = s == MPI_STATUS_IGNORE ? &own : s;
        struct group *g = NULL;
        int m = add_message(RECEIVED, from, rtag, comm, &g);
        int k = add_message(SENT, to, stag, comm, NULL);
        r = __real_MPI_Sendrecv_replace(b, n, t, to, stag, from, rtag, comm, got);
        leave();
        complete(m, g, got);
        complete(k, NULL, NULL);
    });
}

REAL(int, MPI_Wait, (MPI_Request *rq, MPI_Status *s))
{
    COUNTED(MESSAGES, __real_MPI_Wait(rq, s), {
        MPI_Status own;
        MPI_Status *got = s == MPI_STATUS_IGNORE ? &own : s;
        MPI_Request was = *rq;
        r = __real_MPI_Wait(rq, got);
        leave();
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
    leave();
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
    leave();
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
        leave();
        if (*flag) {
            last->how = MESSAGES;
            if (was != MPI_REQUEST_NULL)
                completed(was, got);
        }
    });
}

/* Requests as they are before a call that may end several, and room for their statuses. */
struct several {
    MPI_Request *was;
    MPI_Status *status;
};

static struct several several(int n, const MPI_Request rq[])
{
    size_t room = n > 0 ? (size_t)n : 1;
    struct several all = { malloc(room * sizeof *all.was), malloc(room * sizeof *all.status) };
    if (!all.was || !all.status)
        abort();
    if (n > 0)
        memcpy(all.was, rq, (size_t)n * sizeof *rq);
    return all;
}

static void done(struct several all)
{
    free(all.was);
    free(all.status);
}

#define SOME_LIKE(name, how_it_waits) \
    REAL(int, name, (int n, MPI_Request rq[], int *count, int indices[], MPI_Status s[])) \
    { \
        COUNTED(how_it_waits, __real_##name(n, rq, count, indices, s), { \
            struct several all = several(n, rq); \
            MPI_Status *got = s == MPI_STATUSES_IGNORE ? all.status : s; \
            r = __real_##name(n, rq, count, indices, got); \
            leave(); \
            if (*count != MPI_UNDEFINED && *count > 0) { \
                last->how = MESSAGES; \
                for (int i = 0; i < *count; i++) \
                    completed(all.was[indices[i]], &got[i]); \
            } \
            done(all); \
        }); \
    }

SOME_LIKE(MPI_Waitsome, MESSAGES)
SOME_LIKE(MPI_Testsome, POLLED)

REAL(int, MPI_Testall, (int n, MPI_Request rq[], int *flag, MPI_Status s[]))
{
    COUNTED(POLLED, __real_MPI_Testall(n, rq, flag, s), {
        struct several all = several(n, rq);
        MPI_Status *got = s == MPI_STATUSES_IGNORE ? all.status : s;
        r = __real_MPI_Testall(n, rq, flag, got);
        leave();
        if (*flag) {
            last->how = MESSAGES;
            for (int i = 0; i < n; i++)
                completed(all.was[i], &got[i]);
        }
        done(all);
    });
}

REAL(int, MPI_Testany, (int n, MPI_Request rq[], int *index, int *flag, MPI_Status *s))
{
    COUNTED(POLLED, __real_MPI_Testany(n, rq, index, flag, s), {
        struct several all = several(n, rq);
        MPI_Status *got = s == MPI_STATUS_IGNORE ? all.status : s;
        r = __real_MPI_Testany(n, rq, index, flag, got);
        leave();
        if (*flag && *index != MPI_UNDEFINED) {
            last->how = MESSAGES;
            completed(all.was[*index], got);
        }
        done(all);
    });
}

REAL(int, MPI_Request_free, (MPI_Request *rq))
{
    COUNTED(NEVER, __real_MPI_Request_free(rq), {
        MPI_Request was = *rq;
        r = __real_MPI_Request_free(rq);
        leave();
        completed(was, NULL);
    });
}

REAL(int, MPI_Probe, (int peer, int tag, MPI_Comm comm, MPI_Status *s))
{
    COUNTED(POLLED, __real_MPI_Probe(peer, tag, comm, s), {
        r = __real_MPI_Probe(peer, tag, comm, s);
        leave();
    });
}

REAL(int, MPI_Iprobe, (int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *s))
{
    COUNTED(POLLED, __real_MPI_Iprobe(peer, tag, comm, flag, s), {
        r = __real_MPI_Iprobe(peer, tag, comm, flag, s);
        leave();
        if (*flag)
            last->how = NEVER;
    });
}

/* A collective: which one of its communicator is told by counting, the same on all members. */
static void collective(MPI_Comm comm, int root)
{
    const struct group *g = group_of(comm);
    if (!g) {
        last->how = NEVER;
        return;
    }
    last->comm = g->key;
    last->size = g->size;
    last->root = g->rank == root;
}

#define COLLECTIVE(name, how, root, parameters, arguments) \
    REAL(int, name, parameters) \
    { \
        COUNTED(how, __real_##name arguments, { \
            r = __real_##name arguments; \
            leave(); \
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

COLLECTIVE(MPI_Alltoallw, FOR_ALL, -1,
           (const void *s, const int *sn, const int *so, const MPI_Datatype *st, void *d, const int *dn, const int *po, const MPI_Datatype *dt, MPI_Comm comm),
           (s, sn, so, st, d, dn, po, dt, comm))
COLLECTIVE(MPI_Exscan, FOR_ALL, -1, (const void *s, void *d, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (s, d, n, t, op, comm))
COLLECTIVE(MPI_Reduce_scatter, FOR_ALL, -1, (const void *s, void *d, const int *n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (s, d, n, t, op, comm))
COLLECTIVE(MPI_Reduce_scatter_block, FOR_ALL, -1, (const void *s, void *d, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm), (s, d, n, t, op, comm))
COLLECTIVE(MPI_Gatherv, AT_ROOT, root,
           (const void *s, int sn, MPI_Datatype st, void *d, const int *dn, const int *po, MPI_Datatype dt, int root, MPI_Comm comm),
           (s, sn, st, d, dn, po, dt, root, comm))
COLLECTIVE(MPI_Scatterv, FOR_ROOT, root,
           (const void *s, const int *sn, const int *so, MPI_Datatype st, void *d, int dn, MPI_Datatype dt, int root, MPI_Comm comm),
           (s, sn, so, st, d, dn, dt, root, comm))
COLLECTIVE(MPI_Allgatherv, FOR_ALL, -1, (const void *s, int sn, MPI_Datatype st, void *d, const int *dn, const int *po, MPI_Datatype dt, MPI_Comm comm),
           (s, sn, st, d, dn, po, dt, comm))

/* Calls whose partners are not followed: all of their time counts as communication. */
#define ANY_LIKE(name, parameters, arguments) \
    REAL(int, name, parameters) \
    { \
        COUNTED(NEVER, __real_##name arguments, { \
            r = __real_##name arguments; \
            leave(); \
        }); \
    }

ANY_LIKE(MPI_Start, (MPI_Request *rq), (rq))
ANY_LIKE(MPI_Startall, (int n, MPI_Request rq[]), (n, rq))
ANY_LIKE(MPI_Mprobe, (int peer, int tag, MPI_Comm comm, MPI_Message *m, MPI_Status *s), (peer, tag, comm, m, s))
ANY_LIKE(MPI_Improbe, (int peer, int tag, MPI_Comm comm, int *flag, MPI_Message *m, MPI_Status *s), (peer, tag, comm, flag, m, s))
ANY_LIKE(MPI_Mrecv, (void *b, int n, MPI_Datatype t, MPI_Message *m, MPI_Status *s), (b, n, t, m, s))
ANY_LIKE(MPI_Ibarrier, (MPI_Comm comm, MPI_Request *rq), (comm, rq))
ANY_LIKE(MPI_Ibcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm comm, MPI_Request *rq), (b, n, t, root, comm, rq))
ANY_LIKE(MPI_Ireduce, (const void *s, void *d, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm, MPI_Request *rq), (s, d, n, t, op, root, comm, rq))
ANY_LIKE(MPI_Iallreduce, (const void *s, void *d, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm, MPI_Request *rq), (s, d, n, t, op, comm, rq))
ANY_LIKE(MPI_Iallgather, (const void *s, int sn, MPI_Datatype st, void *d, int dn, MPI_Datatype dt, MPI_Comm comm, MPI_Request *rq),
         (s, sn, st, d, dn, dt, comm, rq))
ANY_LIKE(MPI_Ialltoall, (const void *s, int sn, MPI_Datatype st, void *d, int dn, MPI_Datatype dt, MPI_Comm comm, MPI_Request *rq),
         (s, sn, st, d, dn, dt, comm, rq))
ANY_LIKE(MPI_Ialltoallv,
         (const void *s, const int *sn, const int *so, MPI_Datatype st, void *d, const int *dn, const int *po, MPI_Datatype dt, MPI_Comm comm, MPI_Request *rq),
         (s, sn, so, st, d, dn, po, dt, comm, rq))
ANY_LIKE(MPI_Put, (const void *s, int sn, MPI_Datatype st, int peer, MPI_Aint at, int dn, MPI_Datatype dt, MPI_Win win), (s, sn, st, peer, at, dn, dt, win))
ANY_LIKE(MPI_Get, (void *d, int dn, MPI_Datatype dt, int peer, MPI_Aint at, int sn, MPI_Datatype st, MPI_Win win), (d, dn, dt, peer, at, sn, st, win))
ANY_LIKE(MPI_Accumulate, (const void *s, int sn, MPI_Datatype st, int peer, MPI_Aint at, int dn, MPI_Datatype dt, MPI_Op op, MPI_Win win),
         (s, sn, st, peer, at, dn, dt, op, win))
ANY_LIKE(MPI_Win_fence, (int assert, MPI_Win win), (assert, win))
ANY_LIKE(MPI_Win_lock, (int type, int peer, int assert, MPI_Win win), (type, peer, assert, win))
ANY_LIKE(MPI_Win_unlock, (int peer, MPI_Win win), (peer, win))
ANY_LIKE(MPI_Win_flush, (int peer, MPI_Win win), (peer, win))
ANY_LIKE(MPI_Win_start, (MPI_Group group, int assert, MPI_Win win), (group, assert, win))
ANY_LIKE(MPI_Win_complete, (MPI_Win win), (win))
ANY_LIKE(MPI_Win_post, (MPI_Group group, int assert, MPI_Win win), (group, assert, win))
ANY_LIKE(MPI_Win_wait, (MPI_Win win), (win))

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
        leave();
    });
}

REAL(void *, OPI_Malloc, (size_t n))
{
    if (depth)
        return __real_OPI_Malloc(n);
    depth++;
    begin(NEVER);
    void *r = __real_OPI_Malloc(n);
    leave();
    depth--;
    return r;
}

REAL(void *, OPI_Calloc, (size_t n, size_t s))
{
    if (depth)
        return __real_OPI_Calloc(n, s);
    depth++;
    begin(NEVER);
    void *r = __real_OPI_Calloc(n, s);
    leave();
    depth--;
    return r;
}

REAL(int, OPI_Free, (void *b))
{
    COUNTED(NEVER, __real_OPI_Free(b), {
        r = __real_OPI_Free(b);
        leave();
    });
}
#endif

static int told;                /* the program has called MPI_Init: what libopi asks the MPI for in turn says nothing of the program */

REAL(int, MPI_Init, (int *argc, char ***argv))
{
    told = 1;
    int r = __real_MPI_Init(argc, argv);
    started(r, MPI_THREAD_SINGLE);
    return r;
}

REAL(int, MPI_Init_thread, (int *argc, char ***argv, int wanted, int *provided))
{
    told = 1;
    int r = __real_MPI_Init_thread(argc, argv, wanted, provided);
    started(r, wanted);
    return r;
}

REAL(int, MPI_Finalize, (void))
{
    write_trace();
    return __real_MPI_Finalize();
}

#ifdef APPS_PRELOAD
/* What a libopi inside the program calls. */
REAL(int, PMPI_Init, (int *argc, char ***argv))
{
    int r = __real_PMPI_Init(argc, argv);
    started(r, MPI_THREAD_SINGLE);
    return r;
}

REAL(int, PMPI_Init_thread, (int *argc, char ***argv, int wanted, int *provided))
{
    int r = __real_PMPI_Init_thread(argc, argv, wanted, provided);
    started(r, told ? MPI_THREAD_SINGLE : wanted);
    return r;
}

REAL(int, PMPI_Finalize, (void))
{
    write_trace();
    return __real_PMPI_Finalize();
}
#endif
