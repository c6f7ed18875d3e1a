/* init.c - starting and stopping: which ranks share this node, and whether their heaps can be shared. */
#include "process/base/alive.h"
#include "process/base/error.h"
#include "process/base/export.h"
#include "process/base/overridden.h"
#include "process/base/tune.h"
#include "shared/onesided/onesided.h"
#include "process/below/net.h"
#include "process/below/outside.h"
#include "process/engine/deliver.h"
#include "process/engine/progress.h"
#include "process/engine/section.h"
#include "process/heap/heap.h"
#include "process/objects/comm.h"
#include "process/objects/datatype.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define WIRE_VERSION 4

struct opi_state opi = {.memfd = -1, .slot_given = -1, .me = 0, .nlocal = 1, .base = OPI_BASE, .window_shift = OPI_REGION_SHIFT - 4, .all = MPI_COMM_NULL, .self = MPI_COMM_NULL, .node = MPI_COMM_NULL};
int *opi_local_of_world;

/* What ranks of a node tell each other. */
struct card {
    int32_t version, pid, fd, slot;
    int32_t shared; /* its arena can be mapped by others */
    int32_t world_rank;
    uint64_t address, window;
    uint64_t begun; /* when its process began (alive.c) */
    uint64_t token_at, token; /* a number in its private memory, to see whether that can be read */
};

static bool env_flag(const char *name) {
    const char *s = getenv(name);
    return s && *s && strcmp(s, "0") != 0;
}

__attribute__((constructor)) static void at_load(void) {
    atomic_store_explicit(&opi.owner, opi_self(), memory_order_relaxed);
    opi.threads = opi.locked = !opi_helper_load() || OPI_TSAN; /* the sanitizer knows mutexes, not membarrier */
    opi_overridden();
    opi.disabled = opi_other || env_flag("OPI_DISABLE");
    opi.verbose = env_flag("OPI_VERBOSE");
    if (opi_other && opi.verbose)
        opi_say("%s is not libopi's", opi_other);
    opi_profile_load();
    opi_device_load();
    opi_check_load();
    opi.watch = opi.profile || opi.check;
    opi.special = opi.threads || opi.watch;
    pthread_mutex_init(&opi.lock, NULL);
    if (opi_heap_place_known()) /* this process is a rank */
        opi_heap_init();
}

/* Communicators of our own.  No collective of ours runs on the program's, MPI_COMM_WORLD included: an MPI may choose its algorithms by how many a communicator
 * has seen, and then the program's sums would differ in their last bits from those without libopi.  MPI_Comm_create_group is the one creator that is not
 * collective over the old communicator: the MPIs make it of messages. */
static int make_all(void) {
    MPI_Group world;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
        return -1;
    int rc = PMPI_Comm_create_group(MPI_COMM_WORLD, world, 0, &opi.all);
    PMPI_Group_free(&world);
    if (rc != MPI_SUCCESS || PMPI_Comm_dup(MPI_COMM_SELF, &opi.self) != MPI_SUCCESS)
        return -1;
    PMPI_Comm_set_errhandler(opi.self, MPI_ERRORS_RETURN);
    return PMPI_Comm_set_errhandler(opi.all, MPI_ERRORS_RETURN);
}

