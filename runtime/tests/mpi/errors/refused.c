/*
 * Receives and takes that are refused as they start leave everything as it was: the communicator and the datatype go on to be used, and go when they are freed.
 */
#include "../check.h"

static int peer;

/* Built with -DREFUSES -Wl,--wrap=PMPI_Irecv: the MPI below refuses the receives that libopi leaves to it, for a reason that libopi does not see. */
#ifdef REFUSES
static int refuses;
int __real_PMPI_Irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int __wrap_PMPI_Irecv(void *buf, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Request *q);

int __wrap_PMPI_Irecv(void *buf, int n, MPI_Datatype t, int source, int tag, MPI_Comm c, MPI_Request *q)
{
    return refuses && tag == 1 ? MPI_ERR_OTHER : __real_PMPI_Irecv(buf, n, t, source, tag, c, q);
}
#endif

/* Memory that was freed by mistake is used again, and shows. */
static void use_memory(void)
{
    enum { N = 200 };
    void *p[N];
    for (int k = 0; k < N; k++) {
        p[k] = malloc((size_t)(16 + 8 * k));
        memset(p[k], 0x41, (size_t)(16 + 8 * k));
    }
    for (int k = 0; k < N; k++)
        free(p[k]);
}

static void messages(MPI_Comm c, MPI_Datatype pair)
{
    int out[2] = {world_rank, 7}, in[2] = {-1, -1};
    MPI_Status st;
    CHECK_CLASS(MPI_Sendrecv(out, 1, pair, peer, 3, in, 1, pair, peer, 3, c, &st), MPI_SUCCESS);
    CHECK(in[0] == peer && in[1] == 7);
}

int main(int argc, char **argv)
{
    MPI_Comm c;
    MPI_Datatype raw, pair;
    start(&argc, &argv);
    peer = 1 - world_rank;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(2, MPI_INT, &raw); /* not committed */
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int round = 0; round < 3; round++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
        for (int i = 0; i < 50; i++) {
            int *p = NULL, x = 0, source = i % 3 == 2 ? MPI_ANY_SOURCE : peer;
            MPI_Request q = MPI_REQUEST_NULL;
            trying("round %d, try %d", round, i);
            CHECK_CLASS(OPI_Itake(&p, 1, raw, source, 1, c, &q), MPI_ERR_TYPE);
            CHECK_CLASS(OPI_Take(&p, 1, raw, source, 1, c, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
            CHECK_CLASS(MPI_Irecv(&x, 1, raw, source, 1, c, &q), MPI_ERR_TYPE);
            CHECK_CLASS(MPI_Isend(&x, 1, raw, peer, 1, c, &q), MPI_ERR_TYPE);
            CHECK_CLASS(OPI_Itake(&p, -1, MPI_INT, source, 1, c, &q), MPI_ERR_COUNT);
            CHECK_CLASS(OPI_Itake(&p, 1, MPI_DATATYPE_NULL, source, 1, c, &q), MPI_ERR_TYPE);
            CHECK_CLASS(OPI_Itake(&p, 1, MPI_INT, 77, 1, c, &q), MPI_ERR_RANK);
            CHECK_CLASS(OPI_Itake(&p, 1, MPI_INT, source, -5, c, &q), MPI_ERR_TAG);
#ifdef REFUSES
            refuses = 1;
            CHECK_CLASS(OPI_Itake(&p, 1, MPI_INT, peer, 1, c, &q), MPI_ERR_OTHER);
            CHECK_CLASS(OPI_Take(&p, 1, pair, peer, 1, c, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
            CHECK_CLASS(OPI_Itake(&p, 1, pair, peer, 1, c, &q), MPI_ERR_OTHER);
            CHECK_CLASS(MPI_Irecv(&x, 1, MPI_INT, peer, 1, c, &q), MPI_ERR_OTHER);
            refuses = 0;
#endif
            CHECK(p == NULL && q == MPI_REQUEST_NULL);
            use_memory();
        }
        messages(c, pair);
        MPI_Comm_free(&c);
        use_memory();
    }
    messages(MPI_COMM_WORLD, pair);
    MPI_Type_commit(&raw); /* now it may be used */
    messages(MPI_COMM_WORLD, raw);
    MPI_Type_free(&raw);
    MPI_Type_free(&pair);
    MPI_Barrier(MPI_COMM_WORLD);
    return finish("refused");
}
