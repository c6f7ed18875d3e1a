/* The rounding mode changes before the wait. */
#include <fenv.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double in[64], out[64];

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    volatile double given = size + 0.4;
    double half = given;
    double sum = 0;
    for (int i = 0; i < 64; i++)
        in[i] = rank + i;
    for (int t = 0; t < 4; t++) {
        for (int i = 0; i < 64; i++)
            out[i] = rank + t + i;
        MPI_Request rq;
        if (rank < (int)rint(half))
            MPI_Irecv(in, 64, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &rq); //~ keep(in) OPI206
        MPI_Send(out, 64, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD); //~ give(out)
        fesetround(t % 2 ? FE_TONEAREST : FE_UPWARD);
        if (rank < (int)rint(half))
            MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < 64; i++)
            sum += in[i] * (i + t);
    }
    printf("%d %g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
