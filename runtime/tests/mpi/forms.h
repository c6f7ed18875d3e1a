/*
 * Every form of sending and of receiving as one function each, with what the contract says of pointers and ownership
 * checked inside (opi.h): a give leaves NULL, a take leaves a buffer of full capacity on a 64-byte boundary.
 */
#ifndef OPI_TEST_FORMS_H
#define OPI_TEST_FORMS_H

#include "check.h"

#define MAYBE_UNUSED __attribute__((unused))

enum send_form { SEND, ISEND, SSEND, ISSEND, GIVE, IGIVE, SENDRECV_SEND, GIVERECV_GIVE, SENDTAKE_SEND, GIVETAKE_GIVE, SGIVE, SEND_FORMS };
enum recv_form { RECV, IRECV, TAKE, ITAKE, SENDRECV_RECV, GIVERECV_RECV, SENDTAKE_TAKE, GIVETAKE_TAKE, RECV_FORMS };
enum memory { PRIVATE, ALLOCATED, MEMORIES };

MAYBE_UNUSED static const char *const send_name[SEND_FORMS] = {
    "Send", "Isend", "Ssend", "Issend", "Give", "Igive", "Sendrecv", "Giverecv", "Sendtake", "Givetake", "Sgive"};
MAYBE_UNUSED static const char *const recv_name[RECV_FORMS] = {
    "Recv", "Irecv", "Take", "Itake", "Sendrecv", "Giverecv", "Sendtake", "Givetake"};

MAYBE_UNUSED static int gives(enum send_form form)
{
    return form == GIVE || form == IGIVE || form == SGIVE || form == GIVERECV_GIVE || form == GIVETAKE_GIVE;
}

MAYBE_UNUSED static int takes(enum recv_form form)
{
    return form == TAKE || form == ITAKE || form == SENDTAKE_TAKE || form == GIVETAKE_TAKE;
}

MAYBE_UNUSED static void *new_buffer(enum memory memory, size_t bytes)
{
    void *buffer = NULL;
    if (memory == ALLOCATED) {
        CHECK_CLASS(OPI_Alloc(&buffer, bytes), MPI_SUCCESS);
        CHECK(buffer != NULL);
        CHECK((uintptr_t)buffer % 64 == 0);
    } else {
        buffer = malloc(bytes ? bytes : 1);
    }
    return buffer;
}

MAYBE_UNUSED static void drop_buffer(enum memory memory, void *buffer)
{
    if (memory == ALLOCATED) {
        CHECK_CLASS(OPI_Free(&buffer), MPI_SUCCESS);
        CHECK(buffer == NULL);
    } else {
        free(buffer);
    }
}

