/* Calls of the Test family, and cancellation. */
#ifndef OPI_TEST_TRAFFIC_COMPLETE_H
#define OPI_TEST_TRAFFIC_COMPLETE_H

#include "operations.h"

static void test_some(void)
{
    static MPI_Status statuses[MOST_OPS];
    static int index[MOST_OPS];
    int first = nops ? (int)draw((unsigned)nops) : 0, n = nops - first, done = 0, flag = 0, i, rc;
    MPI_Status status;

    switch (n ? draw(4) : 9) {
    case 0:
        rc = MPI_Testsome(n, requests + first, &done, index, statuses);
        CHECK(rc == MPI_SUCCESS || class_of(rc) == MPI_ERR_IN_STATUS);
        for (int k = 0; done != MPI_UNDEFINED && k < done; k++)
            completed(first + index[k], &statuses[k], rc == MPI_SUCCESS ? MPI_SUCCESS : statuses[k].MPI_ERROR);
        break;
    case 1:
        rc = MPI_Testany(n, requests + first, &i, &flag, &status);
        if (flag && i != MPI_UNDEFINED)
            completed(first + i, &status, rc);
        break;
    case 2:
        for (i = first; i < nops && i < first + 8; i++)
            if (ops[i].live && requests[i] != MPI_REQUEST_NULL) {
                rc = MPI_Test(&requests[i], &flag, &status);
                if (flag)
                    completed(i, &status, rc);
            }
        break;
    case 3: /* looking does not complete it */
        for (i = first; i < nops && !(ops[i].live && requests[i] != MPI_REQUEST_NULL); i++)
            ;
        /* Not the MPI's own persistent requests: with MPICH 5.0.2 the Test or Wait that follows a look at a complete one was seen to
         * give the empty status, though the message was received. */
        if (i < nops && !(careful && ops[i].persistent)) {
            rc = MPI_Request_get_status(requests[i], &flag, &status);
            if (flag) {
                rc = MPI_Wait(&requests[i], &status);
                completed(i, &status, rc);
            } else {
                CHECK_CLASS(rc, MPI_SUCCESS);
            }
        }
        break;
    default: break;
    }
}

static void cancel_receive(int i)
{
    MPI_Status status;
    struct op *o = &ops[i];

    o->cancelling = 1;
    o->spare = 0;
    double begin = now();
    CHECK_CLASS(MPI_Cancel(&requests[i]), MPI_SUCCESS);
    int rc = MPI_Wait(&requests[i], &status), cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    if (cancelled)
        taken[o->takes].begin = begin;
    completed(i, &status, rc);
}

static int may_be_cancelled(int i)
{
    return ops[i].live && ops[i].takes >= 0 && ops[i].sends < 0 && !(ops[i].probed > 0 || ops[i].probed < 0) && requests[i] != MPI_REQUEST_NULL;
}

/* One receive, or one send: whether that succeeds is up to the MPI, and known when it completes. */
static void cancel_one(void)
{
    int i = nops ? (int)draw((unsigned)nops) : 0;

    if (i < nops && may_be_cancelled(i)) {
        cancel_receive(i);
    } else if (i < nops && !careful && ops[i].live && ops[i].sync && !ops[i].persistent && !ops[i].cancelling &&
               sent[ops[i].sends].tag == WITHDRAWABLE) {
        ops[i].cancelling = 1;
        CHECK_CLASS(MPI_Cancel(&requests[i]), MPI_SUCCESS);
    }
}

#endif
