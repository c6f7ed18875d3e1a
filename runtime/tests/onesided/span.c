/*
 * Windows whose ranks are on several nodes: those of one node reach each other's memory by themselves, those of others
 * come through the MPI, and what they do to one target agrees. The argument is how many ranks next to each other share a
 * node (0: all do).
 */
#define _GNU_SOURCE
#include "../mpi/check.h"

#include <time.h>

enum { WORDS = 4096, ROUNDS = 6 }; /* 32 KiB: more than a first operation under a lock leaves to the MPI */

static int rank, ranks;
static long *mine, *local;
static MPI_Win win;

static void clear(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(mine, 0, WORDS * sizeof *mine);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static long word(int i)
{
    long value;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    value = mine[i];
    MPI_Win_unlock(rank, win);
    return value;
}

/* Read, add one, write: none is lost only if an exclusive lock keeps out members of this node and of others alike. */
static void exclusive(int n)
{
    trying("exclusive locks, %d words", n);
    clear();
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < ranks; k++) {
            int target = (rank + k) % ranks;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Get(local, n, MPI_LONG, target, 0, n, MPI_LONG, win);
            MPI_Win_flush(target, win);
            for (int w = 0; w < n; w++)
                local[w]++;
            MPI_Put(local, n, MPI_LONG, target, 0, n, MPI_LONG, win);
            MPI_Win_unlock(target, win);
        }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(word(0) == (long)ranks * ROUNDS);
    CHECK(word(n - 1) == (long)ranks * ROUNDS);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Writers leave all words alike; readers, who share the lock, never find others. */
static void readers(void)
{
    trying("readers and writers");
    clear();
    for (int i = 0; i < ROUNDS; i++) {
        int target = (rank + i) % ranks, writes = (rank + i) % 2;
        MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win);
        for (int w = 0; writes && w < WORDS; w++)
            local[w] = rank * ROUNDS + i;
        if (writes)
            MPI_Put(local, WORDS, MPI_LONG, target, 0, WORDS, MPI_LONG, win);
        else
            MPI_Get(local, WORDS, MPI_LONG, target, 0, WORDS, MPI_LONG, win);
        MPI_Win_unlock(target, win);
        for (int w = 1; w < WORDS; w++)
            if (local[w] != local[0]) {
                CHECK(!"half of another's write was read");
                break;
            }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All add to the same words of every member at once. */
static void sums(void)
{
    const long one = 1;
    long sum = 0, before;
    trying("sums");
    clear();
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < ranks; k++) {
            MPI_Accumulate(&one, 1, MPI_LONG, (rank + k) % ranks, 0, 1, MPI_LONG, MPI_SUM, win);
            MPI_Fetch_and_op(&one, &before, MPI_LONG, (rank + k) % ranks, 1, MPI_SUM, win);
            MPI_Win_flush((rank + k) % ranks, win);
            CHECK(before >= 0 && before < (long)ranks * ROUNDS);
            sum += before;
        }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(word(0) == (long)ranks * ROUNDS);
    CHECK(word(1) == (long)ranks * ROUNDS);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long each = (long)ranks * ROUNDS; /* every value before was somebody's, at each target */
    CHECK(sum == ranks * (each * (each - 1) / 2));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A put that a flush has ended is there for an accumulate, and the other way round: one of them may be the MPI's, one not. */
static void alternate(void)
{
    const long one = 1;
    int target = (rank + 1) % ranks;
    trying("puts and sums in turns");
    clear();
    MPI_Win_lock_all(0, win);
    for (long i = 0; i < ROUNDS; i++) {
        long set = 100 * i, got = -1;
        MPI_Put(&set, 1, MPI_LONG, target, 5, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        MPI_Accumulate(&one, 1, MPI_LONG, target, 5, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush_all(win);
        MPI_Get(&got, 1, MPI_LONG, target, 5, 1, MPI_LONG, win);
        MPI_Win_flush_local(target, win);
        CHECK(got == 100 * i + 1);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fences(void)
{
    trying("fences");
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int i = 0; i < ROUNDS; i++) {
        long value = 1000 * i + rank, got[2] = {-1, -1};
        int next = (rank + 1) % ranks;
        for (int k = 0; k < ranks; k++)
            MPI_Put(&value, 1, MPI_LONG, (rank + k) % ranks, rank, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        for (int k = 0; k < ranks; k++)
            CHECK(mine[k] == 1000 * i + k);
        /* What any other, of any node, has written to the next one. */
        MPI_Get(&got[0], 1, MPI_LONG, next, rank, 1, MPI_LONG, win);
        MPI_Get(&got[1], 1, MPI_LONG, next, (rank + ranks / 2) % ranks, 1, MPI_LONG, win);
        MPI_Win_fence(i == ROUNDS - 1 ? MPI_MODE_NOSUCCEED : 0, win);
        CHECK(got[0] == value && got[1] == 1000 * i + (rank + ranks / 2) % ranks);
    }
}

/* Everybody exposes to all others and writes to all others. */
static void posts(int testing)
{
    MPI_Group all, others;
    trying(testing ? "post and test" : "post and wait");
    MPI_Win_get_group(win, &all);
    MPI_Group_excl(all, 1, &rank, &others);
    for (int i = 0; i < ROUNDS; i++) {
        long value = 1000 * i + rank, one = 1;
        int over = 0;
        mine[ranks] = 0;
        MPI_Win_post(others, 0, win);
        MPI_Win_start(others, 0, win);
        for (int k = 1; k < ranks; k++) {
            MPI_Put(&value, 1, MPI_LONG, (rank + k) % ranks, rank, 1, MPI_LONG, win);
            MPI_Accumulate(&one, 1, MPI_LONG, (rank + k) % ranks, ranks, 1, MPI_LONG, MPI_SUM, win);
        }
        MPI_Win_complete(win);
        while (testing && !over)
            MPI_Win_test(win, &over);
        if (!testing)
            MPI_Win_wait(win);
        for (int k = 0; k < ranks; k++)
            CHECK(k == rank || mine[k] == 1000 * i + k);
        CHECK(mine[ranks] == ranks - 1);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&others);
}

static void requests(void)
{
    trying("requests");
    clear();
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS; i++) {
        int target = (rank + i) % ranks;
        long value = 10 * i + rank, got = -1;
        MPI_Request request;
        MPI_Rput(&value, 1, MPI_LONG, target, 10 + rank, 1, MPI_LONG, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_flush(target, win);
        MPI_Rget(&got, 1, MPI_LONG, target, 10 + rank, 1, MPI_LONG, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(got == value);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What is wrong is refused whoever would carry it. */
static void refused(void)
{
    long x = 0;
    trying("errors");
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int target = 0; target < ranks; target++) {
        CHECK_CLASS(MPI_Put(&x, 1, MPI_LONG, target, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
        CHECK_CLASS(MPI_Win_unlock(target, win), MPI_ERR_RMA_SYNC);
    }
    MPI_Win_lock_all(0, win);
    CHECK_CLASS(MPI_Put(&x, 1, MPI_LONG, ranks, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    CHECK(MPI_Put(&x, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win) == MPI_SUCCESS);
    MPI_Win_unlock_all(win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The target looks at its memory, outside of MPI, until its neighbour of the same node has written, or five seconds are over. */
static void late(int per_node)
{
    int near = per_node ? rank / per_node * per_node : 0, on = rank - near;
    long seven = 7;
    trying("late target");
    clear();
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (on == 0 && rank + 1 < ranks && per_node != 1) {
        double until = MPI_Wtime() + 5;
        while (!((volatile long *)mine)[3] && MPI_Wtime() < until)
            ;
        CHECK(((volatile long *)mine)[3] == 7);
    } else if (on == 1) {
        MPI_Put(&seven, 1, MPI_LONG, near, 3, 1, MPI_LONG, win);
        MPI_Win_flush(near, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
}

/* The shortest of some epochs with a long sum; the target waits in MPI_Win_wait, or in MPI_Barrier while the origin has its lock. */
static double shortest(int posted, const long *from, int words, MPI_Win large, MPI_Comm pair, MPI_Group other)
{
    double best = 1e9;
    int origin = rank == 0;
    for (int i = 0; i < 9; i++) {
        MPI_Barrier(pair);
        double began = MPI_Wtime();
        if (!origin && posted) {
            MPI_Win_post(other, 0, large);
            MPI_Win_wait(large);
        } else if (origin) {
            if (posted)
                MPI_Win_start(other, 0, large);
            else
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, large);
            MPI_Accumulate(from, words, MPI_LONG, 1, 0, words, MPI_LONG, MPI_SUM, large);
            if (posted)
                MPI_Win_complete(large);
            else
                MPI_Win_unlock(1, large);
        }
        double took = MPI_Wtime() - began;
        best = took < best ? took : best;
        MPI_Barrier(pair);
    }
    return best;
}

/* The MPI adds a long array part by part, and the target has to let it, at once, wherever it waits: with one that slept
 * between two looks an epoch took 12 times as long after a post as under a lock. All but two ranks sleep meanwhile. */
static void steps(void)
{
#ifdef __SANITIZE_ADDRESS__ /* what is instrumented tells no times */
    enum { TIMED = 0 };
#else
    enum { TIMED = 1 };
#endif
    enum { LONG = 1 << 14, TURNS = 20 };
    MPI_Comm pair;
    MPI_Group all, other;
    MPI_Win large;
    MPI_Request through;
    double locked = 1e9, posted = 1e9; /* the shortest of all turns: others may have the target's processor for a while */
    int over = 0, peer = !rank;
    long *sum = calloc(LONG, sizeof *sum), *from = malloc(LONG * sizeof *from);
    trying("a long sum, part by part");
    for (int i = 0; i < LONG; i++)
        from[i] = i;
    MPI_Win_create(sum, LONG * sizeof *sum, sizeof *sum, MPI_INFO_NULL, MPI_COMM_WORLD, &large);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &pair);
    if (rank < 2) {
        MPI_Win_get_group(large, &all);
        MPI_Group_incl(all, 1, &peer, &other);
        for (int i = 0; i < TURNS; i++) {
            double one = shortest(0, from, LONG, large, pair, other), two = shortest(1, from, LONG, large, pair, other);
            locked = one < locked ? one : locked;
            posted = two < posted ? two : posted;
        }
        if (rank == 1)
            for (int i = 0; i < LONG; i++)
                if (sum[i] != 18L * TURNS * i) {
                    CHECK(!"a sum is wrong");
                    break;
                }
        CHECK(rank || !TIMED || posted <= 5 * locked);
        MPI_Group_free(&all);
        MPI_Group_free(&other);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &through);
    while (MPI_Test(&through, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS && !over)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    MPI_Comm_free(&pair);
    MPI_Win_free(&large);
    free(sum);
    free(from);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int reachable = 0; reachable < 2; reachable++) {
        if (reachable)
            MPI_Alloc_mem(WORDS * sizeof *mine, MPI_INFO_NULL, &mine);
        else
            mine = malloc(WORDS * sizeof *mine);
        local = malloc(WORDS * sizeof *local);
        MPI_Win_create(mine, WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        exclusive(1);
        exclusive(WORDS);
        readers();
        sums();
        alternate();
        fences();
        posts(0);
        posts(1);
        requests();
        refused();
        late(argc > 1 ? atoi(argv[1]) : 0);
        MPI_Win_free(&win);
        free(local);
        if (reachable)
            MPI_Free_mem(mine);
        else
            free(mine);
    }
    if (argc > 1 && atoi(argv[1]) > 1 && ranks > atoi(argv[1])) /* the two are on one node, others on another */
        steps();
    return finish("span");
}
