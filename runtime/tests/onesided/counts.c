/*
 * The calls of windows with counts of type MPI_Count: each moves what its like with int does, and none cuts its count short.  Run as windows.c is.
 */
#include "../mpi/check.h"

#if MPI_VERSION >= 4

#define LARGE (((MPI_Count)1 << 32) + 1) /* as an int it is 1 */

/* Everything of one rank; thread and fiber ranks share variables. */
struct rank {
    int me, size, right, left;
};

/* What rank `from` writes, at word `at`. */
static long value(int from, int at)
{
    return from * 1000L + at;
}

/* Words 0 and 1 are put, 2 and 3 put with a request, 4 gets sums, 5 gets more with a request. */
static void moves(const struct rank *r, MPI_Win win, long *mine)
{
    long out[4] = {value(r->me, 0), value(r->me, 1), value(r->me, 2), value(r->me, 3)}, in[2] = {-1, -1}, got[2] = {-1, -1}, old = -1, older = -1;
    MPI_Request q[2];
    for (int i = 0; i < 6; i++)
        mine[i] = i < 4 ? -1 : 100;
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock_all(0, win);
    CHECK(MPI_Put_c(out, 2, MPI_LONG, r->right, 0, 2, MPI_LONG, win) == MPI_SUCCESS);
    CHECK(MPI_Rput_c(out + 2, 2, MPI_LONG, r->right, 2, 2, MPI_LONG, win, &q[0]) == MPI_SUCCESS);
    CHECK(MPI_Wait(&q[0], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Win_flush(r->right, win);
    CHECK(MPI_Get_c(in, 2, MPI_LONG, r->right, 0, 2, MPI_LONG, win) == MPI_SUCCESS);
    CHECK(MPI_Rget_c(got, 2, MPI_LONG, r->right, 2, 2, MPI_LONG, win, &q[0]) == MPI_SUCCESS);
    CHECK(MPI_Wait(&q[0], MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Win_flush(r->right, win);
    CHECK(in[0] == out[0] && in[1] == out[1] && got[0] == out[2] && got[1] == out[3]);

    CHECK(MPI_Accumulate_c(out + 1, 1, MPI_LONG, r->right, 4, 1, MPI_LONG, MPI_SUM, win) == MPI_SUCCESS);
    CHECK(MPI_Get_accumulate_c(out + 2, 1, MPI_LONG, &old, 1, MPI_LONG, r->right, 4, 1, MPI_LONG, MPI_SUM, win) == MPI_SUCCESS);
    CHECK(MPI_Raccumulate_c(out + 1, 1, MPI_LONG, r->right, 5, 1, MPI_LONG, MPI_SUM, win, &q[0]) == MPI_SUCCESS);
    CHECK(MPI_Rget_accumulate_c(out + 3, 1, MPI_LONG, &older, 1, MPI_LONG, r->right, 5, 1, MPI_LONG, MPI_REPLACE, win, &q[1]) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    MPI_Win_unlock_all(win);
    CHECK(old == 100 + out[1]);
    CHECK(older == 100 + out[1]);

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, r->me, 0, win);
    for (int i = 0; i < 4; i++)
        CHECK(mine[i] == value(r->left, i));
    CHECK(mine[4] == 100 + value(r->left, 1) + value(r->left, 2));
    CHECK(mine[5] == value(r->left, 3));
    MPI_Win_unlock(r->me, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The window has 8 words: a count of 2^32 + 1 bytes is beyond it, and moves nothing. */
static void beyond(const struct rank *r, MPI_Win win, long *mine)
{
    long v = 7;
    MPI_Request q = MPI_REQUEST_NULL;
    mine[0] = -1;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    CHECK_CLASS(MPI_Put_c(&v, LARGE, MPI_BYTE, r->right, 0, LARGE, MPI_BYTE, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Rput_c(&v, LARGE, MPI_BYTE, r->right, 0, LARGE, MPI_BYTE, win, &q), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get_c(&v, LARGE, MPI_BYTE, r->right, 0, LARGE, MPI_BYTE, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Rget_c(&v, LARGE, MPI_BYTE, r->right, 0, LARGE, MPI_BYTE, win, &q), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Accumulate_c(&v, LARGE, MPI_BYTE, r->right, 0, LARGE, MPI_BYTE, MPI_REPLACE, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Raccumulate_c(&v, LARGE, MPI_BYTE, r->right, 0, LARGE, MPI_BYTE, MPI_REPLACE, win, &q), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Get_accumulate_c(&v, LARGE, MPI_BYTE, &v, LARGE, MPI_BYTE, r->right, 0, LARGE, MPI_BYTE, MPI_REPLACE, win), MPI_ERR_RMA_RANGE);
    CHECK_CLASS(MPI_Rget_accumulate_c(&v, LARGE, MPI_BYTE, &v, LARGE, MPI_BYTE, r->right, 0, LARGE, MPI_BYTE, MPI_REPLACE, win, &q), MPI_ERR_RMA_RANGE);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(v == 7 && mine[0] == -1);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    enum { BYTES = 8 * sizeof(long) };
    struct rank r;
    long *mine = malloc(BYTES), *given;
    int sum = 0;
    MPI_Win win;
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.me);
    MPI_Comm_size(MPI_COMM_WORLD, &r.size);
    r.right = (r.me + 1) % r.size;
    r.left = (r.me + r.size - 1) % r.size;

    CHECK(MPI_Win_create_c(mine, BYTES, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win) == MPI_SUCCESS);
    moves(&r, win, mine);
    beyond(&r, win, mine);
    MPI_Win_free(&win);
    free(mine);
    CHECK(MPI_Win_allocate_c(BYTES, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &given, &win) == MPI_SUCCESS);
    moves(&r, win, given);
    beyond(&r, win, given);
    MPI_Win_free(&win);
    CHECK(MPI_Win_allocate_shared_c(BYTES, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &given, &win) == MPI_SUCCESS);
    moves(&r, win, given);
    MPI_Win_free(&win);

    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (r.me == 0)
        printf("counts: %s, %d failures\n", sum ? "FAILED" : "ok", sum);
    MPI_Finalize();
    return sum != 0;
}

#else

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (world_rank == 0)
        printf("counts: this MPI has no such calls\n");
    MPI_Finalize();
    return 0;
}

#endif
