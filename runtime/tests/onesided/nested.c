/*
 * Elements of a type whose layout libopi leaves to the MPI, in windows of several kinds: what has gaps keeps what is in them.
 */
#include "../mpi/check.h"

#define WORDS 8

struct rank {
    int me, size, right, left;
};

/* What rank `from` writes, at word `at`. */
static long value(int from, int at)
{
    return from * 1000L + at;
}

/* A type so deeply nested that libopi leaves its layout to the MPI: two words with one between.  Of a second one only the first word is put. */
static void nested(const struct rank *r, MPI_Win win, long *mine)
{
    MPI_Datatype type, outer;
    long out[3] = {value(r->me, 0), value(r->me, 1), value(r->me, 2)}, in[3] = {-4, -4, -4}, one = 1;
    MPI_Type_vector(2, 1, 2, MPI_LONG, &type);
    for (int i = 0; i < 1100; i++) {
        MPI_Type_dup(type, &outer);
        MPI_Type_free(&type);
        type = outer;
    }
    MPI_Type_commit(&type);
    for (int i = 0; i < 8; i++)
        mine[i] = -1;
    MPI_Win_fence(0, win);
    CHECK(MPI_Put(out, 3, MPI_LONG, r->right, 1, 2, type, win) == MPI_SUCCESS); /* words 1, 3 and, the second beginning where the first ends, 4 */
    MPI_Win_fence(0, win);
    for (int i = 0; i < 8; i++)
        CHECK(mine[i] == (i == 1 ? value(r->left, 0) : i == 3 ? value(r->left, 1) : i == 4 ? value(r->left, 2) : -1));
    CHECK(MPI_Get(in, 3, MPI_LONG, r->right, 1, 2, type, win) == MPI_SUCCESS);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++)
        CHECK(in[i] == out[i]);
    CHECK(MPI_Accumulate(out, 2, MPI_LONG, r->right, 1, 1, type, MPI_SUM, win) == MPI_SUCCESS);
    CHECK(MPI_Accumulate(&one, 1, MPI_LONG, r->right, 2, 1, MPI_LONG, MPI_SUM, win) == MPI_SUCCESS); /* the word between */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(mine[1] == 2 * value(r->left, 0) && mine[2] == 0 && mine[3] == 2 * value(r->left, 1));
    MPI_Type_free(&type);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct rank r;
    long *mine = malloc(WORDS * sizeof *mine), *owned;
    MPI_Win win;
    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &r.size);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.me);
    r.right = (r.me + 1) % r.size;
    r.left = (r.me + r.size - 1) % r.size;

    trying("private memory");
    MPI_Win_create(mine, WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    nested(&r, win, mine);
    MPI_Win_free(&win);
    free(mine);
    trying("memory of the window");
    MPI_Win_allocate(WORDS * sizeof *owned, sizeof *owned, MPI_INFO_NULL, MPI_COMM_WORLD, &owned, &win);
    nested(&r, win, owned);
    MPI_Win_free(&win);
    return finish("nested");
}
