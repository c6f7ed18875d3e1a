/* cover.c - forms of point-to-point communication that libopi does not carry yet.
 *
 * Letting them through to the MPI below would lose messages: their partner may be a call that libopi carries.  So each ends the job with a line that names it.
 * With OPI_DISABLE=1 they are the MPI's own. */
#include "internal.h"

#define EXPORT __attribute__((visibility("default")))

#define NOT_COVERED(name, args, below) \
    EXPORT int name args {             \
        if (!opi.disabled)             \
            opi_uncovered(#name);      \
        return below;                  \
    }

NOT_COVERED(MPI_Mprobe, (int s, int tag, MPI_Comm c, MPI_Message *m, MPI_Status *st), PMPI_Mprobe(s, tag, c, m, st))
NOT_COVERED(MPI_Improbe, (int s, int tag, MPI_Comm c, int *f, MPI_Message *m, MPI_Status *st), PMPI_Improbe(s, tag, c, f, m, st))

#if MPI_VERSION >= 4
#define CC MPI_Count
NOT_COVERED(MPI_Isendrecv_c,
            (const void *sb, CC sn, MPI_Datatype st, int d, int stag, void *rb, CC rn, MPI_Datatype rt, int s, int rtag, MPI_Comm c, MPI_Request *r),
            PMPI_Isendrecv_c(sb, sn, st, d, stag, rb, rn, rt, s, rtag, c, r))
NOT_COVERED(MPI_Isendrecv_replace_c, (void *b, CC n, MPI_Datatype t, int d, int stag, int s, int rtag, MPI_Comm c, MPI_Request *r),
            PMPI_Isendrecv_replace_c(b, n, t, d, stag, s, rtag, c, r))
#endif

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
NOT_COVERED(MPI_Psend_init, (const void *b, int k, MPI_Count n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Info i, MPI_Request *r),
            PMPI_Psend_init(b, k, n, t, p, tag, c, i, r))
NOT_COVERED(MPI_Precv_init, (void *b, int k, MPI_Count n, MPI_Datatype t, int p, int tag, MPI_Comm c, MPI_Info i, MPI_Request *r),
            PMPI_Precv_init(b, k, n, t, p, tag, c, i, r))
NOT_COVERED(MPI_Isendrecv,
            (const void *sb, int sn, MPI_Datatype st, int d, int stag, void *rb, int rn, MPI_Datatype rt, int s, int rtag, MPI_Comm c, MPI_Request *r),
            PMPI_Isendrecv(sb, sn, st, d, stag, rb, rn, rt, s, rtag, c, r))
NOT_COVERED(MPI_Isendrecv_replace, (void *b, int n, MPI_Datatype t, int d, int stag, int s, int rtag, MPI_Comm c, MPI_Request *r),
            PMPI_Isendrecv_replace(b, n, t, d, stag, s, rtag, c, r))
#endif
