/*
 * Receives that any rank may serve are pending while their rank sits in a call of the MPI, and the others go there only when their sends are complete:
 * synchronous ones, on the node and across nodes. Every kind of call that waits for others.
 *
 * held [threads]   with MPI_THREAD_MULTIPLE
 */
#include "../check.h"

#define LARGE 300000

static int ranks;
static MPI_Comm comm;
static MPI_Win win;
static int window[64];

/* ---- the calls --------------------------------------------------------------------------------------------------------------------------- */

static void do_barrier(void) { MPI_Barrier(comm); }
static void do_bcast(void) { int x = world_rank; MPI_Bcast(&x, 1, MPI_INT, ranks - 1, comm); CHECK(x == ranks - 1); }
static void do_bcast_large(void) { static char b[LARGE]; MPI_Bcast(b, LARGE, MPI_CHAR, ranks - 1, comm); }
static void do_reduce(void) { int x = 1, y = 0; MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0, comm); CHECK(world_rank || y == ranks); }
static void do_allreduce(void) { int x = 1, y = 0; MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm); CHECK(y == ranks); }
static void do_scan(void) { int x = 1, y = 0; MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, comm); MPI_Barrier(comm); CHECK(y == world_rank + 1); }
static void do_gather(void) { int x = 1, y[64]; MPI_Gather(&x, 1, MPI_INT, y, 1, MPI_INT, 0, comm); }
static void do_allgather(void) { int x = 1, y[64]; MPI_Allgather(&x, 1, MPI_INT, y, 1, MPI_INT, comm); }
static void do_alltoall(void) { int x[64] = {0}, y[64]; MPI_Alltoall(x, 1, MPI_INT, y, 1, MPI_INT, comm); }
static void do_scatter_block(void) { int x[64] = {0}, y; MPI_Reduce_scatter_block(x, &y, 1, MPI_INT, MPI_SUM, comm); }

static void do_dup(void) { MPI_Comm c; MPI_Comm_dup(comm, &c); MPI_Comm_free(&c); }
static void do_split(void) { MPI_Comm c; MPI_Comm_split(comm, world_rank % 2, 0, &c); MPI_Comm_free(&c); }

static void do_split_type(void)
{
    MPI_Comm c;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    MPI_Comm_free(&c);
}

static void do_create_group(void)
{
    MPI_Group g;
    MPI_Comm c;
    MPI_Comm_group(comm, &g);
    MPI_Comm_create_group(comm, g, 5, &c);
    MPI_Comm_free(&c);
    MPI_Group_free(&g);
}

static void do_cart(void)
{
    MPI_Comm c;
    int periodic = 1;
    MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &c);
    MPI_Comm_free(&c);
}

static void do_fence(void) { MPI_Win_fence(0, win); }

static void do_window(void)
{
    MPI_Win w;
    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, comm, &w);
    MPI_Win_fence(0, w);
    MPI_Win_free(&w);
}

static void do_post(void)
{
    MPI_Group all, others;
    MPI_Comm_group(comm, &all);
    MPI_Group_excl(all, 1, &world_rank, &others);
    MPI_Win_post(others, 0, win);
    MPI_Win_start(others, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
    MPI_Group_free(&others);
}

static void do_lock(void)
{
    int one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, (world_rank + 1) % ranks, 0, win);
    MPI_Put(&one, 1, MPI_INT, (world_rank + 1) % ranks, world_rank, 1, MPI_INT, win);
    MPI_Win_unlock((world_rank + 1) % ranks, win);
    MPI_Barrier(comm);
}

