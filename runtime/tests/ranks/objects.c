/* Communicators, groups, topologies and attributes by the calls that comms.c leaves out; arguments that are wrong; what the C library remembers. */
#define _GNU_SOURCE 1 /* rand48 and its kin, whatever the standard */
#include <mpi.h>
#include <opix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

static const MPI_Comm world = MPI_COMM_WORLD;

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* Of the hints that a communicator is given it keeps those that MPI defines. */
static void hints(int rank, MPI_Comm c, int there) {
    MPI_Info got;
    char value[16] = "";
    int flag;
    MPI_Comm_get_info(c, &got);
    MPI_Info_get(got, "mpi_assert_no_any_tag", sizeof value - 1, value, &flag);
    CHECK(flag, there);
    CHECK(!flag || strcmp(value, "true") == 0, 1);
    MPI_Info_get(got, "no_hint_of_mpi", sizeof value - 1, value, &flag);
    CHECK(flag, 0);
    MPI_Info_free(&got);
}

static void infos(int rank) {
    MPI_Comm c, d;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "no_hint_of_mpi", "7");
    MPI_Comm_dup_with_info(world, info, &c);
    hints(rank, c, 1);
    MPI_Comm_dup(c, &d);
    hints(rank, d, 1);
    MPI_Comm_set_info(d, MPI_INFO_NULL);
    hints(rank, d, 0);
    MPI_Comm_set_info(d, info);
    hints(rank, d, 1);
    MPI_Comm_disconnect(&d);
    CHECK(d == MPI_COMM_NULL, 1);
#if MPI_VERSION >= 4
    MPI_Request q;
    MPI_Comm_idup_with_info(world, info, &d, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    hints(rank, d, 1);
    MPI_Comm_free(&d);
#endif
    MPI_Info_free(&info);
    MPI_Comm_free(&c);
    MPI_Comm_get_parent(&c);
    CHECK(c == MPI_COMM_NULL, 1);
}

static void groups(int rank, int size) {
    MPI_Group all, one, rest;
    int n, range[1][3] = {{0, size - 1, 2}}, result;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &rank, &one);
    MPI_Group_rank(one, &n);
    CHECK(n, 0);
    MPI_Group_range_excl(all, 1, range, &rest);
    MPI_Group_size(rest, &n);
    CHECK(n, size / 2);
    MPI_Group_rank(rest, &n);
    CHECK(n, rank % 2 ? rank / 2 : MPI_UNDEFINED);
    if (size > 1) { /* both sides of an intercommunicator, made from their leaders */
        MPI_Comm half, inter;
        MPI_Group far, want;
        int ranks[1];
        MPI_Comm_split(world, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, world, rank % 2 ? 0 : 1, 5, &inter);
        MPI_Comm_remote_group(inter, &far);
        MPI_Comm_remote_size(inter, &n);
        ranks[0] = rank % 2 ? 0 : 1;
        MPI_Group_incl(all, 1, ranks, &want);
        MPI_Group first;
        int zero = 0;
        MPI_Group_incl(far, 1, &zero, &first);
        MPI_Group_compare(first, want, &result);
        CHECK(result, MPI_IDENT);
        CHECK(n, rank % 2 ? (size + 1) / 2 : size / 2);
#if MPI_VERSION >= 4
        MPI_Comm other;
        MPI_Group near;
        MPI_Comm_group(inter, &near);
        MPI_Intercomm_create_from_groups(near, 0, far, 0, "a tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
        MPI_Comm_compare(inter, other, &result);
        CHECK(result, MPI_CONGRUENT);
        CHECK(MPI_Comm_remote_size(other, &n), MPI_SUCCESS);
        MPI_Comm_free(&other);
        MPI_Group_free(&near);
#endif
        MPI_Group_free(&first);
        MPI_Group_free(&want);
        MPI_Group_free(&far);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
#if MPI_VERSION >= 4
    MPI_Comm c;
    int me, low[1][3] = {{0, size / 2, 1}};
    MPI_Group some;
    MPI_Group_range_incl(all, 1, low, &some);
    if (rank <= size / 2) {
        MPI_Comm_create_from_group(some, "another tag", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
        MPI_Comm_rank(c, &me);
        CHECK(me, rank);
        MPI_Allreduce(&me, &n, 1, MPI_INT, MPI_SUM, c);
        CHECK(n, (size / 2) * (size / 2 + 1) / 2);
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&some);
#endif
    MPI_Group_free(&one);
    if (rest != MPI_GROUP_EMPTY)
        MPI_Group_free(&rest);
    MPI_Group_free(&all);
}

/* Ranks of one machine share memory; no smaller part of it is told apart. */
static void parts(int rank, int size) {
    MPI_Comm c;
    int n;
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &c);
    MPI_Comm_size(c, &n);
    CHECK(n, size);
    MPI_Comm_rank(c, &n);
    CHECK(n, size - 1 - rank);
    MPI_Comm_free(&c);
    MPI_Comm_split_type(world, rank ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
    CHECK(c == MPI_COMM_NULL, rank != 0);
    if (c != MPI_COMM_NULL)
        MPI_Comm_free(&c);
#if MPI_VERSION >= 4
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_HW_GUIDED, 0, info, &c);
    CHECK(c == MPI_COMM_NULL, 1);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(world, MPI_COMM_TYPE_HW_GUIDED, 0, info, &c);
    MPI_Comm_size(c, &n);
    CHECK(n, size);
    MPI_Comm_free(&c);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &c);
    CHECK(c == MPI_COMM_NULL, 1);
    MPI_Info_free(&info);
#endif
}

