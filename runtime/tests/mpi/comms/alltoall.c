/*
 * MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw, which are libopi's on a node: byte for byte what the MPI's own give, in
 * every form, in place too, with data that have gaps, on every kind of communicator; apart from the program's messages;
 * and errors.
 *   alltoall [native]     the MPI's own are called (pretended nodes): no errors that only an exchange shows
 *   alltoall full         under an OPI_HEAP_LIMIT below 4 MiB, and without the kernel's copies
 *   alltoall uneven N     2 ranks send each other a little less and a little more than 1 MiB, N times; for OPI_PROFILE
 *   alltoall threads      two threads exchange at once, each on a communicator of its own
 *   alltoall count N [one]   N exchanges of one byte on MPI_COMM_WORLD and nothing else, for OPI_PROFILE; `one`: a single
 *                         rank has OPI_ALLTOALL=0
 */
#define _GNU_SOURCE
#include "alltoall_forms.h"

#include <pthread.h>
#include <unistd.h>

/* Receives of the program, wildcards above all, see nothing of an exchange; and it nothing of their messages. */
static void apart(MPI_Comm comm)
{
    MPI_Request any, late;
    MPI_Status status;
    int out[2], *from = calloc((size_t)ranks, sizeof *from), *to = calloc((size_t)ranks, sizeof *to), got = -1, second = -1, flag;

    trying("apart");
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any);
    for (int i = 0; i < ranks; i++)
        from[i] = rank * 100 + i;
    CHECK_CLASS(MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm), MPI_SUCCESS);
    for (int i = 0; i < ranks; i++)
        CHECK(to[i] == i * 100 + rank);
    MPI_Test(&any, &flag, &status);
    CHECK(!flag);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    CHECK(!flag);
    MPI_Barrier(comm);
    /* Two messages that nobody has asked for when the exchange begins; the first is met by the receive of before. */
    out[0] = 7000 + rank;
    out[1] = 8000 + rank;
    MPI_Send(&out[0], 1, MPI_INT, (rank + 1) % ranks, 3, comm);
    MPI_Isend(&out[1], 1, MPI_INT, (rank + 1) % ranks, 4, comm, &late);
    CHECK_CLASS(MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, comm), MPI_SUCCESS);
    for (int i = 0; i < ranks; i++)
        CHECK(from[i] == rank * 100 + i);
    MPI_Wait(&any, &status);
    CHECK(got == 7000 + (rank + ranks - 1) % ranks && status.MPI_TAG == 3);
    MPI_Recv(&second, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    CHECK(second == 8000 + (rank + ranks - 1) % ranks && status.MPI_TAG == 4);
    MPI_Wait(&late, MPI_STATUS_IGNORE);
    free(from), free(to);
}

/* Exchanges without pause, of changing size and form, with ranks that come late, and with nonblocking operations around. */
static void many(MPI_Comm comm)
{
    enum { ROUNDS = 400, MOST = 300 };
    int *out = malloc(sizeof(int) * MOST * (size_t)ranks), *in = malloc(sizeof(int) * MOST * (size_t)ranks), sum = 0, one = 1, bad = 0;
    int *counts = malloc(sizeof(int) * (size_t)ranks), *places = malloc(sizeof(int) * (size_t)ranks);
    MPI_Request pending;

    trying("many");
    for (int k = 0; k < ROUNDS; k++) {
        int n = k * 37 % MOST;
        for (int i = 0; i < n * ranks; i++)
            out[i] = rank * 1000000 + k * 1000 + i;
        for (int i = 0; i < ranks; i++) {
            counts[i] = n;
            places[i] = i * n;
        }
        if (k % 7 == 0)
            MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &pending);
        if (k % 50 == rank * 10)
            usleep(2000);
        if (k % 3 == 0)
            MPI_Alltoall(out, n, MPI_INT, in, n, MPI_INT, comm);
        else
            MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
        for (int i = 0; i < ranks; i++)
            for (int j = 0; j < n; j++)
                bad += in[i * n + j] != i * 1000000 + k * 1000 + rank * n + j;
        if (k % 7 == 0) {
            MPI_Wait(&pending, MPI_STATUS_IGNORE);
            CHECK(sum == ranks);
        }
    }
    CHECK(bad == 0);
    free(out), free(in), free(counts), free(places);
}

