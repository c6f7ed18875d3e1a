/*
 * OPI_CHECK and windows: ./windows MODE has two accesses of one epoch to the same bytes of rank 1's window, which the marks name; the right modes have
 * such that MPI allows.  A message between ranks makes sure of the order in time, which is no order for the accesses.
 */
#include "../mpi/check.h"

#define WORDS 16

static long *mine, out[WORDS], in[WORDS];
static MPI_Win win;

static void lock_shared(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
}

/* Rank 0 has done its part; ranks wait for it, or go on. */
static void after_rank_0(void)
{
    char token = 0;
    if (world_rank == 0)
        MPI_Send(&token, 1, MPI_CHAR, 2, 7, MPI_COMM_WORLD);
    else if (world_rank == 2)
        MPI_Recv(&token, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int is(const char *mode, const char *name)
{
    return strcmp(mode, name) == 0;
}

/* Two puts of two ranks between two fences. */
static void put_put(void)
{
    MPI_Win_fence(0, win);
    if (world_rank == 0)
        MPI_Put(out, 2, MPI_LONG, 1, 0, 2, MPI_LONG, win); /* mark: put-first */
    after_rank_0();
    if (world_rank == 2)
        MPI_Put(out, 2, MPI_LONG, 1, 1, 2, MPI_LONG, win); /* mark: put-second */
    MPI_Win_fence(0, win);
}

/* One rank's own, under a lock. */
static void put_get(void)
{
    if (world_rank == 0) {
        lock_shared();
        MPI_Put(out, 1, MPI_LONG, 1, 3, 1, MPI_LONG, win); /* mark: own-put */
        MPI_Get(in, 1, MPI_LONG, 1, 3, 1, MPI_LONG, win);  /* mark: own-get */
        MPI_Win_unlock(1, win);
    }
}

/* The local forms of a flush end no put at the target. */
static void put_put_local(void)
{
    if (world_rank == 0) {
        lock_shared();
        MPI_Put(out, 1, MPI_LONG, 1, 5, 1, MPI_LONG, win); /* mark: local-first */
        MPI_Win_flush_local(1, win);
        MPI_Win_flush_local_all(win);
        MPI_Put(out, 1, MPI_LONG, 1, 5, 1, MPI_LONG, win); /* mark: local-second */
        MPI_Win_unlock(1, win);
    }
}

/* Sum and product of two ranks after MPI_Win_start: rank 0 has called MPI_Win_complete, rank 1 not yet MPI_Win_wait. */
static void operations(void)
{
    MPI_Group all, origins, target;
    const int from[2] = {0, 2}, to = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, from, &origins);
    MPI_Group_incl(all, 1, &to, &target);
    if (world_rank == 1)
        MPI_Win_post(origins, 0, win);
    else
        MPI_Win_start(target, 0, win);
    if (world_rank == 0) {
        MPI_Accumulate(out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, win); /* mark: sum */
        MPI_Win_complete(win);
    }
    after_rank_0();
    if (world_rank == 2) {
        MPI_Accumulate(out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_PROD, win); /* mark: product */
        MPI_Win_complete(win);
    }
    if (world_rank == 1)
        MPI_Win_wait(win);
    MPI_Group_free(&all);
    MPI_Group_free(&origins);
    MPI_Group_free(&target);
}

/* Rank 0 has not flushed; the second access is of another kind, and its type has gaps. */
static void update(void)
{
    MPI_Datatype every_second;
    MPI_Type_vector(4, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    if (world_rank == 0) {
        lock_shared();
        MPI_Put(out, 1, MPI_LONG, 1, 4, 1, MPI_LONG, win); /* mark: unflushed */
    }
    after_rank_0();
    if (world_rank == 2) {
        lock_shared();
        MPI_Put(out, 4, MPI_LONG, 1, 1, 1, every_second, win); /* words 1, 3, 5, 7: none of rank 0's */
        MPI_Accumulate(out, 4, MPI_LONG, 1, 0, 1, every_second, MPI_SUM, win); /* mark: update */
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        MPI_Win_unlock(1, win);
    MPI_Type_free(&every_second);
}

/* What is in order: a fence, a flush or an unlock between, other bytes, two gets, one operation twice, MPI_NO_OP, a rank's own operations. */
static void right(void)
{
    long one = 1, got;
    MPI_Win_fence(0, win);
    if (world_rank == 0)
        MPI_Put(out, 2, MPI_LONG, 1, 0, 2, MPI_LONG, win);
    MPI_Win_fence(0, win);
    if (world_rank == 2)
        MPI_Put(out, 2, MPI_LONG, 1, 1, 2, MPI_LONG, win);
    if (world_rank == 0)
        MPI_Put(out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

    for (int turn = 0; turn < 3; turn += 2) {
        if (world_rank == turn) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
            MPI_Get(in, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
            MPI_Win_flush(1, win);
            MPI_Put(out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
            MPI_Win_unlock(1, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_lock_all(0, win);
    MPI_Get(in, 4, MPI_LONG, 1, 0, 4, MPI_LONG, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Accumulate(&one, 1, MPI_LONG, 1, 2, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &got, MPI_LONG, 1, 2, MPI_SUM, win);
    MPI_Fetch_and_op(NULL, &got, MPI_LONG, 1, 2, MPI_NO_OP, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 1, 3 + world_rank, 1, MPI_LONG, MPI_SUM, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 1, 3 + world_rank, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *mode = argc > 1 ? argv[1] : "";
    MPI_Win_allocate(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    memset(mine, 0, WORDS * sizeof *mine);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is(mode, "put-put"))
        put_put();
    else if (is(mode, "put-get"))
        put_get();
    else if (is(mode, "put-put-local"))
        put_put_local();
    else if (is(mode, "operations"))
        operations();
    else if (is(mode, "update"))
        update();
    else
        right();
    MPI_Win_free(&win);
    return finish("windows");
}