/* Splits the machine's ranks into pretended nodes when asked to. */
static int make_node(void) {
    MPI_Comm machine;
    int rank;
    if (PMPI_Comm_split_type(opi.all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) != MPI_SUCCESS)
        return -1;
    PMPI_Comm_rank(machine, &rank);
    PMPI_Comm_size(machine, &opi.node_ranks_phys);
    if (!opi.heap_tried)
        opi.slot_given = rank;
    const char *k = getenv("OPI_NODE_RANKS");
    int per = k ? atoi(k) : 0;
    if (per <= 0) {
        opi.node = machine;
    } else {
        int nodes = (opi.node_ranks_phys + per - 1) / per; /* "k,cyclic": ranks are dealt out to the nodes in turn */
        int rc = PMPI_Comm_split(machine, strstr(k, "cyclic") ? rank % nodes : rank / per, rank, &opi.node);
        PMPI_Comm_free(&machine);
        if (rc != MPI_SUCCESS)
            return -1;
    }
    PMPI_Comm_set_errhandler(opi.node, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(opi.node, &opi.me);
    PMPI_Comm_size(opi.node, &opi.nlocal);
    return 0;
}

/* Maps the arenas of the node's other ranks.  False when one could not be. */
static bool map_node(const struct card *cards, const char **why) {
    for (int i = 0; i < opi.nlocal; i++) {
        if (cards[i].version != WIRE_VERSION) {
            *why = "another version of libopi";
            return false;
        }
        if (!cards[i].shared) {
            *why = "a rank's heap could not be placed at its address";
            return false;
        }
        if (cards[i].window != opi.arena->window) {
            *why = "ranks disagree about the size of the heap";
            return false;
        }
        for (int j = 0; j < i; j++)
            if (cards[j].slot == cards[i].slot) {
                *why = "two ranks took the same place, allocating before MPI_Init under a launcher that tells no local ranks";
                return false;
            }
    }
    for (int i = 0; i < opi.nlocal; i++) {
        opi.peer[i] = i == opi.me ? opi.arena : opi_heap_map_peer(cards[i].pid, cards[i].fd, (uintptr_t)cards[i].address, cards[i].window);
        if (!opi.peer[i]) {
            *why = "/proc/<pid>/fd of another rank cannot be opened";
            return false;
        }
    }
    return true;
}

static void unmap_node(void) {
    for (int i = 0; i < opi.nlocal; i++)
        if (opi.peer[i] && opi.peer[i] != opi.arena)
            opi_heap_unmap_peer(opi.peer[i]);
}

/* Threads that allocate read these: they are written where they change only. */
static void set(bool *what, bool to) {
    if (*what != to)
        *what = to;
}

static void engine_start(void) {
    const char *exchanges = getenv("OPI_ALLTOALL");
    int mine[3] = {opi.disabled, opi.profile, exchanges && strcmp(exchanges, "0") == 0}, any[3] = {0, 0, 0};
    if (make_all() != 0)
        opi_die("the MPI makes no communicator of all ranks");
    PMPI_Allreduce(mine, any, 3, MPI_INT, MPI_MAX, opi.all);
    opi.disabled = any[0] != 0; /* a layer only some ranks have would lose messages */
    set(&opi.profile, any[1] != 0); /* its report is collective */
    opi.exchanges = any[2] == 0;
    set(&opi.watch, opi.profile || opi.check);
    set(&opi.special, opi.threads || opi.watch);
    if (opi.disabled) {
        if (opi.verbose && opi.world_rank == 0)
            opi_say("disabled: every message is the MPI's");
        return;
    }
    if (make_node() != 0)
        return;
    int n = opi.nlocal;
    const char *why = NULL;
    struct card card = {.version = WIRE_VERSION, .world_rank = opi.world_rank}, *cards = calloc((size_t)n, sizeof card);
    opi.peer = calloc((size_t)n, sizeof *opi.peer);
    opi.out = calloc((size_t)n, sizeof *opi.out);
    opi.in = calloc((size_t)n, sizeof *opi.in);
    opi_local_of_world = malloc((size_t)opi.world_size * sizeof(int));
    if (!cards || !opi.peer || !opi.out || !opi.in || !opi_local_of_world)
        opi_die("out of memory at start");
    if (opi_heap_init()) {
        card.pid = (int32_t)getpid();
        card.begun = opi_alive_begun(card.pid);
        card.fd = opi.memfd;
        card.slot = opi.arena->slot;
        card.shared = !opi.private_heap;
        card.address = (uint64_t)(uintptr_t)opi.arena;
        card.window = opi.arena->window;
    }
    static uint64_t token;
    if (getrandom(&token, sizeof token, GRND_NONBLOCK) != sizeof token)
        token = (uint64_t)(uintptr_t)&card * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid() << 32;
    card.token = token;
    card.token_at = (uint64_t)(uintptr_t)&token;
    PMPI_Allgather(&card, sizeof card, MPI_BYTE, cards, sizeof card, MPI_BYTE, opi.node);
    bool ok = opi.arena != NULL;
    if (n > OPI_MAX_LOCAL) {
        ok = false;
        why = "more ranks on one node than libopi handles";
    } else if (n == 1) {
        opi.peer[0] = opi.arena;
    } else {
        ok = ok && map_node(cards, &why);
    }
    bool reads = ok && n > 1 && opiw_kernel_wanted();
    for (int i = 0; i < n && reads; i++)
        reads = i == opi.me || opi_copy_probe(cards[i].pid, cards[i].token_at, cards[i].token);
    int can[2] = {ok, reads}, node_can[2] = {0, 0}, good = ok;
    PMPI_Allreduce(can, node_can, 2, MPI_INT, MPI_MIN, opi.node);
    int all = node_can[0];
    opi.kernel_copy = node_can[1] != 0;
    for (int i = 0; i < opi.world_size; i++)
        opi_local_of_world[i] = -1;
    if (!all) {
        int first = good ? n : opi.me, who = 0;
        PMPI_Allreduce(&first, &who, 1, MPI_INT, MPI_MIN, opi.node);
        if (who == opi.me)
            opi_say("warning: the ranks of this node cannot share a heap (%s); messages go through the MPI", why ? why : "no shared memory");
        unmap_node();
    } else {
        for (int i = 0; i < n; i++)
            opi_local_of_world[cards[i].world_rank] = i;
    }
    uint64_t *begun = all && n > 1 ? malloc((size_t)n * sizeof *begun) : NULL;
    for (int i = 0; begun && i < n; i++)
        begun[i] = cards[i].begun;
    opi_alive_begin(begun);
    free(cards);
    opi_tune();
    /* A node that cannot share its heap still takes part: its ranks use the MPI for everything, and no other rank shares memory with them. */
    opi.ready = true;
    opi.node_ok = all != 0;
    if (all)
        opi_helper_start();
    if (opi.verbose && opi.me == 0)
        opi_say("node of %d ranks%s: inline up to %zu bytes, %s, eager up to %zu, copied by both sides from %zu, private memory %s from %zu, ring of %u envelopes, cap %zu bytes a pair", n,
                n < opi.node_ranks_phys ? " (pretended)" : "", opi.inline_limit, opi.private_heap ? "private heap" : "shared heap", opi.eager_limit,
                opi.co_min, opi.kernel_copy ? "read by the kernel" : "pipelined", opi.kernel_copy ? opi.kernel_min : opi.pipe_min, opi.ring_slots, opi.cap);
}

static int level; /* of threads, as the program asked and was told */

static void started(int provided) {
    if (opi.mpi_running)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &opi.world_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &opi.world_size);
    opi.mpi_running = true;
    if (opi_guest()) {
        opi_guest_enter(); /* no other thread is in the middle of something */
        atomic_store_explicit(&opi.owner, opi_self(), memory_order_relaxed);
        opi_guest_leave();
    }
    opi.multiple = provided == MPI_THREAD_MULTIPLE;
    if (level >= MPI_THREAD_SERIALIZED && !opi.threads)
        opi_guests_by_lock();
    set(&opi.special, opi.threads || opi.watch);
    opi_types_init();
    opi_device_begin();
    engine_start();
    opi_profile_begin();
    opi_check_begin();
    opi_helper_fork_init();
    opi_comms_init();
}

