/* Receives that are posted, and receives of what a probe found. */
#ifndef OPI_TEST_TRAFFIC_RECEIVE_H
#define OPI_TEST_TRAFFIC_RECEIVE_H

#include "operations.h"

static void post_receive(void)
{
    int comm = (int)draw(COMMS), form = (int)draw(7), count, rc = 0;
    int source = draw(3) ? (int)draw((unsigned)size_of[comm]) : MPI_ANY_SOURCE, tag = draw(3) ? (int)draw(TAGS) : MPI_ANY_TAG;
    struct op *o = new_op();
    MPI_Request *q = REQUEST(o);

    o->room = careful || draw(6) ? longest : (int)draw(200);
    o->layout = o->room ? (int)draw(draw(2) ? 1 : LAYOUTS) : PLAIN;
    o->type = MPI_DATATYPE_NULL;
    if (form >= 4) {
        o->layout = draw(2) ? PLAIN : SPREAD;
        o->owned = 1;
    } else {
        o->span = span_of(o->layout, o->room);
        o->buffer = new_ints(0, o->span);
    }
    o->type = type_of(o->layout, o->room, &count);
    o->takes = new_taken(comm, source, tag, o->room, now());
    trying("seed %d, receive %d: form %d, comm %d, from %d, tag %d, room %d", round_number, o->takes, form, comm, source, tag, o->room);
    switch (form) {
    case 0:
    case 1: rc = MPI_Irecv(o->buffer, count, o->type, source, tag, comms[comm], q); break;
#if MPI_VERSION >= 4
    case 2: rc = MPI_Irecv_c(o->buffer, count, o->type, source, tag, comms[comm], q); break;
#else
    case 2: rc = MPI_Irecv(o->buffer, count, o->type, source, tag, comms[comm], q); break;
#endif
    case 3:
        rc = MPI_Recv_init(o->buffer, count, o->type, source, tag, comms[comm], q);
        o->persistent = 1;
        o->spare = (int)draw(3);
        CHECK_CLASS(draw(2) ? MPI_Start(q) : MPI_Startall(1, q), MPI_SUCCESS);
        break;
    default: rc = OPI_Itake(&o->buffer, count, o->type, source, tag, comms[comm], q); CHECK(o->buffer == NULL || rc);
    }
    CHECK_CLASS(rc, MPI_SUCCESS);
}

/* A message for the sending side of a Sendrecv: small, so that it waits for nobody. */
static int *small_message(int comm, int n, int *dest, int *tag)
{
    int *b = new_ints(0, n);
    *dest = (int)draw((unsigned)size_of[comm]);
    *tag = (int)draw(TAGS);
    new_message(comm, *dest, *tag, n, PLAIN, b);
    return b;
}

