/* Error classes, truncation and the state that an error leaves behind. */
#include "check.h"

static int handled;

static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

static int class_of(int rc) {
    int c = -1;
    MPI_Error_class(rc, &c);
    return c;
}

#define FAILS(call, class)                   \
    do {                                     \
        int before_ = handled;               \
        CHECK(class_of(call) == (class));    \
        CHECK(handled == before_ + 1);       \
    } while (0)

int main(int argc, char **argv) {
    start(&argc, &argv);
    MPI_Errhandler h;
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
    double *b = NULL, *copy, local[4];
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Status st;

    OPI_Alloc(&b, 800);
    copy = b;
    FAILS(OPI_Give(&b, -1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    FAILS(OPI_Give(&b, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    FAILS(OPI_Give(&b, 1, MPI_DOUBLE, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    FAILS(OPI_Give(&b, 1, MPI_DOUBLE, -77, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    FAILS(OPI_Give(&b, 1, MPI_DOUBLE, 0, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
    FAILS(OPI_Igive(&b, 1, MPI_DOUBLE, 0, 0, MPI_COMM_NULL, &q), MPI_ERR_COMM);
    FAILS(OPI_Igive(&b, 1000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &q), MPI_ERR_BUFFER);
    CHECK(b == copy);
    double *foreign = local;
    FAILS(OPI_Give(&foreign, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK(foreign == local);
    FAILS(OPI_Free(&foreign), MPI_ERR_BUFFER);
    double *inside = b + 8;
    FAILS(OPI_Free(&inside), MPI_ERR_BUFFER);
    double *null = NULL;
    FAILS(OPI_Give(&null, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK(OPI_Free(&null) == MPI_SUCCESS);
    FAILS(OPI_Take(&null, -1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &st), MPI_ERR_COUNT);
    FAILS(OPI_Take(&null, 1, MPI_DOUBLE, size + 1, 0, MPI_COMM_WORLD, &st), MPI_ERR_RANK);
    FAILS(MPI_Send(b, 1, MPI_DOUBLE, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    FAILS(MPI_Recv(NULL, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &st), MPI_ERR_BUFFER);
    FAILS(MPI_Irecv(b, -1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &q), MPI_ERR_COUNT);
    OPI_Free(&b);
    FAILS(OPI_Free(&copy), MPI_ERR_BUFFER); /* twice */
    OPI_Alloc(&b, 64);
    copy = b;
    OPI_Give(&b, 8, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    CHECK(!b);
    FAILS(OPI_Free(&copy), MPI_ERR_BUFFER); /* given */
    void *huge = &huge;
    FAILS(OPI_Alloc(&huge, (size_t)1 << 60), MPI_ERR_NO_MEM);
    CHECK(huge == &huge);

    /* From MPI_PROC_NULL a buffer of full capacity. */
    OPI_Take(&b, 1000, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &st);
    int n = -1;
    MPI_Get_count(&st, MPI_DOUBLE, &n);
    CHECK(b && n == 0 && st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG);
    memset(b, 1, 8000);
    OPI_Free(&b);

    /* Truncation, in every protocol and on both receiving forms; the job goes on. */
    int peer = (rank + 1) % size, from = (rank + size - 1) % size;
    int below = getenv("OPI_NODE_RANKS") || getenv("OPI_DISABLE");
    static const int lengths[] = {4, 100, 3000, 100000};
    for (int i = 0; i < 4; i++) {
        int len = lengths[i];
        for (int form = 0; form < 6; form++) {
            double *s, *t = NULL, *fixed = malloc(sizeof(double) * (size_t)len);
            OPI_Alloc(&s, sizeof(double) * (size_t)len);
            for (int k = 0; k < len; k++)
                s[k] = k, fixed[k] = -1;
            MPI_Request sq;
            if (form & 1)
                OPI_Igive(&s, len, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &sq);
            else
                MPI_Isend(s, len, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD, &sq);
            int half = len / 2, before = handled, rc;
            memset(&st, -1, sizeof st);
            if (form / 2 == 0) {
                rc = OPI_Take(&t, half, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, &st);
            } else if (form / 2 == 1) {
                rc = MPI_Recv(fixed, half, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, &st);
            } else {
                MPI_Request rq;
                OPI_Itake(&t, half, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, &rq);
                rc = MPI_Wait(&rq, &st);
                CHECK(rq == MPI_REQUEST_NULL);
            }
            CHECK(class_of(rc) == MPI_ERR_TRUNCATE || below); /* MPICH itself returns success when the handler returns */
            CHECK(handled == before + 1);
            CHECK(st.MPI_SOURCE == from && st.MPI_TAG == 3);
            if (form / 2 == 1 && below) {
            } else if (form / 2 == 1) { /* Open MPI itself writes past a truncated receive */
                for (int k = half; k < len; k++)
                    CHECK(fixed[k] == -1);
            } else {
                CHECK(t);
                memset(t, 0, sizeof(double) * (size_t)half);
                OPI_Free(&t);
            }
            MPI_Wait(&sq, MPI_STATUS_IGNORE);
            OPI_Free(&s);
            free(fixed);
        }
    }
    /* In an array: MPI_ERR_IN_STATUS, each status its own. */
    {
        int big[8] = {0}, small[2][4];
        MPI_Request r[3];
        MPI_Status s[3];
        MPI_Irecv(small[0], 4, MPI_INT, from, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(small[1], 4, MPI_INT, from, 2, MPI_COMM_WORLD, &r[1]);
        r[2] = MPI_REQUEST_NULL;
        MPI_Send(big, 4, MPI_INT, peer, 1, MPI_COMM_WORLD);
        MPI_Send(big, 8, MPI_INT, peer, 2, MPI_COMM_WORLD);
        CHECK(class_of(MPI_Waitall(3, r, s)) == MPI_ERR_IN_STATUS);
        CHECK(class_of(s[0].MPI_ERROR) == MPI_SUCCESS && class_of(s[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
    }
    /* A cancelled Itake leaves NULL. */
    OPI_Itake(&b, 10, MPI_INT, from, 99, MPI_COMM_WORLD, &q);
    MPI_Cancel(&q);
    MPI_Wait(&q, &st);
    int cancelled = 0;
    MPI_Test_cancelled(&st, &cancelled);
    CHECK(cancelled && !b);
    MPI_Errhandler_free(&h);
    return finish();
}
