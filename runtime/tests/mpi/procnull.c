/* MPI_PROC_NULL: nothing is sent or brought; gives free, takes yield a buffer of full capacity; the status says so. */
#include "forms.h"

static void empty_status(const MPI_Status *status)
{
    int count = -1;
    CHECK(status->MPI_SOURCE == MPI_PROC_NULL);
    CHECK(status->MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(count == 0);
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    MPI_Status status;
    char buffer[40], *p = NULL;
    int flag = 0;

    start(&argc, &argv);
    memset(buffer, CANARY, sizeof buffer);
    for (int form = 0; form < SEND_FORMS; form++)
        for (size_t bytes = 0; bytes <= 100000; bytes += 50000) {
            trying("%s of %zu bytes to MPI_PROC_NULL", send_name[form], bytes);
            send_by(form, form % 2, bytes, 1, MPI_PROC_NULL, 3, comm);
        }
    trying("receives");
    CHECK_CLASS(MPI_Recv(buffer, 40, MPI_BYTE, MPI_PROC_NULL, 3, comm, &status), MPI_SUCCESS);
    empty_status(&status);
    CHECK_CLASS(MPI_Irecv(buffer, 40, MPI_BYTE, MPI_PROC_NULL, 3, comm, &request), MPI_SUCCESS);
    CHECK_CLASS(MPI_Wait(&request, &status), MPI_SUCCESS);
    empty_status(&status);
    CHECK_CLASS(MPI_Sendrecv_replace(buffer, 40, MPI_BYTE, MPI_PROC_NULL, 3, MPI_PROC_NULL, 3, comm, &status), MPI_SUCCESS);
    empty_status(&status);
    for (int i = 0; i < 40; i++)
        CHECK((unsigned char)buffer[i] == CANARY);
    trying("takes");
    CHECK_CLASS(OPI_Take(&p, 100000, MPI_BYTE, MPI_PROC_NULL, 3, comm, &status), MPI_SUCCESS);
    empty_status(&status);
    CHECK(p != NULL);
    memset(p, 1, 100000);
    drop_buffer(ALLOCATED, p);
    CHECK_CLASS(OPI_Itake(&p, 100000, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, comm, &request), MPI_SUCCESS);
    CHECK(p == NULL);
    CHECK_CLASS(MPI_Waitall(1, &request, &status), MPI_SUCCESS);
    empty_status(&status);
    CHECK(p != NULL);
    memset(p, 1, 100000);
    drop_buffer(ALLOCATED, p);
    trying("replaces that nobody sends to keep the buffer");
    for (size_t bytes = 8; bytes <= 100000; bytes += 99992) {
        int me, n;

        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &n);
        p = new_buffer(ALLOCATED, bytes);
        void *was = p;
        fill(p, bytes, 5);
        CHECK_CLASS(OPI_Givetake_replace(&p, (int)bytes, MPI_BYTE, MPI_PROC_NULL, 3, MPI_PROC_NULL, 3, comm, &status), MPI_SUCCESS);
        empty_status(&status);
        CHECK(p == was && differs(p, bytes, 5) == 0);
        int to = me + 1 < n ? me + 1 : MPI_PROC_NULL, from = me > 0 ? me - 1 : MPI_PROC_NULL; /* a line of ranks */
        fill(p, bytes, 100 + (unsigned)me);
        CHECK_CLASS(OPI_Givetake_replace(&p, (int)bytes, MPI_BYTE, to, 4, from, 4, comm, &status), MPI_SUCCESS);
        CHECK(p != NULL && differs(p, bytes, me > 0 ? 99 + (unsigned)me : 100) == 0);
        CHECK(status.MPI_SOURCE == from);
        CHECK(me > 0 || p == was);
        drop_buffer(ALLOCATED, p);
    }
    trying("probes");
    CHECK_CLASS(MPI_Probe(MPI_PROC_NULL, 3, comm, &status), MPI_SUCCESS);
    empty_status(&status);
    CHECK_CLASS(MPI_Iprobe(MPI_PROC_NULL, 3, comm, &flag, &status), MPI_SUCCESS);
    CHECK(flag);
    empty_status(&status);
    return finish("procnull");
}
