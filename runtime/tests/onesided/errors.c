/*
 * What windows refuse, by class, through the window's error handler; and what MPI keeps of a window: names, attributes, groups, handlers.
 */
#include "../mpi/check.h"

#define BYTES 64

static int asked(int (*ask)(MPI_Comm, int *))
{
    int answer;
    ask(MPI_COMM_WORLD, &answer);
    return answer;
}

static void nothing(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

/* A derived datatype never, numbers with fractions where the MPI below does not either. */
static void compared(MPI_Win win, int to)
{
    long v = 0, was;
    MPI_Datatype bytes;
    MPI_Type_contiguous(8, MPI_BYTE, &bytes);
    MPI_Type_commit(&bytes);
    MPI_Win_fence(0, win);
    CHECK_CLASS(MPI_Compare_and_swap(&v, &v, &was, bytes, to, 0, win), MPI_ERR_TYPE);
#ifndef OPEN_MPI
    CHECK_CLASS(MPI_Compare_and_swap(&v, &v, &was, MPI_DOUBLE, to, 0, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Compare_and_swap(&v, &v, &was, MPI_FLOAT_INT, to, 0, win), MPI_ERR_TYPE);
#endif
    CHECK_CLASS(MPI_Compare_and_swap(&v, &v, &was, MPI_LONG, to, 0, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Compare_and_swap(&v, &v, &was, MPI_CHAR, to, 0, win), MPI_SUCCESS);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Type_free(&bytes);
}

static void arguments(MPI_Win win, int to)
{
    long v = 1, was;
    MPI_Request r;
    MPI_Op own;
    MPI_Op_create(nothing, 1, &own);
    MPI_Win_fence(0, win);
    CHECK_CLASS(MPI_Put(&v, 1, MPI_LONG, -77, 0, 1, MPI_LONG, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Get(&v, -1, MPI_LONG, to, 0, 1, MPI_LONG, win), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Put(&v, 1, MPI_DATATYPE_NULL, to, 0, 1, MPI_LONG, win), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Accumulate(&v, 1, MPI_LONG, to, 0, 1, MPI_LONG, own, win), MPI_ERR_OP);
    CHECK_CLASS(MPI_Fetch_and_op(&v, &was, MPI_LONG, 9999, 0, MPI_SUM, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Put(NULL, 0, MPI_LONG, to, 0, 0, MPI_LONG, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Put(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Rput(&v, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &r), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_CLASS(MPI_Put(&v, 1, MPI_LONG, to, BYTES - 7, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE); /* one byte too far */
    CHECK_CLASS(MPI_Put(&v, 1, MPI_LONG, to, -8, 1, MPI_LONG, win), MPI_ERR_DISP);
    CHECK_CLASS(MPI_Put(&v, 1, MPI_LONG, to, BYTES - 8, 1, MPI_LONG, win), MPI_SUCCESS);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Op_free(&own);
}

/* An operation that does not know the type is told to the window's handler, whatever MPI_Reduce_local's would be. */
static void reductions(MPI_Win win, int to)
{
    double v = 1, was;
    struct {
        long value;
        int index;
    } pair = {0, 0}, old;
    MPI_Datatype bytes;
    MPI_Type_contiguous(2, MPI_FLOAT, &bytes);
    MPI_Type_commit(&bytes);
    MPI_Win_fence(0, win);
    for (int again = 0; again < 2; again++) {
        CHECK_CLASS(MPI_Accumulate(&v, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_BXOR, win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Accumulate(&v, 1, bytes, to, 0, 1, bytes, MPI_BAND, win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Fetch_and_op(&v, &was, MPI_DOUBLE, to, 0, MPI_MAXLOC, win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Get_accumulate(&pair, 1, MPI_LONG_INT, &old, 1, MPI_LONG_INT, to, 0, 1, MPI_LONG_INT, MPI_SUM, win), MPI_ERR_OP);
        CHECK_CLASS(MPI_Get_accumulate(&pair, 1, MPI_LONG_INT, &old, 1, MPI_LONG_INT, to, 0, 1, MPI_LONG_INT, MPI_MINLOC, win), MPI_SUCCESS);
        CHECK_CLASS(MPI_Accumulate(&v, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_SUM, win), MPI_SUCCESS);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Type_free(&bytes);
}

static void epochs(MPI_Win win, int to)
{
    long v = 1;
    int flag;
    MPI_Win same = win;
    CHECK_CLASS(MPI_Put(&v, 1, MPI_LONG, to, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(to, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_flush(to, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock(99, to, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_free(&same), MPI_ERR_RMA_SYNC);
    CHECK_CLASS(MPI_Win_unlock(to, win), MPI_SUCCESS);
}

static int handled;

static void handler(MPI_Win *win, int *code, ...)
{
    (void)win;
    handled += class_of(*code) == MPI_ERR_RMA_SYNC;
}

static int deleted;

/* The window is still what it was. */
static int forget(MPI_Win win, int key, void *value, void *extra)
{
    int *flavor, flag;
    (void)key, (void)extra;
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    deleted += value == &deleted && flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE;
    return MPI_SUCCESS;
}

/* Hints that are not told again stay. */
static void hints(MPI_Win win)
{
    static const char *const key[] = {"no_locks", "accumulate_ordering"};
    static const char *const value[] = {"false", "rar"};
    char there[16];
    int flag;
    for (int i = 0; i < 2; i++) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, key[i], value[i]);
        CHECK(MPI_Win_set_info(win, info) == MPI_SUCCESS);
        MPI_Info_free(&info);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Info info;
        MPI_Win_get_info(win, &info);
        MPI_Info_get(info, key[i], 15, there, &flag);
        CHECK(!flag || strcmp(there, value[i]) == 0); /* Open MPI keeps none */
        MPI_Info_free(&info);
    }
}

static void objects(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, key, flag, n, *unit;
    void *value, *base;
    MPI_Aint *bytes;
    MPI_Group group;
    MPI_Info info;
    MPI_Win_set_name(win, "halo");
    MPI_Win_get_name(win, name, &length);
    CHECK(length == 4 && strcmp(name, "halo") == 0);
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &n);
    CHECK(n == asked(MPI_Comm_size));
    MPI_Group_free(&group);
    CHECK(MPI_Win_get_info(win, &info) == MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
    CHECK(flag && *bytes == BYTES);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == 1);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base != NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forget, &key, NULL);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(!flag);
    MPI_Win_set_attr(win, key, &deleted);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(flag && value == &deleted);
    MPI_Win_free_keyval(&key); /* the attribute is deleted with the window */
    CHECK(key == MPI_KEYVAL_INVALID);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
}

/* Of shared windows in which only rank 0 has memory. */
static void nothing_shared(int rank, int size)
{
    char *mine, *its;
    MPI_Aint bytes;
    int unit;
    MPI_Win win;
    MPI_Win_allocate_shared(rank ? 0 : BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, size - 1, &bytes, &unit, &its);
    CHECK(size == 1 || bytes == 0);
#ifndef OPEN_MPI
    CHECK(size == 1 || its == NULL);
#endif
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &its);
    CHECK(bytes >= BYTES && its != NULL && (rank || its == mine));
    MPI_Win_free(&win);
}

/* Since MPI 4.1 windows of MPI_Win_allocate tell where their memory lies, where loads and stores reach it. */
static void allocated(int rank, int size)
{
#if MPI_VERSION >= 4
    int *mine, *its, unit, to = (rank + 1) % size;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_allocate(to ? BYTES : 0, 4 << rank % 2, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win); /* the last has none */
    if (to)
        mine[0] = 10 + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < size - 1; k++) {
        MPI_Aint wide;
        CHECK(MPI_Win_shared_query(win, k, &bytes, &unit, &its) == MPI_SUCCESS);
        CHECK(bytes == BYTES && unit == 4 << k % 2 && its && its[0] == 10 + k && (k != rank || its == mine));
        CHECK(MPI_Win_shared_query_c(win, k, &bytes, &wide, &its) == MPI_SUCCESS);
        CHECK(bytes == BYTES && wide == unit && its && its[0] == 10 + k);
    }
    CHECK(MPI_Win_shared_query(win, size - 1, &bytes, &unit, &its) == MPI_SUCCESS && bytes == 0);
    CHECK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &its) == MPI_SUCCESS);
    CHECK(size == 1 || (bytes == BYTES && its[0] == 10));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Win_shared_query(win, size, &bytes, &unit, &its), MPI_ERR_RANK);
    MPI_Win_free(&win);
#else
    (void)rank, (void)size;
#endif
}

/* As an info asks (MPI 4.0). */
static void aligned(void)
{
    static const int of[] = {100, 100000};
    for (int to = 64; to <= 4096; to *= 2)
        for (int i = 0; i < 2; i++) {
            char value[16];
            void *memory;
            MPI_Info info;
            MPI_Win win;
            snprintf(value, sizeof value, "%d", to);
            MPI_Info_create(&info);
            MPI_Info_set(info, "mpi_minimum_memory_alignment", value);
            CHECK(MPI_Alloc_mem(of[i], info, &memory) == MPI_SUCCESS && (uintptr_t)memory % (uintptr_t)to == 0);
            memset(memory, 1, (size_t)of[i]);
            MPI_Free_mem(memory);
            CHECK(MPI_Win_allocate(of[i], 1, info, MPI_COMM_WORLD, &memory, &win) == MPI_SUCCESS && (uintptr_t)memory % (uintptr_t)to == 0);
            memset(memory, 1, (size_t)of[i]);
            MPI_Win_free(&win);
            MPI_Info_free(&info);
        }
}

int main(int argc, char **argv)
{
    char *memory;
    int sum;
    MPI_Win win;
    MPI_Errhandler own;
    start(&argc, &argv);
    int rank = asked(MPI_Comm_rank), size = asked(MPI_Comm_size), to = (rank + 1) % size;
    nothing_shared(rank, size);
    allocated(rank, size);
    aligned();
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    arguments(win, to);
    MPI_Barrier(MPI_COMM_WORLD);
    compared(win, to);
    MPI_Barrier(MPI_COMM_WORLD);
    reductions(win, to);
    MPI_Barrier(MPI_COMM_WORLD);
    epochs(win, to);
    objects(win);
    hints(win);
    MPI_Win_create_errhandler(handler, &own);
    MPI_Win_set_errhandler(win, own);
    MPI_Errhandler_free(&own);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) { /* one rank: the counters are one for all where ranks share a process */
        CHECK_CLASS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
        CHECK(handled == 1);
    }
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    CHECK(deleted > 0);
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("errors: %s, %d failures\n", sum ? "FAILED" : "ok", sum);
    MPI_Finalize();
    return sum != 0;
}
