/* The declaration of the array goes on to a variable by the name that is its length. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank;
    const int rows = 8, cols = 10;
    double total = 0.0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 8, m = 10;
    {
        int out[n * m], n = 2, k = n;

        total += k;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < cols; j++)
                    out[i * cols + j] = i + j + step;
            MPI_Send(out, rows * cols, MPI_INT, 1, 7, MPI_COMM_WORLD); //~ keep(out) OPI114
        } else if (rank == 1) {
            int *in = malloc(80 * sizeof *in);
            MPI_Recv(in, 80, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 80; i++)
                total += in[i] * (i + 1);
            free(in);
        }
    }
    printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
