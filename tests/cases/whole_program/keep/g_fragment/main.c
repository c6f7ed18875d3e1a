/* Two functions have the same text, which a file has that is included inside them: each fills one half. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double out[N], in[N];

static void low(int rank)
{
    int first = 0;

#include "fill.inc"
}

static void high(int rank)
{
    int first = N / 2;

#include "fill.inc"
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            low(rank);
            high(rank + t);
            MPI_Send(out, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI112
        } else if (rank == 1) {
            MPI_Recv(in, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += in[i] * (i % 5);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
