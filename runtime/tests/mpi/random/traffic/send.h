/* A send of any mode and form. */
#ifndef OPI_TEST_TRAFFIC_SEND_H
#define OPI_TEST_TRAFFIC_SEND_H

#include "operations.h"

static void start_send(void)
{
    int comm = (int)draw(COMMS), dest = (int)draw((unsigned)size_of[comm]), tag = (int)draw(TAGS), n = draw_length(), form = (int)draw(16), count, rc = 0;
    struct op *o = new_op();
    MPI_Request *q = REQUEST(o);

    o->layout = n ? (int)draw(draw(2) ? 1 : LAYOUTS) : PLAIN;
    o->owned = (int)draw(2) || form >= 13;
    if (form == 5)
        tag = WITHDRAWABLE;
    if ((form == 3 || form == 4 || form == 9) && n > 5000)
        n = 100;
    if (form >= 11 && form != 14 && form != 15 && n > SMALL)
        n = SMALL;
    if (form >= 13 && (o->layout == STRIDED || o->layout == SWAPPED))
        o->layout = SPREAD;
    o->span = span_of(o->layout, n);
    o->buffer = new_ints(o->owned, o->span);
    o->type = type_of(o->layout, n, &count);
    o->sends = new_message(comm, dest, tag, n, o->layout, o->buffer);
    trying("seed %d, send %d: form %d, comm %d, to %d, tag %d, %d elements", round_number, o->sends, form, comm, dest, tag, n);
    switch (form) {
    case 0: rc = MPI_Isend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
#if MPI_VERSION >= 4
    case 1: rc = MPI_Isend_c(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
#else
    case 1: rc = MPI_Isend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
#endif
    case 2:
    case 5: o->sync = 1, rc = MPI_Issend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 3: rc = MPI_Ibsend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 4: rc = MPI_Bsend(o->buffer, count, o->type, dest, tag, comms[comm]); break;
    case 6: /* nobody waits for it; its buffer lives until the round is over */
        rc = MPI_Isend(o->buffer, count, o->type, dest, tag, comms[comm], q);
        MPI_Request_free(q);
        CHECK(*q == MPI_REQUEST_NULL);
        return;
    case 7: rc = MPI_Send_init(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 8: o->sync = 1, rc = MPI_Ssend_init(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 9: rc = MPI_Bsend_init(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 10:
    case 11:
    case 12: rc = n <= SMALL && !careful ? MPI_Send(o->buffer, count, o->type, dest, tag, comms[comm])
                             : MPI_Isend(o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    case 13: rc = careful ? OPI_Igive(&o->buffer, count, o->type, dest, tag, comms[comm], q) : OPI_Give(&o->buffer, count, o->type, dest, tag, comms[comm]); break;
    default: rc = OPI_Igive(&o->buffer, count, o->type, dest, tag, comms[comm], q); break;
    }
    CHECK_CLASS(rc, MPI_SUCCESS);
    if (form >= 7 && form <= 9) {
        o->persistent = 1;
        o->spare = (int)draw(3);
        rc = draw(2) ? MPI_Start(q) : MPI_Startall(1, q);
        CHECK_CLASS(rc, MPI_SUCCESS);
    }
    if (form >= 13)
        CHECK(o->buffer == NULL);
    if (*q == MPI_REQUEST_NULL)
        leave(o);
}

#endif