/* Receives a message that a probe found, in any of the forms that bring it. */
static void receive_found(int comm, const MPI_Status *seen, MPI_Message *message, int source, int tag, double begin)
{
    int n, count, dest, stag, rc = 0, form = message ? 20 + (int)draw(2) : draining ? (int)draw(4) : (int)draw(11);
    struct op *o = new_op();
    MPI_Request *q = REQUEST(o);
    MPI_Status status;

    o->probed = now();
    MPI_Get_elements(seen, MPI_INT, &n);
    CHECK(n >= 0);
    o->room = n + (int)draw(3);
    o->owned = form == 2 || form == 3;
    o->layout = o->room && !o->owned && (form < 6 || form >= 20) ? (int)draw(draw(2) ? 1 : LAYOUTS) : PLAIN;
    o->span = span_of(o->layout, o->room);
    o->type = type_of(o->layout, o->room, &count);
    o->takes = new_taken(comm, source, tag, o->room, begin);
    if (!o->owned)
        o->buffer = new_ints(0, o->span);
    int from = seen->MPI_SOURCE, with = seen->MPI_TAG;
    trying("seed %d, receive %d of a message found: form %d, comm %d, from %d, tag %d", round_number, o->takes, form, comm, from, with);
    switch (form) {
    case 0: rc = MPI_Recv(o->buffer, count, o->type, from, with, comms[comm], &status); break;
    case 1: rc = MPI_Irecv(o->buffer, count, o->type, from, with, comms[comm], q); break;
    case 2: rc = OPI_Take(&o->buffer, count, o->type, from, with, comms[comm], &status); break;
    case 3: rc = OPI_Itake(&o->buffer, count, o->type, from, with, comms[comm], q); break;
    case 4:
    case 5:
        dest = MPI_PROC_NULL, stag = 0;
        o->second = careful ? new_ints(0, SMALL) : small_message(comm, SMALL, &dest, &stag);
        rc = MPI_Sendrecv(o->second, SMALL, MPI_INT, dest, stag, o->buffer, count, o->type, from, with, comms[comm], &status);
        break;
    case 6: /* what is sent has the count of what is received */
        if (o->room <= SMALL && !careful) {
            o->second = small_message(comm, o->room, &dest, &stag);
            memcpy(o->buffer, o->second, sizeof(int) * (size_t)o->room);
            rc = MPI_Sendrecv_replace(o->buffer, count, o->type, dest, stag, from, with, comms[comm], &status);
        } else {
            rc = MPI_Sendrecv_replace(o->buffer, count, o->type, MPI_PROC_NULL, 0, from, with, comms[comm], &status);
        }
        break;
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
    case 7:
        o->second = small_message(comm, o->room, &dest, &stag);
        o->sends = nsent - 1;
        memcpy(o->buffer, o->second, sizeof(int) * (size_t)o->room);
        rc = MPI_Isendrecv_replace(o->buffer, count, o->type, dest, stag, from, with, comms[comm], q);
        break;
    case 8:
        n = draw_length();
        o->second = small_message(comm, n, &dest, &stag);
        o->sends = nsent - 1;
        rc = MPI_Isendrecv(o->second, n, MPI_INT, dest, stag, o->buffer, count, o->type, from, with, comms[comm], q);
        break;
#endif
    case 20: rc = MPI_Mrecv(o->buffer, count, o->type, message, &status); break;
    case 21: rc = MPI_Imrecv(o->buffer, count, o->type, message, q); break;
    default: /* a probe waits for nothing now */
        CHECK_CLASS(MPI_Probe(from, with, comms[comm], &status), MPI_SUCCESS);
        CHECK(status.MPI_SOURCE == from && status.MPI_TAG == with);
        rc = MPI_Recv(o->buffer, count, o->type, from, with, comms[comm], &status);
    }
    if (message)
        CHECK(*message == MPI_MESSAGE_NULL);
    if (*q == MPI_REQUEST_NULL) {
        arrive(o, &status, rc);
        leave(o);
    } else {
        CHECK_CLASS(rc, MPI_SUCCESS);
    }
}

static int look(int comm, int source, int tag)
{
    int flag = 0;
    MPI_Status seen;
    MPI_Message message;
    double begin = now();

    if (nops == MOST_OPS)
        return 0;
    if (draw(2)) {
        CHECK_CLASS(MPI_Improbe(source, tag, comms[comm], &flag, &message, &seen), MPI_SUCCESS);
        if (flag)
            receive_found(comm, &seen, &message, source, tag, begin);
    } else {
        CHECK_CLASS(MPI_Iprobe(source, tag, comms[comm], &flag, &seen), MPI_SUCCESS);
        if (flag && seen.MPI_TAG == WITHDRAWABLE) {
            source = seen.MPI_SOURCE, tag = seen.MPI_TAG, begin = now();
            CHECK_CLASS(MPI_Improbe(source, tag, comms[comm], &flag, &message, &seen), MPI_SUCCESS);
            if (flag)
                receive_found(comm, &seen, &message, source, tag, begin);
        } else if (flag) {
            receive_found(comm, &seen, NULL, source, tag, begin);
        }
    }
    return flag;
}

#endif