static void maps(int rank, int size) {
    int dims[1] = {size}, periods[1] = {1}, n, zero[1] = {0};
    MPI_Comm c, sub;
    MPI_Cart_map(world, 1, dims, periods, &n);
    CHECK(n, rank);
    dims[0] = 1;
    MPI_Cart_map(world, 1, dims, periods, &n);
    CHECK(n, rank ? MPI_UNDEFINED : 0);
    dims[0] = size;
    MPI_Cart_create(world, 1, dims, periods, 0, &c);
    MPI_Cartdim_get(c, &n);
    CHECK(n, 1);
    MPI_Cart_sub(c, zero, &sub); /* a grid of no dimensions has one rank */
#ifdef MPICH_VERSION
    CHECK(sub == MPI_COMM_NULL, rank != 0);
#endif
    if (sub != MPI_COMM_NULL) {
        MPI_Cartdim_get(sub, &n);
        CHECK(n, 0);
        MPI_Comm_size(sub, &n);
        CHECK(n, 1);
        MPI_Comm_free(&sub);
    }
    MPI_Comm_free(&c);
    /* A ring as a graph: each has its neighbours on both sides. */
    int *index = malloc(sizeof(int) * (size_t)size), *edges = malloc(sizeof(int) * 2 * (size_t)size);
    int *gindex = malloc(sizeof(int) * (size_t)size), *gedges = malloc(sizeof(int) * 2 * (size_t)size);
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    MPI_Graph_map(world, size, index, edges, &n);
    CHECK(n, rank);
    MPI_Graph_create(world, size, index, edges, 0, &c);
    MPI_Graph_get(c, size, 2 * size, gindex, gedges);
    CHECK(memcmp(index, gindex, sizeof(int) * (size_t)size), 0);
    CHECK(memcmp(edges, gedges, sizeof(int) * 2 * (size_t)size), 0);
    MPI_Comm_free(&c);
    free(index), free(edges), free(gindex), free(gedges);
}

static _Atomic int told;
static void handler(MPI_Comm *c, int *code, ...) {
    (void)c;
    told += *code == MPI_ERR_OTHER; /* shared by the ranks of a process */
}
static int ends(MPI_Comm c, int key, void *value, void *extra) {
    (void)c, (void)extra;
    MPI_Comm_free_keyval(&key); /* once more, while an attribute uses it */
    ++*(int *)value;
    return MPI_SUCCESS;
}

static void attributes(int rank) {
    MPI_Comm c;
    MPI_Errhandler h;
    int key, again, deleted = 0, flag, *got;
    MPI_Comm_dup(world, &c);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ends, &key, NULL);
    again = key;
    MPI_Comm_set_attr(c, key, &deleted);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_get_attr(c, again, &got, &flag);
    CHECK(flag && got == &deleted, 1);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(c, h);
    MPI_Errhandler_free(&h);
    int before = told;
    MPI_Comm_call_errhandler(c, MPI_ERR_OTHER);
    CHECK(told > before, 1);
    MPI_Comm_free(&c);
    CHECK(deleted, 1);
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the names of MPI-1 */
    MPI_Comm_dup(world, &c);
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(c, key, &deleted);
    MPI_Attr_get(c, key, &got, &flag);
    CHECK(flag && got == &deleted, 1);
    MPI_Attr_delete(c, key);
    MPI_Attr_get(c, key, &got, &flag);
    CHECK(flag, 0);
    MPI_Keyval_free(&key);
#ifdef MPICH_VERSION
    MPI_Errhandler same;
    MPI_Errhandler_create(handler, &h);
    MPI_Errhandler_set(c, h);
    MPI_Errhandler_get(c, &same);
    CHECK(same == h, 1);
    MPI_Errhandler_free(&same);
    MPI_Errhandler_free(&h);
#endif
    MPI_Comm_free(&c);
}

