/* Macros that are called like a call's parameters, in a header that includes mpi.h. */
#include "all.h"

static T in[count], out[count], total;

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    for (int turn = 0; turn < argc + 2; turn++) {
        for (int i = 0; i < length; i++)
            out[i] = turn + p * i;
        MPI_Sendrecv(out, count, datatype, dest, tag, bufp, count, datatype, source, tag, comm, status);
        for (int i = 0; i < count; i++)
            total += bufp[i] * (i + size);
    }
    printf("%d %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
