/* opi.h - ownership passing for MPI.
 *
 * An MPI message copies a buffer.  When both ranks share memory the sender can hand the buffer itself over: it gives up ownership and the receiver
 * takes it.  These calls do that inside a node and fall back to plain messages across nodes; they match MPI_Send and MPI_Recv in every combination.
 *
 * Ownership.  OPI_Alloc, OPI_Malloc, OPI_Calloc and the Take calls make the caller the owner of a buffer.  OPI_Free and the Give calls end ownership.  Only the owner may touch
 * the buffer.  Every buffer is aligned to 64 bytes and may be allocated before MPI_Init and freed after MPI_Finalize, by any thread.
 *
 * bufp is always the ADDRESS OF THE CALLER'S POINTER, typed void * as in MPI_Alloc_mem:   double *b;   OPI_Alloc(&b, n * sizeof *b);
 * The library copies that pointer with memcpy, so any object pointer type will do.  Passing the pointer itself (OPI_Give(b, ...)) does not compile; a
 * `void *bufp` received from elsewhere is forwarded as (OPI_Give)(bufp, ...), with the parentheses.
 *
 * Every call returns MPI_SUCCESS or an MPI error class raised through the error handler of the communicator (OPI_Alloc, OPI_Free: that of MPI_COMM_SELF
 * when one was set there, else of MPI_COMM_WORLD; outside MPI_Init..MPI_Finalize the class is only returned and one line is printed).
 *
 * Parameters end in an underscore: their plain names may be a program's macros (#define tag 7). */
#ifndef OPI_XFORM_OPI_H
#define OPI_XFORM_OPI_H

#include <stddef.h>

#include <mpi.h>

#define OPI_VERSION_MAJOR 0
#define OPI_VERSION_MINOR 1

/* Messages of at most this many bytes ride inside their envelope, Gives included: nothing is gained by converting them. */
#define OPI_INLINE_LIMIT 48

#if defined(__GNUC__)
#define OPI_API_ __attribute__((visibility("default")))
#else
#define OPI_API_
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates a buffer of at least `length` bytes (0 is allowed and yields a valid buffer) and stores its address in *bufp.
 * Errors: MPI_ERR_NO_MEM (pointer untouched), MPI_ERR_ARG for a NULL bufp.
 * More than PTRDIFF_MAX bytes, what a negative number becomes, are no error to be raised: *bufp is NULL, as malloc says it, and MPI_ERR_NO_MEM is returned. */
OPI_API_ int OPI_Alloc(void *bufp_, size_t length_);

/* A buffer as OPI_Alloc allocates, or NULL where there is no memory, as malloc tells it (errno is ENOMEM): no error is raised then. */
OPI_API_ void *OPI_Malloc(size_t length_);

/* A buffer of at least `count` x `size` bytes, all of them zero, as calloc gives memory; a product that does not fit is more than there is.
 * NULL where OPI_Alloc would return an error (MPI_ERR_NO_MEM, raised where OPI_Alloc raises it). */
OPI_API_ void *OPI_Calloc(size_t count_, size_t size_);

/* Ends the caller's ownership of *bufp and sets *bufp to NULL.  Freeing NULL does nothing.
 * Errors: MPI_ERR_BUFFER for memory the caller does not own: foreign, given away, or freed before. */
OPI_API_ int OPI_Free(void *bufp_);

/* Sends `count` elements that start at *bufp and ends the caller's ownership: *bufp is NULL on return.  Matches any receive or Take.  Completes like
 * MPI_Send (standard mode).  dest may be MPI_PROC_NULL: the buffer is freed.  count 0 accepts a NULL buffer.
 * Errors leave *bufp and the ownership as they were: MPI_ERR_BUFFER, COUNT, TYPE, TAG, COMM, RANK, NO_MEM. */
OPI_API_ int OPI_Give(void *bufp_, int count_, MPI_Datatype datatype_, int dest_, int tag_, MPI_Comm comm_);

/* OPI_Give that completes like MPI_Ssend: when the message is being received. */
OPI_API_ int OPI_Sgive(void *bufp_, int count_, MPI_Datatype datatype_, int dest_, int tag_, MPI_Comm comm_);

/* Receives a message as MPI_Recv does, into a buffer that the caller owns afterwards and whose address is stored in *bufp.  The buffer holds at least
 * count x extent bytes, also for a shorter message, for source MPI_PROC_NULL and when the message was truncated (MPI_ERR_TRUNCATE).  The old value
 * of *bufp is overwritten, not freed. */
OPI_API_ int OPI_Take(void *bufp_, int count_, MPI_Datatype datatype_, int source_, int tag_, MPI_Comm comm_, MPI_Status *status_);

/* MPI_Recv into a buffer that the caller owns, or OPI_Take: what arrives is taken, and the buffer that *bufp named before is freed (NULL: there was none).
 * From source MPI_PROC_NULL nothing arrives: the caller keeps the buffer with its contents.  Where nothing is taken for an error, it is kept, too.
 * Errors: those of OPI_Take, and MPI_ERR_BUFFER for memory that the caller does not own. */
OPI_API_ int OPI_Take_replace(void *bufp_, int count_, MPI_Datatype datatype_, int source_, int tag_, MPI_Comm comm_, MPI_Status *status_);

/* OPI_Give that returns at once.  *bufp is NULL on return; the request completes through the MPI_Wait and MPI_Test families. */
OPI_API_ int OPI_Igive(void *bufp_, int count_, MPI_Datatype datatype_, int dest_, int tag_, MPI_Comm comm_, MPI_Request *request_);

