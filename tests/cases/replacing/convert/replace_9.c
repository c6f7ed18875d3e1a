/* The largest unsigned number becomes MPI_PROC_NULL's as a source. */
//~ replaces: MPI_Recv from MPI_PROC_NULL leaves what was there, and so does OPI_Take_replace
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000
#define NOBODY (MPI_PROC_NULL == -1 ? UINT_MAX : UINT_MAX - 1)

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    unsigned left = rank > 0 ? (unsigned)rank - 1 : NOBODY;
    double *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
    for (int i = 0; i < N; i++)
        in[i] = 1000 + i;
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < N; i++)
            out[i] = rank + 0.5 * i * turn;
        if (rank + 1 < size)
            MPI_Send(out, N, MPI_DOUBLE, rank + 1, 5, MPI_COMM_WORLD); //~ give(out)
        MPI_Recv(in, N, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        for (int i = 0; i < N; i++)
            total += in[i] * (i % 13 + 1);
    }
    free(in);
    free(out);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
