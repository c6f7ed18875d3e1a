/*
 * What broke in earlier layers of this kind (Hybrid MPI, FG-MPI), each as a test with a name. Rank 0 prints
 * `defect NAME: ok` or `defect NAME: FAILED`. Runs on 2 ranks or more, on one node or several.
 *
 *   defects [NAME...]        OPI_NODE_RANKS given: nothing is sent that is longer than its receive
 */
#include "../forms.h"

static int ranks, across;

/* Messages between ranks 0 and 1, in every pair of forms given. */
static void pass(enum send_form how, enum recv_form form, size_t bytes, int wild)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        send_by(how, ALLOCATED, bytes, 9, 1, 7, MPI_COMM_WORLD);
    if (world_rank == 1) {
        struct reception r;
        begin_receive(&r, form, PRIVATE, bytes + 64, wild ? MPI_ANY_SOURCE : 0, wild ? MPI_ANY_TAG : 7, MPI_COMM_WORLD);
        end_receive(&r, bytes, 9, 0, 7);
    }
}

static const size_t sizes[] = {8, 4000, 300000};

/* A column of a matrix arrives as that column, and nothing beside it is touched. */
static void vector_types(void)
{
    enum { ROWS = 3000, COLUMNS = 5 };
    static double m[ROWS][COLUMNS];
    MPI_Datatype column, twice;

    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_create_hvector(2, 1, 2 * sizeof(double), column, &twice);
    MPI_Type_commit(&column);
    MPI_Type_commit(&twice);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            m[i][j] = world_rank == 0 ? i * 10 + j : -1;
    if (world_rank == 0) {
        MPI_Send(&m[0][1], 1, column, 1, 0, MPI_COMM_WORLD);
        MPI_Send(&m[0][0], 1, twice, 1, 0, MPI_COMM_WORLD);
    } else if (world_rank == 1) {
        static double flat[2 * ROWS];
        MPI_Recv(&m[0][3], 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(flat, 2 * ROWS, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++)
                CHECK(m[i][j] == (j == 3 ? i * 10 + 1 : -1));
            CHECK(flat[i] == i * 10 && flat[ROWS + i] == i * 10 + 2);
        }
    }
    MPI_Type_free(&column);
    MPI_Type_free(&twice);
}

/* A message too long is an error, and nothing beyond the buffer is written. */
static void truncation(void)
{
    for (int s = 0; s < 3 && !across; s++)
        for (int how = SEND; how <= IGIVE; how++)
            for (int form = RECV; form <= ITAKE; form++) {
                size_t bytes = sizes[s], room = bytes / 2;
                MPI_Barrier(MPI_COMM_WORLD);
                if (world_rank == 0)
                    send_by(how, how % 2 ? PRIVATE : ALLOCATED, bytes, 3, 1, 1, MPI_COMM_WORLD);
                if (world_rank == 1) {
                    unsigned char *b = malloc(bytes);
                    void *p = takes(form) ? NULL : b;
                    MPI_Request q = MPI_REQUEST_NULL;
                    MPI_Status st;
                    int code, count;
                    memset(b, CANARY, bytes);
                    trying("%s to %s, %zu bytes", send_name[how], recv_name[form], bytes);
                    code = form == RECV    ? MPI_Recv(b, (int)room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &st)
                           : form == IRECV ? MPI_Irecv(b, (int)room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &q)
                           : form == TAKE  ? OPI_Take(&p, (int)room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &st)
                                           : OPI_Itake(&p, (int)room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &q);
                    if (q != MPI_REQUEST_NULL)
                        code = MPI_Wait(&q, &st);
                    CHECK_CLASS(code, MPI_ERR_TRUNCATE);
                    MPI_Get_count(&st, MPI_BYTE, &count);
                    CHECK(st.MPI_SOURCE == 0 && st.MPI_TAG == 1 && count >= 0 && count <= (int)room);
                    for (size_t i = room; i < bytes && !takes(form); i++)
                        CHECK(b[i] == CANARY);
                    if (takes(form)) {
                        CHECK(p != NULL);
                        OPI_Free(&p);
                    }
                    free(b);
                }
            }
}

static void take_of_a_send(void)
{
    for (int s = 0; s < 3; s++)
        for (int how = SEND; how <= ISSEND; how++)
            for (int form = TAKE; form <= ITAKE; form++)
                pass(how, form, sizes[s], 0);
}

/* More than the heap holds (OPI_HEAP_LIMIT) passes from gives to wildcard receives: were it lost or kept by the receiver, that
 * would end it. A give waits for nobody: the barriers bound what is on the way to a receiver that gets no processor. */