/* Some ranks call the form with large counts, or that with displacements, where others do not; all are one operation. */
static void mixed_counts(MPI_Comm comm)
{
#if MPI_VERSION >= 4
    int *out = malloc(sizeof(int) * (size_t)ranks), *in = malloc(sizeof(int) * (size_t)ranks);

    trying("mixed counts");
    for (int i = 0; i < ranks; i++)
        out[i] = rank * 10 + i;
    CHECK_CLASS(rank % 2 ? MPI_Alltoall_c(out, 1, MPI_INT, in, 1, MPI_INT, comm) : MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm), MPI_SUCCESS);
    for (int i = 0; i < ranks; i++)
        CHECK(in[i] == i * 10 + rank);
    free(out), free(in);
#else
    (void)comm;
#endif
}

/* Absolute addresses. */
static void bottom(MPI_Comm comm)
{
    int *out = malloc(sizeof(int) * (size_t)ranks), *in = calloc((size_t)ranks, sizeof(int));
    int *counts = malloc(sizeof(int) * (size_t)ranks), *zeros = calloc((size_t)ranks, sizeof(int));
    MPI_Datatype *from = malloc(sizeof *from * (size_t)ranks), *to = malloc(sizeof *to * (size_t)ranks);
    int length = 1;

    trying("absolute addresses");
    for (int i = 0; i < ranks; i++) {
        MPI_Aint at;
        out[i] = rank * 10 + i;
        counts[i] = 1;
        MPI_Get_address(&out[i], &at);
        MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &from[i]);
        MPI_Get_address(&in[i], &at);
        MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &to[i]);
        MPI_Type_commit(&from[i]);
        MPI_Type_commit(&to[i]);
    }
    CHECK_CLASS(MPI_Alltoallw(MPI_BOTTOM, counts, zeros, from, MPI_BOTTOM, counts, zeros, to, comm), MPI_SUCCESS);
    for (int i = 0; i < ranks; i++) {
        CHECK(in[i] == i * 10 + rank);
        MPI_Type_free(&from[i]);
        MPI_Type_free(&to[i]);
    }
    free(out), free(in), free(counts), free(zeros), free(from), free(to);
}

