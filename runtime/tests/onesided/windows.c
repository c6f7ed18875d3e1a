/*
 * Windows of all kinds on all ranks: each operation under each synchronisation, expectation beside it. Run by process ranks on one node and on pretended
 * nodes, and by thread and fiber ranks.
 */
#include "../mpi/check.h"

#define WORDS 64

/* No variables: thread and fiber ranks would share them. */
static int asked(int (*ask)(MPI_Comm, int *))
{
    int answer;
    ask(MPI_COMM_WORLD, &answer);
    return answer;
}
#define rank asked(MPI_Comm_rank)
#define size asked(MPI_Comm_size)

/* A value that says who wrote it, where and when. */
static long value(int from, int at, int round)
{
    return from * 1000000L + at * 1000L + round;
}

/* Put and get with fences: each rank writes to its right neighbour and reads from its left one. */
static void fences(MPI_Win win, long *mine, int round)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    long out[WORDS], in[WORDS];
    for (int i = 0; i < WORDS; i++) {
        mine[i] = -1;
        out[i] = value(rank, i, round);
        in[i] = -2;
    }
    CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS);
    CHECK(MPI_Put(out, WORDS, MPI_LONG, right, 0, WORDS, MPI_LONG, win) == MPI_SUCCESS);
    CHECK(MPI_Win_fence(0, win) == MPI_SUCCESS);
    for (int i = 0; i < WORDS; i++)
        CHECK(mine[i] == value(left, i, round));
    CHECK(MPI_Get(in, WORDS / 2, MPI_LONG, right, WORDS / 2, WORDS / 2, MPI_LONG, win) == MPI_SUCCESS);
    CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win) == MPI_SUCCESS);
    for (int i = 0; i < WORDS / 2; i++)
        CHECK(in[i] == value(rank, WORDS / 2 + i, round)); /* what this rank has put there */
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every second word by a vector at the target, from a contiguous origin; the words between stay. */
static void gaps(MPI_Win win, long *mine)
{
    MPI_Datatype every_second;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    long out[WORDS / 2], in[WORDS];
    MPI_Type_vector(WORDS / 2, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < WORDS; i++)
        mine[i] = -1, in[i] = -3;
    for (int i = 0; i < WORDS / 2; i++)
        out[i] = value(rank, i, 7);
    MPI_Win_fence(0, win);
    MPI_Put(out, WORDS / 2, MPI_LONG, right, 0, 1, every_second, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < WORDS; i++)
        CHECK(mine[i] == (i % 2 ? -1 : value(left, i / 2, 7)));
    MPI_Get(in, 1, every_second, right, 0, 1, every_second, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < WORDS; i++)
        CHECK(in[i] == (i % 2 ? -3 : value(rank, i / 2, 7)));
    MPI_Accumulate(out, WORDS / 2, MPI_LONG, right, 0, 1, every_second, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < WORDS; i++)
        CHECK(mine[i] == (i % 2 ? -1 : 2 * value(left, i / 2, 7)));
    MPI_Type_free(&every_second);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Many small puts and gets to several ranks before a flush, their origin written to after a local one; some beside each other, some far apart. */
static void many(void)
{
    enum { PLACES = 3000, STEP = 7 };
    long *mine = malloc(PLACES * sizeof *mine), v, in[PLACES], out[PLACES];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win win;
    MPI_Win_create(mine, PLACES * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < PLACES; i++)
        mine[i] = -1, in[i] = -2;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < PLACES; i++) { /* words 0 and 1 of every STEP from the left, word 2 from the right, the rest stay */
        int place = i % STEP;
        out[i] = value(rank, i - place, place + 1);
        if (place < 3)
            MPI_Put(&out[i], 1, MPI_LONG, place == 2 ? left : right, i, 1, MPI_LONG, win);
        if (i == PLACES / 2) {
            MPI_Win_flush_local_all(win);
            memset(out, 0, PLACES / 2 * sizeof *out);
        }
    }
    CHECK(MPI_Win_flush_all(win) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PLACES; i++)
        MPI_Get(&in[PLACES - 1 - i], 1, MPI_LONG, right, i, 1, MPI_LONG, win); /* backwards */
    MPI_Win_flush_local(right, win);
    for (int i = 0; i < PLACES; i++) {
        int place = i % STEP, by = place == 2 ? (right + 1) % size : rank;
        CHECK(in[PLACES - 1 - i] == (place > 2 ? -1 : value(by, i - place, place + 1)));
    }
    v = -5;
    MPI_Get(&v, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
    MPI_Win_flush(right, win);
    CHECK(v == value(rank, 0, 1));
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PLACES; i++) {
        int at = i - i % STEP;
        CHECK(mine[i] == (i % STEP > 2 ? -1 : value(i % STEP == 2 ? right : left, at, i % STEP + 1)));
    }
    MPI_Barrier(MPI_COMM_WORLD);

    for (int i = 0; i < 2 * STEP; i++)
        out[i] = value(rank, i, 4);
    MPI_Win_fence(0, win); /* puts, then gets of other places, then puts again, all in one epoch */
    for (int i = 0; i < STEP; i++)
        MPI_Put(&out[i], 1, MPI_LONG, right, 2 * i, 1, MPI_LONG, win);
    for (int i = 0; i < STEP; i++)
        MPI_Get(&in[i], 1, MPI_LONG, right, 100 + i, 1, MPI_LONG, win);
    for (int i = STEP; i < 2 * STEP; i++)
        MPI_Put(&out[i], 1, MPI_LONG, right, 2 * i, 1, MPI_LONG, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < 2 * STEP; i++)
        CHECK(mine[2 * i] == value(left, i, 4));
    for (int i = 0; i < STEP; i++) {
        int at = 100 + i, place = at % STEP, by = place == 2 ? (right + 1) % size : rank;
        CHECK(in[i] == (place > 2 ? -1 : value(by, at - place, place + 1)));
    }
    MPI_Win_free(&win);
    free(mine);
}

