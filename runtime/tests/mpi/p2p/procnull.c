/* MPI_PROC_NULL: nothing is sent or brought; gives free, takes yield a buffer of full capacity; the status says so. */
#include "../forms.h"

static void empty_status(const MPI_Status *status)
{
    int count = -1;
    CHECK(status->MPI_SOURCE == MPI_PROC_NULL);
    CHECK(status->MPI_TAG == MPI_ANY_TAG);
    MPI_Get_count(status, MPI_BYTE, &count);
    CHECK(count == 0);
}

/* By a call that replaces; a pointer of one's own tells that nothing is touched between. */
static void replace(int later, char **p, size_t bytes, int source, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    char *was = *p;

    if (!later) {
        CHECK_CLASS(OPI_Take_replace(p, (int)bytes, MPI_BYTE, source, 4, comm, status), MPI_SUCCESS);
        return;
    }
    CHECK_CLASS(OPI_Itake_replace(p, (int)bytes, MPI_BYTE, source, 4, comm, &request), MPI_SUCCESS);
    CHECK(*p == (source == MPI_PROC_NULL ? was : NULL));
    CHECK_CLASS(MPI_Wait(&request, status), MPI_SUCCESS);
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
    for (int later = 0; later < 2; later++)
        for (size_t bytes = 8; bytes <= 100000; bytes += 49996) {
            int me, n;

            trying("%s of %zu bytes", later ? "Itake_replace" : "Take_replace", bytes);
            MPI_Comm_rank(comm, &me);
            MPI_Comm_size(comm, &n);
            p = NULL; /* where there is nothing, nothing is kept */
            replace(later, &p, bytes, MPI_PROC_NULL, comm, &status);
            empty_status(&status);
            CHECK(p == NULL);
            p = new_buffer(ALLOCATED, bytes);
            fill(p, bytes, 5);
            void *was = p;
            replace(later, &p, bytes, MPI_PROC_NULL, comm, &status);
            empty_status(&status);
            CHECK(p == was && differs(p, bytes, 5) == 0);
            for (int turn = 0; turn < 3; turn++) { /* a line of ranks; what was there before is freed */
                char *out = new_buffer(ALLOCATED, bytes);
                fill(out, bytes, 100 * (unsigned)turn + (unsigned)me);
                MPI_Request sent;
                CHECK_CLASS(OPI_Igive(&out, (int)bytes, MPI_BYTE, me + 1 < n ? me + 1 : MPI_PROC_NULL, 4, comm, &sent), MPI_SUCCESS);
                int from = me > 0 ? me - 1 : MPI_PROC_NULL, count = -1;
                was = p;
                replace(later, &p, bytes, from, comm, &status);
                CHECK_CLASS(MPI_Wait(&sent, MPI_STATUS_IGNORE), MPI_SUCCESS);
                CHECK(status.MPI_SOURCE == from);
                MPI_Get_count(&status, MPI_BYTE, &count);
                CHECK(count == (me > 0 ? (int)bytes : 0));
                CHECK(p != NULL && (me > 0 || p == was) && differs(p, bytes, me > 0 ? 100 * (unsigned)turn + (unsigned)me - 1 : 5) == 0);
            }
            drop_buffer(ALLOCATED, p);
        }
    trying("replacing takes that fail keep the buffer");
    {
        static char foreign[64];
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        char *q = foreign, *was = p = new_buffer(ALLOCATED, 64);
        for (int i = 0; i < 2; i++) {
            int source = i ? MPI_PROC_NULL : 0;
            CHECK_CLASS(OPI_Take_replace(&q, 64, MPI_BYTE, source, 3, comm, &status), MPI_ERR_BUFFER);
            CHECK_CLASS(OPI_Itake_replace(&q, 64, MPI_BYTE, source, 3, comm, &request), MPI_ERR_BUFFER);
            CHECK_CLASS(OPI_Take_replace(&p, -1, MPI_BYTE, source, 3, comm, &status), MPI_ERR_COUNT);
            CHECK_CLASS(OPI_Itake_replace(&p, -1, MPI_BYTE, source, 3, comm, &request), MPI_ERR_COUNT);
        }
        CHECK_CLASS(OPI_Take_replace(&p, 64, MPI_BYTE, 1 << 20, 3, comm, &status), MPI_ERR_RANK);
        CHECK_CLASS(OPI_Itake_replace(&p, 64, MPI_BYTE, 1 << 20, 3, comm, &request), MPI_ERR_RANK);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
        CHECK(q == foreign && p == was);
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