/* What is wrong with the arguments of all ranks, and afterwards the communicator is as good as before. */
static void arguments(MPI_Comm comm)
{
    int *a = calloc((size_t)ranks * 4, sizeof(int)), *b = calloc((size_t)ranks * 4, sizeof(int));
    int *ones = malloc(sizeof(int) * (size_t)ranks), *places = malloc(sizeof(int) * (size_t)ranks), *minus = malloc(sizeof(int) * (size_t)ranks);

    trying("arguments");
    for (int i = 0; i < ranks; i++) {
        ones[i] = 1;
        places[i] = i;
        minus[i] = i ? 1 : -1;
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Alltoall(a, -1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoall(a, 1, MPI_INT, b, -1, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoall(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, comm), MPI_ERR_TYPE);
    CHECK_CLASS(MPI_Alltoallv(a, minus, places, MPI_INT, b, ones, places, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoallv(a, ones, places, MPI_INT, b, minus, places, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Alltoallv(a, ones, places, MPI_DATATYPE_NULL, b, ones, places, MPI_INT, comm), MPI_ERR_TYPE);
    CHECK(MPI_Alltoall(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm) != MPI_SUCCESS);
    for (int i = 0; i < ranks; i++)
        a[i] = rank * 10 + i;
    CHECK_CLASS(MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm), MPI_SUCCESS);
    for (int i = 0; i < ranks; i++)
        CHECK(b[i] == i * 10 + rank);
    free(a), free(b), free(ones), free(places), free(minus);
}

/* Errors that only libopi is known to report in the same way under every MPI. */
static void ours_alone(MPI_Comm comm)
{
    size_t n = (size_t)ranks * 1000;
    int *a = calloc(n, sizeof(int)), *b = calloc(n, sizeof(int));
    int *big = calloc((size_t)ranks, sizeof(int)), *small = calloc((size_t)ranks, sizeof(int)), *places = malloc(sizeof(int) * (size_t)ranks);

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    trying("a null buffer");
    CHECK_CLASS(MPI_Alltoall(NULL, 1, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(a, 1, MPI_INT, NULL, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    CHECK_CLASS(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, comm), MPI_SUCCESS);
    for (int length = 2; length <= 1000; length *= 20) {
        trying("truncation, %d elements", length);
        for (int i = 0; i < ranks; i++) {
            big[i] = length;
            small[i] = length - 1;
            places[i] = i * length;
        }
        memset(b, 0xff, n * sizeof *b);
        CHECK_CLASS(MPI_Alltoallv(a, big, places, MPI_INT, b, small, places, MPI_INT, comm), MPI_ERR_TRUNCATE);
        for (int i = 0; i < ranks; i++)
            CHECK(b[places[i] + length - 1] == -1);
        CHECK_CLASS(MPI_Alltoallv(a, big, places, MPI_INT, b, big, places, MPI_INT, comm), MPI_SUCCESS);
        for (int i = 0; i < ranks; i++)
            CHECK(b[places[i] + length - 1] == 0);
    }
    trying("messages that nobody expects");
    for (int i = 0; i < ranks; i++) {
        small[i] = 0;
        big[i] = 10;
        places[i] = i * 10;
        for (int j = 0; j < 10; j++)
            a[i * 10 + j] = 5;
    }
    (void)MPI_Alltoallv(a, big, places, MPI_INT, b, small, places, MPI_INT, comm);
    for (int i = 0; i < ranks * 10; i++)
        a[i] = 6;
    CHECK_CLASS(MPI_Alltoallv(a, big, places, MPI_INT, b, big, places, MPI_INT, comm), MPI_SUCCESS);
    for (int i = 0; i < ranks * 10; i++)
        CHECK(b[i] == 6);
    free(a), free(b), free(big), free(small), free(places);
}

/* The memory that messages travel through runs out: they go through what little there is. */
static void full(void)
{
    enum { MANY = 1 << 20 };
    size_t n = (size_t)ranks;
    MPI_Datatype gaps;
    char *out = calloc(n, 8 * MANY), *in = calloc(n, 8 * MANY);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_create_resized(MPI_INT, 0, 8, &gaps);
    MPI_Type_commit(&gaps);
    trying("full");
    for (size_t i = 0; i < n * MANY; i++)
        memcpy(out + 8 * i, &(int){(int)(i + (size_t)rank * 7)}, sizeof(int));
    CHECK_CLASS(MPI_Alltoall(out, MANY, gaps, in, MANY, gaps, MPI_COMM_WORLD), MPI_SUCCESS);
    for (size_t i = 0; i < n * MANY; i++) {
        int got, from = (int)(i / MANY);
        memcpy(&got, in + 8 * i, sizeof got);
        if (got != (int)(i % MANY + (size_t)rank * MANY) + from * 7) {
            CHECK(!"an element of the exchange");
            break;
        }
    }
    CHECK_CLASS(MPI_Alltoall(MPI_IN_PLACE, MANY, gaps, in, MANY, gaps, MPI_COMM_WORLD), MPI_SUCCESS);
    for (size_t i = 0; i < n * MANY; i += 1000) { /* back where it came from */
        int got;
        memcpy(&got, in + 8 * i, sizeof got);
        CHECK(got == (int)(i + (size_t)rank * 7));
    }
    fill(out, 100 * n, 1);
    CHECK_CLASS(MPI_Alltoall(out, 100, MPI_BYTE, in, 100, MPI_BYTE, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK(memcmp(out + 100 * rank, in + 100 * rank, 100) == 0);
    MPI_Type_free(&gaps);
    free(out), free(in);
}

static void *of_one_thread(void *comm)
{
    many(*(MPI_Comm *)comm);
    return NULL;
}

static void threads(void)
{
    MPI_Comm mine[2];
    pthread_t other;

    MPI_Comm_dup(MPI_COMM_WORLD, &mine[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &mine[1]);
    pthread_create(&other, NULL, of_one_thread, &mine[1]);
    (void)of_one_thread(&mine[0]);
    pthread_join(other, NULL);
    MPI_Comm_free(&mine[0]);
    MPI_Comm_free(&mine[1]);
}

static void uneven(int times)
{
    enum { MIDDLE = 1 << 20, OFF = 100 };
    char *out = calloc(2, MIDDLE + OFF), *in = calloc(2, MIDDLE + OFF);
    int more = MIDDLE + OFF, less = MIDDLE - OFF, places[2] = {0, MIDDLE + OFF};
    int sends[2] = {rank ? more : 0, rank ? 0 : less}, receives[2] = {rank ? less : 0, rank ? 0 : more};

    trying("uneven");
    for (int i = 0; i < times; i++) {
        fill(out, 2 * (size_t)more, (unsigned)(i + rank));
        CHECK_CLASS(MPI_Alltoallv(out, sends, places, MPI_BYTE, in, receives, places, MPI_BYTE, MPI_COMM_WORLD), MPI_SUCCESS);
        for (int j = 0; j < receives[1 - rank]; j += 999)
            CHECK((unsigned char)in[places[1 - rank] + j] == pattern_byte((unsigned)(i + 1 - rank), (size_t)(places[rank] + j)));
    }
    free(out), free(in);
}

static void intercommunicator(void)
{
    MPI_Comm half, inter;
    int out[8] = {0}, in[8] = {0}, side = world_rank % 2, others;

    trying("intercommunicator");
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 9, &inter);
    MPI_Comm_remote_size(inter, &others);
    for (int i = 0; i < others; i++)
        out[i] = world_rank * 10 + i;
    CHECK_CLASS(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter), MPI_SUCCESS);
    for (int i = 0; i < others; i++)
        CHECK(in[i] == (2 * i + 1 - side) * 10 + world_rank / 2);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Before MPI_Init only the launcher has told. */
static int first_of_the_job(void)
{
    const char *place = getenv("PMI_RANK");
    if (!place)
        place = getenv("OMPI_COMM_WORLD_RANK");
    return place && strcmp(place, "0") == 0;
}

int main(int argc, char **argv)
{
    MPI_Comm dup, turned, part, grid, idup;
    MPI_Request request;
    const char *mode = argc > 1 ? argv[1] : "";
    int native = strcmp(mode, "native") == 0, size, periodic = 1, provided;

    if (argc > 3 && first_of_the_job())
        setenv("OPI_ALLTOALL", "0", 1);
    MPI_Init_thread(&argc, &argv, strcmp(mode, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks = size;
    rank = world_rank;
    if (strcmp(mode, "full") == 0) {
        full();
        return finish("alltoall");
    }
    if (strcmp(mode, "uneven") == 0) {
        uneven(atoi(argv[2]));
        return finish("alltoall");
    }
    if (strcmp(mode, "threads") == 0) {
        if (provided == MPI_THREAD_MULTIPLE)
            threads();
        return finish("alltoall");
    }
    if (strcmp(mode, "count") == 0) {
        char out[64], in[64];
        memset(out, 1, sizeof out);
        for (int i = 0; i < atoi(argv[2]); i++)
            MPI_Alltoall(out, 1, MPI_BYTE, in, 1, MPI_BYTE, MPI_COMM_WORLD);
        return finish("alltoall");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* Open MPI reports MPI_ERR_ARG there, whatever the communicator */
    make_types();
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - world_rank, &turned);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &part);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &grid);
    MPI_Comm_idup(MPI_COMM_WORLD, &idup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    forms(MPI_COMM_WORLD, "world", SIZES);
    forms(turned, "in reverse", SMALL_SIZES); /* other places of the same copies */
    forms(part, "every second rank", SMALL_SIZES);
    forms(MPI_COMM_SELF, "self", SIZES);
    MPI_Comm comms[] = {MPI_COMM_WORLD, dup, turned, part, grid, idup, MPI_COMM_SELF};
    for (int i = 0; i < 7; i++) {
        MPI_Comm_size(comms[i], &ranks);
        MPI_Comm_rank(comms[i], &rank);
        apart(comms[i]);
        many(comms[i]);
        mixed_counts(comms[i]);
        bottom(comms[i]);
    }
    if (size > 1)
        intercommunicator();
    MPI_Comm_rank(dup, &rank);
    MPI_Comm_size(dup, &ranks);
    arguments(dup);
    if (!native && size > 1)
        ours_alone(dup);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&turned);
    MPI_Comm_free(&part);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&idup);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&types[i]);
    return finish("alltoall");
}