/* OPI_Take that returns at once.  *bufp is NULL on return and is set by the call that completes the request (MPI_Wait*, MPI_Test*), so the pointer
 * must stay where it is until then.  A cancelled Itake leaves NULL. */
OPI_API_ int OPI_Itake(void *bufp_, int count_, MPI_Datatype datatype_, int source_, int tag_, MPI_Comm comm_, MPI_Request *request_);

/* OPI_Take_replace that returns at once.  From a source that is a rank, or MPI_ANY_SOURCE, *bufp is NULL on return and set by the call that completes the
 * request, as with OPI_Itake; from MPI_PROC_NULL it is not touched, neither now nor then. */
OPI_API_ int OPI_Itake_replace(void *bufp_, int count_, MPI_Datatype datatype_, int source_, int tag_, MPI_Comm comm_, MPI_Request *request_);

/* MPI_Sendrecv with one or both sides passing ownership.  A side that passes ownership has the address of a pointer in the place of its buffer.
 * sendbufp and recvbufp may be the same pointer: it is given first and taken after. */
OPI_API_ int OPI_Givetake(void *sendbufp_, int sendcount_, MPI_Datatype sendtype_, int dest_, int sendtag_, void *recvbufp_, int recvcount_,
                          MPI_Datatype recvtype_, int source_, int recvtag_, MPI_Comm comm_, MPI_Status *status_);
OPI_API_ int OPI_Giverecv(void *sendbufp_, int sendcount_, MPI_Datatype sendtype_, int dest_, int sendtag_, void *recvbuf_, int recvcount_,
                          MPI_Datatype recvtype_, int source_, int recvtag_, MPI_Comm comm_, MPI_Status *status_);
OPI_API_ int OPI_Sendtake(const void *sendbuf_, int sendcount_, MPI_Datatype sendtype_, int dest_, int sendtag_, void *recvbufp_, int recvcount_,
                          MPI_Datatype recvtype_, int source_, int recvtag_, MPI_Comm comm_, MPI_Status *status_);

/* MPI_Sendrecv_replace that passes ownership both ways: *bufp is given, and what arrives is taken into *bufp.  From source MPI_PROC_NULL nothing arrives:
 * the caller keeps the buffer with its contents, and a copy is sent. */
OPI_API_ int OPI_Givetake_replace(void *bufp_, int count_, MPI_Datatype datatype_, int dest_, int sendtag_, int source_, int recvtag_, MPI_Comm comm_,
                                  MPI_Status *status_);

#ifdef __cplusplus
}

template <class T_> static inline void *opi_pointer_address_(T_ **p_) {
    return const_cast<void *>(static_cast<const void *>(p_));
}
#define OPI_BUFP_(p) opi_pointer_address_(p)
#else
/* Nothing here is evaluated but the last operand.  The first sizeof rejects what is no pointer to a pointer, the second a pointer that cannot be set. */
#define OPI_BUFP_(p) ((void)sizeof(&**(p)), (void)sizeof(*(p) = (void *)0), (void *)(p))
#endif

#define OPI_Alloc(bufp, length) (OPI_Alloc)(OPI_BUFP_(bufp), length)
#define OPI_Free(bufp) (OPI_Free)(OPI_BUFP_(bufp))
#define OPI_Give(bufp, count, datatype, dest, tag, comm) (OPI_Give)(OPI_BUFP_(bufp), count, datatype, dest, tag, comm)
#define OPI_Sgive(bufp, count, datatype, dest, tag, comm) (OPI_Sgive)(OPI_BUFP_(bufp), count, datatype, dest, tag, comm)
#define OPI_Take(bufp, count, datatype, source, tag, comm, status) (OPI_Take)(OPI_BUFP_(bufp), count, datatype, source, tag, comm, status)
#define OPI_Take_replace(bufp, count, datatype, source, tag, comm, status) \
    (OPI_Take_replace)(OPI_BUFP_(bufp), count, datatype, source, tag, comm, status)
#define OPI_Igive(bufp, count, datatype, dest, tag, comm, request) (OPI_Igive)(OPI_BUFP_(bufp), count, datatype, dest, tag, comm, request)
#define OPI_Itake(bufp, count, datatype, source, tag, comm, request) (OPI_Itake)(OPI_BUFP_(bufp), count, datatype, source, tag, comm, request)
#define OPI_Itake_replace(bufp, count, datatype, source, tag, comm, request) \
    (OPI_Itake_replace)(OPI_BUFP_(bufp), count, datatype, source, tag, comm, request)
#define OPI_Givetake(sp, sc, st, dest, stag, rp, rc, rt, source, rtag, comm, status) \
    (OPI_Givetake)(OPI_BUFP_(sp), sc, st, dest, stag, OPI_BUFP_(rp), rc, rt, source, rtag, comm, status)
#define OPI_Giverecv(sp, sc, st, dest, stag, rb, rc, rt, source, rtag, comm, status) \
    (OPI_Giverecv)(OPI_BUFP_(sp), sc, st, dest, stag, rb, rc, rt, source, rtag, comm, status)
#define OPI_Sendtake(sb, sc, st, dest, stag, rp, rc, rt, source, rtag, comm, status) \
    (OPI_Sendtake)(sb, sc, st, dest, stag, OPI_BUFP_(rp), rc, rt, source, rtag, comm, status)
#define OPI_Givetake_replace(bufp, count, datatype, dest, stag, source, rtag, comm, status) \
    (OPI_Givetake_replace)(OPI_BUFP_(bufp), count, datatype, dest, stag, source, rtag, comm, status)

#endif