/* The MPI below may be asked for more than the program asks for (hook.c); the program is told what it asked for. */
static int begin(int *argc, char ***argv, int required) {
    int provided = MPI_THREAD_SINGLE, wanted = opi_hook_threads(required);
    int rc = wanted == MPI_THREAD_SINGLE ? PMPI_Init(argc, argv) : PMPI_Init_thread(argc, argv, wanted, &provided);
    if (rc != MPI_SUCCESS)
        return rc;
    if (wanted == MPI_THREAD_SINGLE)
        PMPI_Query_thread(&provided);
    level = wanted != required && provided > required ? required : provided;
    started(provided);
    return MPI_SUCCESS;
}

EXPORT int MPI_Init(int *argc, char ***argv) {
    return begin(argc, argv, MPI_THREAD_SINGLE);
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int rc = begin(argc, argv, required);
    if (rc == MPI_SUCCESS)
        *provided = level;
    return rc;
}

EXPORT int MPI_Query_thread(int *provided) {
    if (!opi.mpi_running || !opi.multiple)
        return PMPI_Query_thread(provided);
    *provided = level;
    return MPI_SUCCESS;
}

/* Until all ranks are here: what a rank still waits for may need our progress, as a receive does whose request was freed. */
static void meet(void) {
    MPI_Request all = MPI_REQUEST_NULL;
    struct opi_wait w = {.on = -1, .below = true};
    int here = PMPI_Ibarrier(opi.all, &all) != MPI_SUCCESS;
    while (!here) {
        opi_progress();
        if (PMPI_Test(&all, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return;
        if (OPI_UNLIKELY(opi.broken) && opi_died(-1)) /* it will not come */
            return;
        if (!here)
            opi_relax(&w);
    }
}

static void print_paths(void) {
    const struct opi_stats *s = &opi.stat;
    opi_say("sent %llu inline, %llu gives, %llu copied to the heap, %llu pipelined, %llu by reference (%llu of them buffered), %llu through the MPI; "
            "received %llu unexpected; blocks passed %llu, copied %llu; kicks sent %llu, taken %llu",
            (unsigned long long)s->inline_msgs, (unsigned long long)s->give_msgs, (unsigned long long)s->block_msgs, (unsigned long long)s->pipe_msgs,
            (unsigned long long)s->rndv_msgs, (unsigned long long)s->buffered_msgs, (unsigned long long)s->net_msgs, (unsigned long long)s->unexpected,
            (unsigned long long)s->passed, (unsigned long long)s->copied, (unsigned long long)s->kicks, (unsigned long long)s->kicked);
}

EXPORT int MPI_Finalize(void) {
    if (opi.mpi_running) {
        opi_enter();
        opi_flush();
        opi_net_retired_poll(true);
        if (opi.ready)
            meet();
        if (opi.arena)
            atomic_store_explicit(&opi.arena->left, 1, memory_order_release); /* all that it has sent is on its way */
        opi_leave();
        opi_helper_stop();
        opi_hook_end();
        if (opi.verbose && !opi.disabled)
            print_paths();
        opi_profile_finish();
        opi.ready = false;
        opi_comms_fini();
        opi_types_fini();
        opi_native_poll_end();
        if (opi.node != MPI_COMM_NULL)
            PMPI_Comm_free(&opi.node);
        if (opi.all != MPI_COMM_NULL)
            PMPI_Comm_free(&opi.all);
        if (opi.self != MPI_COMM_NULL)
            PMPI_Comm_free(&opi.self);
        opi.multiple = false;
        opi_alive_end();
        set(&opi.special, opi.threads || opi.watch);
        opi.last_comm = NULL;
        opi.last_type = NULL;
        opi.mpi_running = false;
        opi.mpi_over = true;
    }
    return PMPI_Finalize();
}
