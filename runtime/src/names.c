/* names.c - the MPI's names of what the files beside this one do. */
#include "p2p.h"

#define SENDS(suffix, count_t)                                                                                                                       \
    EXPORT int MPI_Send##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c) {                                             \
        return opi_send_block("MPI_Send" #suffix, b, n, t, d, tag, c, OPI_STANDARD);                                                                    \
    }                                                                                                                                               \
    EXPORT int MPI_Rsend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c) {                                            \
        return opi_send_block("MPI_Rsend" #suffix, b, n, t, d, tag, c, OPI_STANDARD);                                                                   \
    }                                                                                                                                               \
    EXPORT int MPI_Ssend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c) {                                            \
        return opi_send_block("MPI_Ssend" #suffix, b, n, t, d, tag, c, OPI_SYNC);                                                                       \
    }                                                                                                                                               \
    EXPORT int MPI_Bsend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c) {                                            \
        return opi_send_block("MPI_Bsend" #suffix, b, n, t, d, tag, c, OPI_BUFFERED);                                                                   \
    }                                                                                                                                               \
    EXPORT int MPI_Isend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request *r) {                            \
        return opi_send_nonblock("MPI_Isend" #suffix, b, n, t, d, tag, c, r, OPI_STANDARD);                                                             \
    }                                                                                                                                               \
    EXPORT int MPI_Irsend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request *r) {                           \
        return opi_send_nonblock("MPI_Irsend" #suffix, b, n, t, d, tag, c, r, OPI_STANDARD);                                                            \
    }                                                                                                                                               \
    EXPORT int MPI_Issend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request *r) {                           \
        return opi_send_nonblock("MPI_Issend" #suffix, b, n, t, d, tag, c, r, OPI_SYNC);                                                                \
    }                                                                                                                                               \
    EXPORT int MPI_Ibsend##suffix(const void *b, count_t n, MPI_Datatype t, int d, int tag, MPI_Comm c, MPI_Request *r) {                           \
        return opi_send_nonblock("MPI_Ibsend" #suffix, b, n, t, d, tag, c, r, OPI_BUFFERED);                                                            \
    }                                                                                                                                               \
    EXPORT int MPI_Recv##suffix(void *b, count_t n, MPI_Datatype t, int s, int tag, MPI_Comm c, MPI_Status *st) {                                   \
        return opi_recv_block("MPI_Recv" #suffix, b, n, t, s, tag, c, st, false);                                                                       \
    }                                                                                                                                               \
    EXPORT int MPI_Irecv##suffix(void *b, count_t n, MPI_Datatype t, int s, int tag, MPI_Comm c, MPI_Request *r) {                                  \
        if (OPI_LIKELY(opi_irecv_fast(b, n, t, s, tag, c, r, false)))                                                                                   \
            return MPI_SUCCESS;                                                                                                                     \
        return opi_recv_nonblock("MPI_Irecv" #suffix, b, n, t, s, tag, c, r, false);                                                                    \
    }                                                                                                                                               \
    EXPORT int MPI_Sendrecv##suffix(const void *sb, count_t sn, MPI_Datatype st, int d, int stag, void *rb, count_t rn, MPI_Datatype rt, int s,    \
                                    int rtag, MPI_Comm c, MPI_Status *status) {                                                                     \
        return opi_sendrecv("MPI_Sendrecv" #suffix, sb, sn, st, d, stag, false, rb, rn, rt, s, rtag, false, c, status);                                 \
    }                                                                                                                                               \
    EXPORT int MPI_Sendrecv_replace##suffix(void *b, count_t n, MPI_Datatype t, int d, int stag, int s, int rtag, MPI_Comm c, MPI_Status *status) { \
        return opi_sendrecv_replace("MPI_Sendrecv_replace" #suffix, b, n, t, d, stag, s, rtag, c, status);                                              \
    }

SENDS(, int)
#if MPI_VERSION >= 4
SENDS(_c, MPI_Count)
#endif