static void do_file(void)
{
    char name[64] = "/tmp/held-XXXXXX";
    MPI_File f;
    if (world_rank == 0) {
        FILE *made = fopen("/proc/self/stat", "r");
        int pid = 0;
        if (made && fscanf(made, "%d", &pid) == 1)
            snprintf(name, sizeof name, "/tmp/held-%d", pid);
        if (made)
            fclose(made);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm);
    CHECK_CLASS(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f), MPI_SUCCESS);
    CHECK_CLASS(MPI_File_write_at_all(f, (MPI_Offset)world_rank * 4, &world_rank, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_File_close(&f);
}

/* Messages of another communicator, by every call that waits for one. */
static MPI_Comm other;

static void ring(int how)
{
    int out = world_rank, in = -1, right = (world_rank + 1) % ranks, left = (world_rank + ranks - 1) % ranks, flag = 0;
    MPI_Request q[2];
    MPI_Message m;
    MPI_Barrier(comm);
    switch (how) {
    case 0:
        MPI_Sendrecv(&out, 1, MPI_INT, right, 8, &in, 1, MPI_INT, left, 8, other, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Isend(&out, 1, MPI_INT, right, 8, other, &q[0]);
        MPI_Recv(&in, 1, MPI_INT, left, 8, other, MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Irecv(&in, 1, MPI_INT, left, 8, other, &q[0]);
        MPI_Issend(&out, 1, MPI_INT, right, 8, other, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        break;
    case 3:
        MPI_Isend(&out, 1, MPI_INT, right, 8, other, &q[0]);
        MPI_Probe(left, 8, other, MPI_STATUS_IGNORE);
        MPI_Recv(&in, 1, MPI_INT, left, 8, other, MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        break;
    case 4:
        MPI_Isend(&out, 1, MPI_INT, right, 8, other, &q[0]);
        MPI_Mprobe(left, 8, other, &m, MPI_STATUS_IGNORE);
        MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Isend(&out, 1, MPI_INT, right, 8, other, &q[0]);
        while (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, 8, other, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 8, other, MPI_STATUS_IGNORE);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    }
    CHECK(in == left);
}

static void do_sendrecv(void) { ring(0); }
static void do_recv(void) { ring(1); }
static void do_waitall(void) { ring(2); }
static void do_probe(void) { ring(3); }
static void do_mprobe(void) { ring(4); }
static void do_iprobe(void) { ring(5); }

static void do_ibarrier(void) { MPI_Request q; MPI_Ibarrier(comm, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }

static void do_tested(void)
{
    MPI_Request q;
    int flag = 0;
    MPI_Ibarrier(comm, &q);
    while (!flag)
        MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*call)(void);
} calls[] = {
    {"barrier", do_barrier}, {"bcast", do_bcast}, {"large bcast", do_bcast_large}, {"reduce", do_reduce}, {"allreduce", do_allreduce},
    {"scan", do_scan}, {"gather", do_gather}, {"allgather", do_allgather}, {"alltoall", do_alltoall}, {"reduce_scatter_block", do_scatter_block},
    {"dup", do_dup}, {"split", do_split}, {"split_type", do_split_type}, {"create_group", do_create_group}, {"cart", do_cart},
    {"fence", do_fence}, {"window", do_window}, {"post", do_post}, {"lock", do_lock}, {"file", do_file},
    {"sendrecv", do_sendrecv}, {"recv", do_recv}, {"waitall", do_waitall}, {"probe", do_probe}, {"mprobe", do_mprobe}, {"iprobe", do_iprobe},
    {"ibarrier", do_ibarrier}, {"tested ibarrier", do_tested},
};
#define CALLS (int)(sizeof calls / sizeof calls[0])

/* ---- what is pending --------------------------------------------------------------------------------------------------------------------- */

enum pending { WILD, WILD_TAG, BEHIND, PERSISTENT, TAKE, LARGE_ONES, KINDS };
static const char *const kind_name[KINDS] = {"any source", "any source and tag", "after a wildcard", "persistent", "take", "large standard sends"};

static void receiver(enum pending kind, void (*call)(void))
{
    MPI_Request q[130];
    int n = 0, in[130], seen[64] = {0};
    static char bytes[64][LARGE];
    int *taken[64] = {0};
    MPI_Status status;
    memset(in, -1, sizeof in);
    for (int i = 0; i < ranks - 1; i++) {
        int source = kind == BEHIND && i > 0 ? i + 1 : MPI_ANY_SOURCE, tag = kind == WILD_TAG ? MPI_ANY_TAG : 3;
        if (kind == PERSISTENT) {
            MPI_Recv_init(&in[i], 1, MPI_INT, source, tag, comm, &q[n]);
            MPI_Start(&q[n++]);
        } else if (kind == TAKE) {
            OPI_Itake(&taken[i], 1, MPI_INT, source, tag, comm, &q[n++]);
        } else if (kind == LARGE_ONES) {
            MPI_Irecv(bytes[i], LARGE, MPI_CHAR, source, tag, comm, &q[n++]);
        } else {
            MPI_Irecv(&in[i], 1, MPI_INT, source, tag, comm, &q[n++]);
        }
    }
    call();
    for (int i = 0; i < n; i++) {
        CHECK_CLASS(MPI_Wait(&q[i], &status), MPI_SUCCESS);
        CHECK(status.MPI_SOURCE > 0 && status.MPI_SOURCE < ranks && status.MPI_TAG == 3);
        seen[status.MPI_SOURCE]++;
        if (kind == TAKE) {
            CHECK(taken[i] && *taken[i] == 100 + status.MPI_SOURCE);
            OPI_Free(&taken[i]);
        } else if (kind == LARGE_ONES) {
            CHECK(differs(bytes[i], LARGE, (unsigned)status.MPI_SOURCE) == 0);
        } else {
            CHECK(in[i] == 100 + status.MPI_SOURCE);
        }
        if (kind == PERSISTENT)
            MPI_Request_free(&q[i]);
    }
    for (int i = 1; i < ranks; i++)
        CHECK(seen[i] == 1);
}

static void sender(enum pending kind, void (*call)(void))
{
    int out = 100 + world_rank;
    static char bytes[LARGE];
    if (kind == LARGE_ONES) {
        fill(bytes, LARGE, (unsigned)world_rank);
        MPI_Send(bytes, LARGE, MPI_CHAR, 0, 3, comm);
    } else {
        /* After the wildcard stand receives from ranks 2 and up: rank 1's message has to be there first, or it would be theirs that the wildcard takes. */
        if (kind == BEHIND && world_rank > 1)
            MPI_Recv(&out, 0, MPI_INT, world_rank - 1, 4, comm, MPI_STATUS_IGNORE);
        MPI_Ssend(&out, 1, MPI_INT, 0, 3, comm);
        if (kind == BEHIND && world_rank < ranks - 1)
            MPI_Send(&out, 0, MPI_INT, world_rank + 1, 4, comm);
    }
    call();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        int got;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
        MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
        CHECK(got == MPI_THREAD_MULTIPLE);
    } else {
        start(&argc, &argv);
    }
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, comm, &win);
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < CALLS; i++) {
            if (kind > WILD_TAG && i % 5)
                continue;
            trying("%s while %s", calls[i].name, kind_name[kind]);
            if (getenv("HELD_SAY") && world_rank == 0)
                fprintf(stderr, "%s\n", context);
            if (world_rank == 0)
                receiver((enum pending)kind, calls[i].call);
            else
                sender((enum pending)kind, calls[i].call);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    MPI_Win_free(&win);
    MPI_Comm_free(&other);

    /* A receive whose request was freed: its sender comes to the end of the job all the same. */
    trying("the end of the job");
    static int late;
    MPI_Request q;
    if (world_rank == 0) {
        MPI_Irecv(&late, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &q);
        MPI_Request_free(&q);
    }
    MPI_Comm_free(&comm);
    int all = 0;
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf("held: %s, %d failures\n", all ? "FAILED" : "ok", all);
        fflush(stdout);
    }
    if (world_rank == 1)
        MPI_Ssend(&ranks, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