/* Sends `bytes` bytes of the pattern `seed`. Gives are from OPI_Alloc memory, the others from the memory named. */
MAYBE_UNUSED static void send_by(enum send_form form, enum memory memory, size_t bytes, unsigned seed, int dest, int tag, MPI_Comm comm)
{
    int n = (int)bytes;
    void *other = NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    enum memory kind = gives(form) ? ALLOCATED : memory;
    void *buffer = new_buffer(kind, bytes);

    fill(buffer, bytes, seed);
    switch (form) {
    case SEND: CHECK_CLASS(MPI_Send(buffer, n, MPI_BYTE, dest, tag, comm), MPI_SUCCESS); break;
    case SSEND: CHECK_CLASS(MPI_Ssend(buffer, n, MPI_BYTE, dest, tag, comm), MPI_SUCCESS); break;
    case ISEND: CHECK_CLASS(MPI_Isend(buffer, n, MPI_BYTE, dest, tag, comm, &request), MPI_SUCCESS); break;
    case ISSEND: CHECK_CLASS(MPI_Issend(buffer, n, MPI_BYTE, dest, tag, comm, &request), MPI_SUCCESS); break;
    case GIVE: CHECK_CLASS(OPI_Give(&buffer, n, MPI_BYTE, dest, tag, comm), MPI_SUCCESS); break;
    case SGIVE: CHECK_CLASS(OPI_Sgive(&buffer, n, MPI_BYTE, dest, tag, comm), MPI_SUCCESS); break;
    case IGIVE: CHECK_CLASS(OPI_Igive(&buffer, n, MPI_BYTE, dest, tag, comm, &request), MPI_SUCCESS); break;
    case SENDRECV_SEND:
        CHECK_CLASS(MPI_Sendrecv(buffer, n, MPI_BYTE, dest, tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        break;
    case GIVERECV_GIVE:
        CHECK_CLASS(OPI_Giverecv(&buffer, n, MPI_BYTE, dest, tag, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        break;
    case SENDTAKE_SEND:
        CHECK_CLASS(OPI_Sendtake(buffer, n, MPI_BYTE, dest, tag, &other, 96, MPI_BYTE, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        break;
    case GIVETAKE_GIVE:
        CHECK_CLASS(OPI_Givetake(&buffer, n, MPI_BYTE, dest, tag, &other, 96, MPI_BYTE, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE),
                    MPI_SUCCESS);
        break;
    default: abort();
    }
    if (gives(form))
        CHECK(buffer == NULL);
    if (form == SENDTAKE_SEND || form == GIVETAKE_GIVE) { /* a Take from MPI_PROC_NULL: full capacity */
        CHECK(other != NULL);
        if (other != NULL)
            memset(other, 1, 96);
        drop_buffer(ALLOCATED, other);
    }
    if (request != MPI_REQUEST_NULL)
        CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
    if (!gives(form))
        drop_buffer(kind, buffer);
}

struct reception {
    enum recv_form form;
    enum memory memory;
    size_t capacity;
    void *buffer;
    MPI_Request request;
    MPI_Status status;
};

#define CANARY 0xa5

/* Starts (I forms) or does (the others) a receive of at most `capacity` bytes. */
MAYBE_UNUSED static void begin_receive(struct reception *r, enum recv_form form, enum memory memory, size_t capacity, int source, int tag,
                          MPI_Comm comm)
{
    int n = (int)capacity;
    void *gift = NULL;

    memset(r, 0, sizeof *r);
    r->form = form;
    r->memory = takes(form) ? ALLOCATED : memory;
    r->capacity = capacity;
    r->request = MPI_REQUEST_NULL;
    if (takes(form)) {
        r->buffer = &failures; /* a Take overwrites the old value without looking at it */
    } else {
        r->buffer = new_buffer(r->memory, capacity);
        memset(r->buffer, CANARY, capacity);
    }
    switch (form) {
    case RECV: CHECK_CLASS(MPI_Recv(r->buffer, n, MPI_BYTE, source, tag, comm, &r->status), MPI_SUCCESS); break;
    case IRECV: CHECK_CLASS(MPI_Irecv(r->buffer, n, MPI_BYTE, source, tag, comm, &r->request), MPI_SUCCESS); break;
    case TAKE: CHECK_CLASS(OPI_Take(&r->buffer, n, MPI_BYTE, source, tag, comm, &r->status), MPI_SUCCESS); break;
    case ITAKE:
        CHECK_CLASS(OPI_Itake(&r->buffer, n, MPI_BYTE, source, tag, comm, &r->request), MPI_SUCCESS);
        CHECK(r->buffer == NULL);
        break;
    case SENDRECV_RECV:
        CHECK_CLASS(MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, r->buffer, n, MPI_BYTE, source, tag, comm, &r->status),
                    MPI_SUCCESS);
        break;
    case GIVERECV_RECV: /* count 0 accepts a NULL buffer */
        CHECK_CLASS(OPI_Giverecv(&gift, 0, MPI_BYTE, MPI_PROC_NULL, 0, r->buffer, n, MPI_BYTE, source, tag, comm, &r->status),
                    MPI_SUCCESS);
        break;
    case SENDTAKE_TAKE:
        CHECK_CLASS(OPI_Sendtake(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, &r->buffer, n, MPI_BYTE, source, tag, comm, &r->status),
                    MPI_SUCCESS);
        break;
    case GIVETAKE_TAKE: /* Give to MPI_PROC_NULL frees */
        gift = new_buffer(ALLOCATED, 200);
        CHECK_CLASS(OPI_Givetake(&gift, 200, MPI_BYTE, MPI_PROC_NULL, 0, &r->buffer, n, MPI_BYTE, source, tag, comm, &r->status),
                    MPI_SUCCESS);
        CHECK(gift == NULL);
        break;
    default: abort();
    }
}

/* Completes a receive and checks data, status and capacity. */
MAYBE_UNUSED static void end_receive(struct reception *r, size_t bytes, unsigned seed, int source, int tag)
{
    int count = -1;

    if (r->request != MPI_REQUEST_NULL)
        CHECK_CLASS(MPI_Wait(&r->request, &r->status), MPI_SUCCESS);
    CHECK(r->request == MPI_REQUEST_NULL);
    CHECK(r->status.MPI_SOURCE == source);
    CHECK(r->status.MPI_TAG == tag);
    MPI_Get_count(&r->status, MPI_BYTE, &count);
    CHECK(count == (int)bytes);
    CHECK(r->buffer != NULL && r->buffer != (void *)&failures);
    if (r->buffer == NULL || r->buffer == (void *)&failures)
        return;
    CHECK(differs(r->buffer, bytes, seed) == 0);
    if (takes(r->form)) {
        CHECK((uintptr_t)r->buffer % 64 == 0);
        memset(r->buffer, 0x5a, r->capacity);
    } else {
        size_t touched = 0;
        for (size_t i = bytes; i < r->capacity; i++)
            touched += ((unsigned char *)r->buffer)[i] != CANARY;
        CHECK(touched == 0);
    }
    drop_buffer(r->memory, r->buffer);
}

#endif
