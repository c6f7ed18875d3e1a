/* Two receives at a time into one buffer, as a slip of the pen makes them: an error, but the second need not be broken by
   what the first turns into. */
#include <mpi.h>
#include <stdio.h>

#define N 512

static double out[N], in[N];

int main(int argc, char **argv)
{
    int rank;
    MPI_Request requests[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 3; turn++) {
        int count = 0;
        for (int i = 0; i < N; i++)
            out[i] = rank + i;
        if (rank == 1)
            MPI_Irecv(in, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests[count++]); //~ keep(in) OPI206
        if (rank == 1)
            MPI_Irecv(in, N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &requests[count++]); //~ keep(in) OPI206
        if (rank == 0)
            for (int tag = 1; tag <= 2; tag++)
                MPI_Send(out, N, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD); //~ keep(out)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
    printf("%d: %g\n", rank, out[N - 1]);
    MPI_Finalize();
    return 0;
}