/* Each rank exposes to all others and accesses all others. */
static void groups(MPI_Win win, long *mine)
{
    MPI_Group all, others;
    int me = rank;
    MPI_Win_get_group(win, &all);
    MPI_Group_excl(all, 1, &me, &others);
    for (int round = 0; round < 5; round++) {
        int flag = 0;
        for (int i = 0; i < size; i++)
            mine[i] = -1;
        CHECK(MPI_Win_post(others, 0, win) == MPI_SUCCESS);
        CHECK(MPI_Win_start(others, 0, win) == MPI_SUCCESS);
        for (int to = 0; to < size; to++)
            if (to != rank) {
                long v = value(rank, to, round);
                MPI_Put(&v, 1, MPI_LONG, to, rank, 1, MPI_LONG, win);
                MPI_Put(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win);
                if (round == 4)
                    MPI_Win_get_group(win, &all), MPI_Group_free(&all); /* a call between */
            }
        CHECK(MPI_Win_complete(win) == MPI_SUCCESS);
        if (round % 2)
            while (!flag)
                CHECK(MPI_Win_test(win, &flag) == MPI_SUCCESS);
        else
            CHECK(MPI_Win_wait(win) == MPI_SUCCESS);
        for (int from = 0; from < size; from++)
            CHECK(mine[from] == (from == rank ? -1 : value(from, rank, round)));
    }
    MPI_Group_free(&others);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A counter at rank 0 that all add to; every value is fetched once. */
static void counter(MPI_Win win, long *mine)
{
    enum { TIMES = 50 };
    long one = 1, got, seen = -1, sum = 0;
    mine[0] = 0;
    mine[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Win_lock_all(0, win) == MPI_SUCCESS);
    for (int i = 0; i < TIMES; i++) {
        CHECK(MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, win) == MPI_SUCCESS);
        CHECK(MPI_Win_flush(0, win) == MPI_SUCCESS);
        CHECK(got > seen); /* this rank's own come in order */
        seen = got;
        CHECK(MPI_Accumulate(&got, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, win) == MPI_SUCCESS);
    }
    CHECK(MPI_Win_unlock_all(win) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        for (long i = 0; i < (long)TIMES * size; i++)
            sum += i;
        CHECK(mine[0] == (long)TIMES * size);
        CHECK(mine[1] == sum);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Read, add, write under an exclusive lock: nothing is lost. */
static void exclusive(MPI_Win win, long *mine)
{
    enum { TIMES = 40 };
    long v;
    mine[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++) {
        CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, win) == MPI_SUCCESS);
        MPI_Get(&v, 1, MPI_LONG, size - 1, 0, 1, MPI_LONG, win);
        CHECK(MPI_Win_flush(size - 1, win) == MPI_SUCCESS);
        v++;
        MPI_Put(&v, 1, MPI_LONG, size - 1, 0, 1, MPI_LONG, win);
        CHECK(MPI_Win_unlock(size - 1, win) == MPI_SUCCESS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, win);
    MPI_Get(&v, 1, MPI_LONG, size - 1, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(size - 1, win);
    CHECK(v == (long)TIMES * size);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A list of who came, by compare and swap: the loser tries again with what he saw. */
static void swaps(MPI_Win win, long *mine)
{
    long free_ = -1, me = rank, got;
    mine[2] = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    do {
        CHECK(MPI_Compare_and_swap(&me, &free_, &got, MPI_LONG, 0, 2, win) == MPI_SUCCESS);
        MPI_Win_flush(0, win);
    } while (got != -1); /* until the one that holds it lets go */
    CHECK(MPI_Compare_and_swap(&free_, &me, &got, MPI_LONG, 0, 2, win) == MPI_SUCCESS);
    MPI_Win_flush_local(0, win);
    CHECK(got == me);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Operations on elements of all kinds, and the forms with requests, completed together with a message. */
static void operations(MPI_Win win, long *mine)
{
    struct {
        double v;
        int at;
    } pair = {rank + 0.5, rank}, *there = (void *)(mine + 8), old = {-1, -1};
    long bits = 1L << rank, was = -1, in[2] = {-1, -1}, out[2] = {value(rank, 0, 3), value(rank, 1, 3)};
    int byte = rank, from = -1, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request r[4];
    mine[0] = 0;
    mine[4] = mine[5] = -1;
    there->v = -1;
    there->at = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    CHECK(MPI_Accumulate(&bits, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_BOR, win) == MPI_SUCCESS);
    CHECK(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0, 8, 1, MPI_DOUBLE_INT, MPI_MAXLOC, win) == MPI_SUCCESS);
    CHECK(MPI_Rput(out, 2, MPI_LONG, right, 4, 2, MPI_LONG, win, &r[0]) == MPI_SUCCESS);
    CHECK(MPI_Raccumulate(&bits, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, MPI_SUM, win, &r[1]) == MPI_SUCCESS);
    MPI_Isend(&byte, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &r[2]);
    MPI_Irecv(&from, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &r[3]);
    CHECK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    CHECK(from == left);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Rget(in, 2, MPI_LONG, right, 4, 2, MPI_LONG, win, &r[0]) == MPI_SUCCESS);
    CHECK(MPI_Rget_accumulate(NULL, 0, MPI_LONG, &was, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_NO_OP, win, &r[1]) == MPI_SUCCESS);
    CHECK(MPI_Get_accumulate(&pair, 1, MPI_DOUBLE_INT, &old, 1, MPI_DOUBLE_INT, 0, 8, 1, MPI_DOUBLE_INT, MPI_NO_OP, win) == MPI_SUCCESS);
    CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    MPI_Win_flush_local_all(win);
    CHECK(in[0] == out[0] && in[1] == out[1]);
    CHECK(was == (1L << size) - 1);
    CHECK(old.v == size - 0.5 && old.at == size - 1);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* 200,000 bytes each way, and back. */
static void large(int allocated)
{
    enum { BYTES = 700001 };
    unsigned char *base = allocated ? NULL : malloc(BYTES), *out = malloc(BYTES), *in = calloc(1, BYTES);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win win;
    if (allocated)
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    else
        MPI_Win_create(base, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    fill(out, BYTES, (unsigned)rank);
    MPI_Win_fence(0, win);
    MPI_Put(out, BYTES, MPI_BYTE, right, 0, BYTES, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    CHECK(differs(base, BYTES, (unsigned)left) == 0);
    MPI_Get(in, BYTES, MPI_BYTE, right, 0, BYTES, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    CHECK(differs(in, BYTES, (unsigned)rank) == 0);
    MPI_Win_free(&win);
    if (!allocated)
        free(base);
    free(out);
    free(in);
}

static void all(const char *kind, MPI_Win win, long *mine)
{
    int flag, *flavor, *model;
    trying("%s", kind);
    for (int round = 0; round < 3; round++)
        fences(win, mine, round);
    gaps(win, mine);
    groups(win, mine);
    counter(win, mine);
    exclusive(win, mine);
    swaps(win, mine);
    operations(win, mine);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == (kind[0] == 'c' ? MPI_WIN_FLAVOR_CREATE : kind[0] == 'a' ? MPI_WIN_FLAVOR_ALLOCATE : MPI_WIN_FLAVOR_SHARED));
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && *model == MPI_WIN_UNIFIED);
}

/* Displacements are addresses of the target. */
static void dynamic(void)
{
    long *memory = malloc(WORDS * sizeof *memory), out = value(rank, 0, 9), in = -1;
    MPI_Aint at, *places = malloc((size_t)size * sizeof *places);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win win;
    trying("dynamic");
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    memory[3] = -1;
    CHECK(MPI_Win_attach(win, memory, WORDS * sizeof *memory) == MPI_SUCCESS);
    MPI_Get_address(&memory[3], &at);
    MPI_Allgather(&at, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    CHECK(MPI_Put(&out, 1, MPI_LONG, right, places[right], 1, MPI_LONG, win) == MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK(memory[3] == value(left, 0, 9));
    CHECK(MPI_Get(&in, 1, MPI_LONG, right, places[right], 1, MPI_LONG, win) == MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK(in == out);
    CHECK(MPI_Win_detach(win, memory) == MPI_SUCCESS);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    free(memory);
    free(places);
}

#define AREA 2048 /* bytes that each origin has at each target */

/* A few small puts to each rank that has posted, which may be left in its seat until it waits: as many runs and bytes as fit there, and more. */
static void little(void)
{
    static const int lengths[] = {1, 8, 46, 61, 92, 184, 185};
    int bytes = size * AREA, wrong = 0, round = 0;
    char *memory = malloc(bytes), *want = malloc(bytes), out[256], in;
    MPI_Group all, others;
    MPI_Win win;
    trying("little, after a post");
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, (int[]){rank}, &others);
    MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int runs = 0; runs <= 6; runs++)
        for (int l = 0; l < (int)(sizeof lengths / sizeof lengths[0]); l++, round++) {
            int n = lengths[l], asks = round % 3 == 2, done = 0;
            memset(memory, -1, bytes);
            memset(want, -1, bytes);
            for (int from = 0; from < size; from++)
                for (int k = 0; k < runs && from != rank; k++)
                    memset(want + from * AREA + k * 256 + k, from * 7 + k + round, n);
            MPI_Win_post(others, 0, win);
            MPI_Win_start(others, 0, win);
            for (int to = 0; to < size; to++)
                for (int k = 0; k < runs && to != rank; k++) {
                    memset(out, rank * 7 + k + round, n);
                    MPI_Put(out, n, MPI_BYTE, to, rank * AREA + k * 256 + k, n, MPI_BYTE, win);
                    if (asks && k == 1) /* what was put before it goes at once */
                        MPI_Get(&in, 1, MPI_BYTE, to, rank * AREA + AREA - 1, 1, MPI_BYTE, win);
                }
            MPI_Win_complete(win);
            CHECK(!asks || runs < 2 || size == 1 || in == -1);
            while (round % 2 && !done)
                MPI_Win_test(win, &done);
            if (!done)
                MPI_Win_wait(win);
            wrong += memcmp(memory, want, bytes) != 0;
        }
    CHECK(wrong == 0);
    MPI_Win_free(&win);
    MPI_Group_free(&others);
    MPI_Group_free(&all);
    free(want);
    free(memory);
}

/* What the neighbour writes by a store is seen through MPI_Win_shared_query. */
static void shared(void)
{
    long *mine, *theirs;
    MPI_Aint bytes;
    int unit;
    MPI_Comm node;
    MPI_Win win;
    trying("shared query");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int n, me;
    MPI_Comm_size(node, &n);
    MPI_Comm_rank(node, &me);
    MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_lock_all(0, win);
    CHECK(MPI_Win_shared_query(win, (me + 1) % n, &bytes, &unit, &theirs) == MPI_SUCCESS);
    CHECK(bytes == sizeof(long) && unit == sizeof(long));
    *theirs = value(me, 1, 1);
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    CHECK(*mine == value((me + n - 1) % n, 1, 1));
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

/* As finish of check.h, which has a variable for the rank. */
static int verdict(void)
{
    int sum = 0;
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("windows: %s, %d failures\n", sum ? "FAILED" : "ok", sum);
        fflush(stdout);
    }
    MPI_Finalize();
    return sum != 0;
}

int main(int argc, char **argv)
{
    long *mine, *owned;
    MPI_Win win;
    start(&argc, &argv);

    mine = malloc(WORDS * sizeof *mine); /* private memory, as a rule */
    MPI_Win_create(mine, WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all("create, private memory", win, mine);
    MPI_Win_free(&win);
    free(mine);

    MPI_Alloc_mem(WORDS * sizeof *owned, MPI_INFO_NULL, &owned);
    MPI_Win_create(owned, WORDS * sizeof *owned, sizeof *owned, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    all("create, memory of MPI_Alloc_mem", win, owned);
    MPI_Win_free(&win);
    MPI_Free_mem(owned);

    MPI_Win_allocate(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    all("allocate", win, mine);
    MPI_Win_free(&win);

    if (argc < 2 || strcmp(argv[1], "nodes")) {
        MPI_Win_allocate_shared(WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
        all("shared", win, mine);
        MPI_Win_free(&win);
    }
    little();
    dynamic();
    shared();
    trying("many");
    many();
    trying("large");
    large(0);
    large(1);
    return verdict();
}
