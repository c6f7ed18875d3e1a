/*
 * A revoked communicator (an extension of some MPIs): every call on it fails from then on, also those that wait already, on
 * ranks that did not revoke it themselves; other communicators go on.
 *
 *   revoked                3 ranks, under a launcher that passes revocations on (Open MPI: mpiexec --with-ft ulfm)
 */
#include "../check.h"

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if defined(OMPI_HAVE_MPI_EXT_FTMPI)

static MPI_Comm comm;

static int is_revoked(int code)
{
    return class_of(code) == MPI_ERR_REVOKED;
}

/* What waits when the communicator is revoked: a posted receive, a synchronous send, and a blocking call. */
static void waiting(int rank)
{
    MPI_Request r[3];
    MPI_Status status;
    int in[2], out = 5, flag = 0, code = MPI_SUCCESS;

    trying("waiting");
    MPI_Irecv(&in[0], 1, MPI_INT, (rank + 1) % 3, 1, comm, &r[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &r[1]);
    MPI_Issend(&out, 1, MPI_INT, (rank + 1) % 3, 3, comm, &r[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK_CLASS(MPIX_Comm_revoke(comm), MPI_SUCCESS);
    else if (rank == 1)
        CHECK(is_revoked(MPI_Recv(&out, 1, MPI_INT, 0, 4, comm, MPI_STATUS_IGNORE)));
    else
        CHECK(is_revoked(MPI_Ssend(&out, 1, MPI_INT, 0, 4, comm)));
    CHECK(is_revoked(MPI_Wait(&r[0], &status)));
    while (!flag && code == MPI_SUCCESS)
        code = MPI_Test(&r[1], &flag, &status);
    CHECK(is_revoked(code));
    CHECK(is_revoked(MPI_Wait(&r[2], &status)));
    CHECK(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL && r[2] == MPI_REQUEST_NULL);
}

/* What begins afterwards. */
static void later(int rank)
{
    void *gift;
    int n = 1, to = (rank + 1) % 3, got;
    MPI_Request r = MPI_REQUEST_NULL;

    trying("later");
    CHECK(is_revoked(MPI_Send(&n, 1, MPI_INT, to, 1, comm)));
    CHECK(is_revoked(MPI_Send(&n, 1, MPI_INT, MPI_PROC_NULL, 1, comm)));
    CHECK(is_revoked(MPI_Recv(&n, 1, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE)));
    CHECK(is_revoked(MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE)));
    CHECK(is_revoked(MPI_Sendrecv(&n, 1, MPI_INT, to, 1, &got, 1, MPI_INT, to, 1, comm, MPI_STATUS_IGNORE)));
    OPI_Alloc(&gift, 4000);
    int code = OPI_Igive(&gift, 4000, MPI_BYTE, to, 1, comm, &r);
    CHECK(is_revoked(code == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : code));
    if (gift)
        OPI_Free(&gift);
}

/* Ranks that wait in an exchange, which is messages of libopi. */
static void exchanging(int rank)
{
    int out[3] = {0}, in[3];
    MPI_Comm other;

    trying("exchanging");
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, other), MPI_SUCCESS);
    if (rank == 0)
        CHECK_CLASS(MPIX_Comm_revoke(other), MPI_SUCCESS);
    CHECK(is_revoked(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, other)));
    CHECK(is_revoked(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, other)));
    MPI_Comm_free(&other);
}

static void elsewhere(int rank)
{
    int out = rank, in = -1;

    trying("elsewhere");
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % 3, 1, &in, 1, MPI_INT, (rank + 2) % 3, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == (rank + 2) % 3);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of requests whose communicator is gone */
    waiting(world_rank);
    later(world_rank);
    elsewhere(world_rank);
    exchanging(world_rank);
    MPI_Comm_free(&comm);
    elsewhere(world_rank);
    return finish("revoked");
}

#else

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (world_rank == 0)
        puts("revoked: this MPI has no revocation that can be asked for");
    return finish("revoked");
}

#endif