static void receive_any_of_a_give(void)
{
    for (int i = 0; i < 250; i++) {
        if (i % 16 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        pass(i % 2 ? GIVE : IGIVE, i % 3 ? RECV : IRECV, (size_t)1 << 20 >> (i % 4), 1);
    }
}

static void take_any_source(void)
{
    for (int s = 0; s < 3; s++)
        for (int how = SEND; how <= IGIVE; how++)
            for (int form = TAKE; form <= ITAKE; form++)
                pass(how, form, sizes[s], 1);
}

static void split_with_undefined(void)
{
    MPI_Comm c = MPI_COMM_WORLD;

    CHECK_CLASS(MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 1, 0, &c), MPI_SUCCESS);
    CHECK((c == MPI_COMM_NULL) == (world_rank == 0));
    if (c != MPI_COMM_NULL) {
        int me, n, got = -1;
        MPI_Comm_rank(c, &me);
        MPI_Comm_size(c, &n);
        CHECK(n == ranks - 1);
        MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 0, &got, 1, MPI_INT, (me + n - 1) % n, 0, c, MPI_STATUS_IGNORE);
        CHECK(got == (me + n - 1) % n);
        MPI_Comm_free(&c);
    }
}

/* Everybody with everybody, the status of each message looked at: whoever shares a node with whom. */
static void status_and_locality(void)
{
    for (int i = 0; i < ranks; i++) {
        int to = (world_rank + i) % ranks, from = (world_rank + ranks - i) % ranks, count;
        char out[200], in[400];
        MPI_Request q;
        MPI_Status st;
        memset(out, world_rank, sizeof out);
        memset(&st, 0x7f, sizeof st);
        MPI_Irecv(in, sizeof in, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : from, 40 + i, MPI_COMM_WORLD, &q);
        MPI_Send(out, 100 + i, MPI_BYTE, to, 40 + i, MPI_COMM_WORLD);
        CHECK_CLASS(MPI_Wait(&q, &st), MPI_SUCCESS);
        MPI_Get_count(&st, MPI_BYTE, &count);
        CHECK(st.MPI_SOURCE == from && st.MPI_TAG == 40 + i && count == 100 + i && in[0] == (char)from);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void pointers_are_cleared(void)
{
    void *p = NULL;
    MPI_Request q;

    OPI_Alloc(&p, 100);
    OPI_Free(&p);
    CHECK(p == NULL);
    for (int i = 0; i < 2; i++) {
        OPI_Alloc(&p, 100);
        if (i)
            OPI_Give(&p, 100, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        else {
            OPI_Igive(&p, 100, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &q);
            CHECK(p == NULL);
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
        CHECK(p == NULL);
    }
    pass(GIVE, TAKE, 1000, 0); /* send_by and begin_receive look at the pointers */
    pass(IGIVE, ITAKE, 1000, 0);
}

/* The count of a status is the message's, whichever side came first. */
static void count_from_either_side(void)
{
    for (int late = 0; late < 2; late++)
        for (int s = 0; s < 3; s++) {
            size_t bytes = sizes[s];
            struct reception r;
            MPI_Barrier(MPI_COMM_WORLD);
            if (world_rank == 1 && !late)
                begin_receive(&r, ITAKE, PRIVATE, bytes + 5000, 0, 2, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
            if (world_rank == 0)
                send_by(late ? GIVE : IGIVE, ALLOCATED, bytes, 5, 1, 2, MPI_COMM_WORLD);
            if (world_rank == 1 && late) {
                MPI_Probe(0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                begin_receive(&r, ITAKE, PRIVATE, bytes + 5000, 0, 2, MPI_COMM_WORLD);
            }
            if (world_rank == 1)
                end_receive(&r, bytes, 5, 0, 2);
        }
}

static const struct {
    const char *name;
    void (*run)(void);
} defects[] = {
    {"vector-types", vector_types},
    {"truncation", truncation},
    {"take-of-a-send", take_of_a_send},
    {"receive-any-of-a-give", receive_any_of_a_give},
    {"take-any-source", take_any_source},
    {"split-undefined", split_with_undefined},
    {"status-and-locality", status_and_locality},
    {"pointers-cleared", pointers_are_cleared},
    {"count-from-either-side", count_from_either_side},
};

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    across = getenv("OPI_NODE_RANKS") != NULL;
    for (size_t i = 0; i < sizeof defects / sizeof defects[0]; i++) {
        int wanted = argc == 1, before = failures, bad, all;
        for (int k = 1; k < argc; k++)
            wanted = wanted || strcmp(argv[k], defects[i].name) == 0;
        if (!wanted)
            continue;
        trying("%s", defects[i].name);
        defects[i].run();
        bad = failures - before;
        MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (world_rank == 0)
            printf("defect %s: %s\n", defects[i].name, all ? "FAILED" : "ok");
    }
    return finish("defects");
}
