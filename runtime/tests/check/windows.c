/*
 * OPI_CHECK and windows: ./windows MODE has two accesses of one epoch to the same bytes of rank 1's window, which the marks name; the right modes have
 * such that MPI allows.  A message between ranks makes sure of the order in time, which is no order for the accesses.  Nothing is global: ranks may share a process.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define WORDS 16

/* What a rank has. */
struct own {
    int rank;
    MPI_Win win;
    long *mine, out[WORDS], in[WORDS];
};

static void lock_shared(const struct own *me)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, me->win);
}

/* Rank 0 has done its part; ranks wait for it, or go on. */
static void after_rank_0(const struct own *me)
{
    char token = 0;
    if (me->rank == 0)
        MPI_Send(&token, 1, MPI_CHAR, 2, 7, MPI_COMM_WORLD);
    else if (me->rank == 2)
        MPI_Recv(&token, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int is(const char *mode, const char *name)
{
    return strcmp(mode, name) == 0;
}

/* Two puts of two ranks between two fences. */
static void put_put(struct own *me)
{
    MPI_Win_fence(0, me->win);
    if (me->rank == 0)
        MPI_Put(me->out, 2, MPI_LONG, 1, 0, 2, MPI_LONG, me->win); /* mark: put-first */
    after_rank_0(me);
    if (me->rank == 2)
        MPI_Put(me->out, 2, MPI_LONG, 1, 1, 2, MPI_LONG, me->win); /* mark: put-second */
    MPI_Win_fence(0, me->win);
}

/* One rank's own, under a lock. */
static void put_get(struct own *me)
{
    if (me->rank == 0) {
        lock_shared(me);
        MPI_Put(me->out, 1, MPI_LONG, 1, 3, 1, MPI_LONG, me->win); /* mark: own-put */
        MPI_Get(me->in, 1, MPI_LONG, 1, 3, 1, MPI_LONG, me->win);  /* mark: own-get */
        MPI_Win_unlock(1, me->win);
    }
}

/* The local forms of a flush end no put at the target. */
static void put_put_local(struct own *me)
{
    if (me->rank == 0) {
        lock_shared(me);
        MPI_Put(me->out, 1, MPI_LONG, 1, 5, 1, MPI_LONG, me->win); /* mark: local-first */
        MPI_Win_flush_local(1, me->win);
        MPI_Win_flush_local_all(me->win);
        MPI_Put(me->out, 1, MPI_LONG, 1, 5, 1, MPI_LONG, me->win); /* mark: local-second */
        MPI_Win_unlock(1, me->win);
    }
}

/* Sum and product of two ranks after MPI_Win_start: rank 0 has called MPI_Win_complete, rank 1 not yet MPI_Win_wait. */
static void operations(struct own *me)
{
    MPI_Group all, origins, target;
    const int from[2] = {0, 2}, to = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, from, &origins);
    MPI_Group_incl(all, 1, &to, &target);
    if (me->rank == 1)
        MPI_Win_post(origins, 0, me->win);
    else
        MPI_Win_start(target, 0, me->win);
    if (me->rank == 0) {
        MPI_Accumulate(me->out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, me->win); /* mark: sum */
        MPI_Win_complete(me->win);
    }
    after_rank_0(me);
    if (me->rank == 2) {
        MPI_Accumulate(me->out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_PROD, me->win); /* mark: product */
        MPI_Win_complete(me->win);
    }
    if (me->rank == 1)
        MPI_Win_wait(me->win);
    MPI_Group_free(&all);
    MPI_Group_free(&origins);
    MPI_Group_free(&target);
}

/* Rank 0 has not flushed; the second access is of another kind, and its type has gaps. */
static void update(struct own *me)
{
    MPI_Datatype every_second;
    MPI_Type_vector(4, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    if (me->rank == 0) {
        lock_shared(me);
        MPI_Put(me->out, 1, MPI_LONG, 1, 4, 1, MPI_LONG, me->win); /* mark: unflushed */
    }
    after_rank_0(me);
    if (me->rank == 2) {
        lock_shared(me);
        MPI_Put(me->out, 4, MPI_LONG, 1, 1, 1, every_second, me->win); /* words 1, 3, 5, 7: none of rank 0's */
        MPI_Accumulate(me->out, 4, MPI_LONG, 1, 0, 1, every_second, MPI_SUM, me->win); /* mark: update */
        MPI_Win_unlock(1, me->win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me->rank == 0)
        MPI_Win_unlock(1, me->win);
    MPI_Type_free(&every_second);
}

/* What is in order: a fence, a flush or an unlock between, other bytes, two gets, one operation twice, MPI_NO_OP, a rank's own operations. */
static void right(struct own *me)
{
    long one = 1, got;
    MPI_Win_fence(0, me->win);
    if (me->rank == 0)
        MPI_Put(me->out, 2, MPI_LONG, 1, 0, 2, MPI_LONG, me->win);
    MPI_Win_fence(0, me->win);
    if (me->rank == 2)
        MPI_Put(me->out, 2, MPI_LONG, 1, 1, 2, MPI_LONG, me->win);
    if (me->rank == 0)
        MPI_Put(me->out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, me->win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, me->win);

    for (int turn = 0; turn < 3; turn += 2) {
        if (me->rank == turn) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, me->win);
            MPI_Get(me->in, 1, MPI_LONG, 1, 0, 1, MPI_LONG, me->win);
            MPI_Win_flush(1, me->win);
            MPI_Put(me->out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, me->win);
            MPI_Win_unlock(1, me->win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_lock_all(0, me->win);
    MPI_Get(me->in, 4, MPI_LONG, 1, 0, 4, MPI_LONG, me->win);
    MPI_Win_flush_all(me->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Accumulate(&one, 1, MPI_LONG, 1, 2, 1, MPI_LONG, MPI_SUM, me->win);
    MPI_Fetch_and_op(&one, &got, MPI_LONG, 1, 2, MPI_SUM, me->win);
    MPI_Fetch_and_op(NULL, &got, MPI_LONG, 1, 2, MPI_NO_OP, me->win);
    MPI_Accumulate(&one, 1, MPI_LONG, 1, 3 + me->rank, 1, MPI_LONG, MPI_SUM, me->win);
    MPI_Accumulate(&one, 1, MPI_LONG, 1, 3 + me->rank, 1, MPI_LONG, MPI_REPLACE, me->win);
    MPI_Win_unlock_all(me->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Memory of the program's own: the kernel puts there, where rank 1 is in another process. */
static void private_memory(struct own *me)
{
    MPI_Win win;
    MPI_Win_create(me->in, sizeof me->in, sizeof me->in[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (me->rank == 0)
        MPI_Put(me->out, 3, MPI_LONG, 1, 0, 3, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    struct own one = {.rank = 0}, *me = &one;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me->rank);
    const char *mode = argc > 1 ? argv[1] : "";
    MPI_Win_allocate(WORDS * sizeof *me->mine, sizeof *me->mine, MPI_INFO_NULL, MPI_COMM_WORLD, &me->mine, &me->win);
    memset(me->mine, 0, WORDS * sizeof *me->mine);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is(mode, "put-put"))
        put_put(me);
    else if (is(mode, "put-get"))
        put_get(me);
    else if (is(mode, "put-put-local"))
        put_put_local(me);
    else if (is(mode, "operations"))
        operations(me);
    else if (is(mode, "update"))
        update(me);
    else if (is(mode, "private"))
        private_memory(me);
    else
        right(me);
    MPI_Win_free(&me->win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me->rank == 0)
        printf("windows: ok\n");
    MPI_Finalize();
    return 0;
}