/* Wrong arguments are told by a code, and the ranks go on. */
static void wrong(int rank, int size) {
    MPI_Comm c, d;
    MPI_Group g;
    int x[2] = {rank, rank}, y[2];
    char byte = 1, other = 0;
    (void)byte, (void)other;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Comm_size(world, NULL)), MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_dup(world, NULL)), MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_split(world, 0, 0, NULL)), MPI_ERR_ARG);
    MPI_Comm_group(world, &g);
    CHECK(class_of(MPI_Group_union(g, g, NULL)), MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_create(MPI_COMM_SELF, g, &c)), size == 1 ? MPI_SUCCESS : MPI_ERR_GROUP);
    if (size == 1)
        MPI_Comm_free(&c);
    MPI_Group_free(&g);
    int dims[2] = {size, 2}, periods[2] = {0, 0};
    CHECK(MPI_Cart_create(world, 2, dims, periods, 0, &c) != MPI_SUCCESS, 1);
    CHECK(c == MPI_COMM_NULL, 1);
    MPI_Comm_dup(world, &d);
#ifdef MPICH_VERSION /* Open MPI finds nothing in these */
    CHECK(class_of(MPI_Allreduce(&byte, &other, 1, MPI_BYTE, MPI_MAX, d)), MPI_ERR_OP);
    CHECK(class_of(MPI_Allreduce(x, x, 1, MPI_INT, MPI_SUM, d)), MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Scan(x, x, 1, MPI_INT, MPI_SUM, d)), MPI_ERR_BUFFER);
    int *all = malloc(sizeof(int) * (size_t)size);
    CHECK(class_of(MPI_Allgather(all + rank, 1, MPI_INT, all, 1, MPI_INT, d)), MPI_ERR_BUFFER);
    CHECK(class_of(MPI_Alltoall(all, 1, MPI_INT, all, 1, MPI_INT, d)), MPI_ERR_BUFFER);
    CHECK(MPI_Alltoall(all, 0, MPI_INT, all, 0, MPI_INT, d), MPI_SUCCESS);
    free(all);
#endif
    if (size > 1) {
        int rc = MPI_Bcast(x, rank ? 2 : 1, MPI_INT, 0, d);
        CHECK(class_of(rc), rank ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        rc = MPI_Allreduce(x, y, rank ? 2 : 1, MPI_INT, MPI_SUM, d);
        CHECK(class_of(rc), MPI_ERR_TRUNCATE);
        int here; /* what is wrong among the ranks of a process is seen */
        MPIX_Get_collocated_size(&here);
        rc = MPI_Reduce(x, y, 1, MPI_INT, rank ? MPI_SUM : MPI_PROD, 0, d);
        if (here == size || (rank == 0 && here > 1))
            CHECK(class_of(rc), MPI_ERR_OP);
    }
    MPI_Allreduce(&rank, y, 1, MPI_INT, MPI_SUM, d);
    CHECK(y[0], size * (size - 1) / 2);
    MPI_Comm_free(&d);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

/* Each rank has its own sequences and places, as processes have; between any two calls the others have theirs. */
static void remembered(int rank) {
    char text[32], *word;
    long first[6], n = 0;
    for (int round = 0; round < 3; round++) {
        srand(7u + (round ? (unsigned)rank : 0));
        srand48(7 + (round ? rank : 0));
        snprintf(text, sizeof text, "%d-%d-%d", rank, rank + 1, rank + 2);
        word = strtok(text, "-");
        for (int i = 0; i < 3; i++) {
            MPI_Barrier(world);
            CHECK(atoi(word), rank + i);
            long a = rand(), b = lrand48();
            if (round == 0) {
                long least[2], mine[2] = {a, b}, most[2];
                MPI_Allreduce(mine, least, 2, MPI_LONG, MPI_MIN, world); /* the same seed, the same numbers */
                MPI_Allreduce(mine, most, 2, MPI_LONG, MPI_MAX, world);
                CHECK(least[0] == most[0] && least[1] == most[1], 1);
            } else if (round == 1) {
                first[n++] = a, first[n++] = b;
            } else {
                CHECK(a, first[2 * i]);
                CHECK(b, first[2 * i + 1]);
            }
            word = strtok(NULL, "-");
        }
        CHECK(word == NULL, 1);
    }
    time_t day = 86400 * (time_t)(rank + 1);
    struct tm *tm = gmtime(&day);
    MPI_Barrier(world);
    CHECK(tm->tm_yday, (rank + 1) % 365);
    char state[64], *old = initstate(5, state, sizeof state);
    long x = random();
    MPI_Barrier(world);
    CHECK(setstate(old) == state, 1);
    srandom(3);
    long y = random();
    srandom(3);
    CHECK(random(), y);
    (void)x;
    unsigned short seed[3] = {1, 2, 3}, again[3] = {1, 2, 3}, *kept = seed48(seed);
    double d = drand48();
    MPI_Barrier(world);
    kept = seed48(again);
    CHECK(kept != NULL && drand48() == d && erand48(seed) == d, 1);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    infos(rank);
    groups(rank, size);
    parts(rank, size);
    maps(rank, size);
    attributes(rank);
    wrong(rank, size);
    remembered(rank);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}
