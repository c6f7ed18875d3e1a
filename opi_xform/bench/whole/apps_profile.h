/* What apps_profile.c records, the file that it is written to, and how a function stands in front of the MPI's. */
#ifndef APPS_PROFILE_H
#define APPS_PROFILE_H

#include <mpi.h>
#include <dlfcn.h>
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
static struct call *last;       /* the call that runs, or ran last */
static struct call beyond;      /* one of those that are only added up */
static double beyond_s;
static uint64_t nbeyond, calls_limit = UINT64_MAX;
static int depth = 1;           /* of our own functions: only the outermost counts, and none outside MPI_Init and MPI_Finalize */
static int threads;             /* of the program call MPI at once: nothing is timed */
static int written;
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

#ifdef APPS_PRELOAD
#define REAL(type, name, parameters) \
    static type(*__real_##name) parameters; \
    __attribute__((constructor)) static void find_##name(void) \
    { \
        *(void **)&__real_##name = dlsym(RTLD_NEXT, #name); \
    } \
    type name parameters
#else
#define REAL(type, name, parameters) \
    extern type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters
#endif

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

static void begin(int how)
{
    if (ncalls < calls_limit) {
        calls = more(calls, ncalls, &calls_room, sizeof *calls);
        last = &calls[ncalls++];
    } else {
        last = &beyond;
        nbeyond++;
    }
    memset(last, 0, sizeof *last);
    last->how = how;
    last->enter = now();
}

static void leave(void)
{
    last->leave = now();
    if (last == &beyond)
        beyond_s += beyond.leave - beyond.enter;
}

static int add_message(int side, int peer, int tag, MPI_Comm comm, struct group **group)
{
    if (peer == MPI_PROC_NULL || last == &beyond)
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
    m->call = last == &beyond ? -1 : (int32_t)ncalls - 1;
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
        begin(how); \
        body; \
        depth--; \
        return r; \
    } while (0)

static void started(int rc, int level)
{
    const char *limit = getenv("OPI_BENCH_CALLS");
    if (rc != MPI_SUCCESS)
        return;
    if (limit)
        calls_limit = strtoull(limit, NULL, 10);
    threads = threads || level == MPI_THREAD_MULTIPLE;
    depth = threads || calls_limit == 0;
    begun = now();
}

/* The file of this rank. */
static void write_trace(void)
{
    const char *name = getenv("OPI_BENCH_TRACE");
    double end = now();
    int rank;
    depth++;
    if (!name || written)
        return;
    written = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", name, rank);
    FILE *f = fopen(path, "wb");
    double seconds[3] = { begun, end, beyond_s };
    uint64_t counts[4] = { ncalls, nmessages, nbeyond, (uint64_t)threads };
    if (!f || fwrite(seconds, sizeof seconds, 1, f) != 1 || fwrite(counts, sizeof counts, 1, f) != 1
        || fwrite(calls, sizeof *calls, ncalls, f) != ncalls || fwrite(messages, sizeof *messages, nmessages, f) != nmessages || fclose(f)) {
        fprintf(stderr, "apps_profile: cannot write %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

#endif
