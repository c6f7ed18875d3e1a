/* The calls of opix.h, a function per rank, and private globals in both forms (PRIVATE: 1 thread-local, 2 in a block). */
#include <errno.h>
#include <mpi.h>
#include <opi_ranks.h>
#include <opix.h>
#include <stdio.h>
#include <stdlib.h>

#define FAIL(...) (fprintf(stderr, "rank %d, line %d: ", rank, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), MPI_Abort(MPI_COMM_WORLD, 9))
#define CHECK(got, want) do { long g_ = (long)(got), w_ = (long)(want); if (g_ != w_) FAIL("%s: got %ld, want %ld", #got, g_, w_); } while (0)

#if PRIVATE == 1
static _Thread_local int number = 5;
static _Thread_local int *pointer;
static void set(void) {
    pointer = &number;
}
static void (*const sets[])(void) = {set};
const struct opi_rank_image opi_rank_image = {.version = OPI_RANKS_VERSION, .form = OPI_RANKS_TLS, .inits = sets, .inits_end = sets + 1};
#define NUMBER number
#define POINTER pointer
#else
static int first_number = 5, *first_pointer = &first_number;
static const struct opi_rank_ref refs[1];
static struct opi_rank_var vars[] = {
    {.at = (uintptr_t)&first_number, .first = &first_number, .size = sizeof(int), .align = sizeof(int)},
    {.at = (uintptr_t)&first_pointer, .first = &first_pointer, .size = sizeof(int *), .align = sizeof(int *), .refs = refs, .nrefs = 1},
};
static const struct opi_rank_ref refs[1] = {{0, &vars[0]}};
static _Thread_local uintptr_t base;
static uintptr_t *base_of(void) {
    return &base;
}
const struct opi_rank_image opi_rank_image = {.version = OPI_RANKS_VERSION, .form = OPI_RANKS_STRUCT, .vars = vars, .vars_end = vars + 2, .base = base_of};
#define NUMBER (*(int *)(base + vars[0].at))
#define POINTER (*(int **)(base + vars[1].at))
#endif

static void extensions(int rank, int size) {
    int n, start, world[2] = {0, size - 1}, there[2];
    MPIX_Get_collocated_size(&n);
    MPIX_Get_collocated_startrank(&start);
    CHECK(rank >= start && rank < start + n && start + n <= size, 1);
    MPI_Comm c;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &c);
    MPIX_Comm_translate_ranks(MPI_COMM_WORLD, 2, world, c, there);
    CHECK(there[0], rank % 2 ? MPI_UNDEFINED : (size - 1) / 2);
    MPI_Comm_free(&c);
    double begun = MPI_Wtime();
    MPIX_Usleep(20000);
    CHECK(MPI_Wtime() - begun >= 0.0199, 1);
    errno = 1000 + rank;
    MPIX_Yield();
    CHECK(errno, 1000 + rank);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(errno, 1000 + rank);
    int *b, right = (rank + 1) % size, left = (rank + size - 1) % size;
    OPI_Alloc(&b, 100);
    b[0] = rank;
    MPI_Request q;
    MPIX_Izsend(&b, 25, MPI_INT, right, 1, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPIX_Zrecv(&b, 25, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(b[0], left);
    MPIX_Zsend(&b, 25, MPI_INT, right, 1, MPI_COMM_WORLD);
    MPIX_Izrecv(&b, 25, MPI_INT, left, 1, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(b[0], (left + size - 1) % size);
    OPI_Free(&b);
    b = OPI_Calloc(25, sizeof *b); /* the same memory, perhaps */
    for (int i = 0; i < 25; i++)
        CHECK(b[i], 0);
    OPI_Free(&b);
    b = OPI_Malloc(200);
    CHECK(b != NULL, 1);
    OPI_Free(&b);
    CHECK(OPI_Malloc((size_t)-1 / 2) == NULL, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(OPI_Calloc((size_t)-1 / 2, 3) == NULL, 1);
    CHECK(OPI_Alloc(&b, (size_t)-8) == MPI_ERR_NO_MEM && b == NULL, 1); /* a negative number became it: malloc gives NULL, too */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int run(int argc, char **argv, int odd) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(odd, rank % 2);
    CHECK(NUMBER, 5);
    CHECK(POINTER == &NUMBER, 1);
    for (int i = 0; i < 20; i++) {
        *POINTER += rank + 1;
        MPIX_Yield();
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(NUMBER, 5 + (i + 1) * (rank + 1));
    }
    extensions(rank, size);
    if (rank == 0)
        printf("ok %d\n", size);
    MPI_Finalize();
    return 0;
}

static int odd(int argc, char **argv) {
    return run(argc, argv, 1);
}

MPIX_Main MPIX_Main_of_rank(int argc, char **argv, int rank, int size) {
    (void)argc, (void)argv, (void)size;
    return rank % 2 ? odd : NULL;
}

int main(int argc, char **argv) {
    return run(argc, argv, 0);
}
