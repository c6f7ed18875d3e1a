/* The calls name the first element by an index that is 0 times a row's length. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 32

int main(int argc, char **argv)
{
    int rank, n = 64;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *out = malloc(n * ROWS * sizeof(double)), *in = malloc(n * ROWS * sizeof(double));
    if (rank == 0) {
        for (int i = 0; i < n * ROWS; i++)
            out[i] = 0.5 * i;
        MPI_Send(&out[0 + 0 * n], n * ROWS, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
    } else if (rank == 1) {
        MPI_Recv(&in[n * 0], n * ROWS, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
        double total = 0.0;
        for (int i = 0; i < n * ROWS; i++)
            total += in[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
