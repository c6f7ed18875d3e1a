/* The length is a number in an array. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, n = 2000;
    double total = 0.0;
    int *sizes = malloc(8 * sizeof *sizes);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 8; i++)
        sizes[i] = 2000 + 10 * i;
    for (int i = 0; i < 8; i++) {
        double a[sizes[i]];
        if (rank == 0) {
            for (int j = 0; j < sizes[i]; j++)
                a[j] = j + i;
            MPI_Send(a, sizes[i], MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(a, sizes[i], MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
            for (int j = 0; j < sizes[i]; j++)
                total += a[j] * (j + 1);
        }
    }
    free(sizes);
    printf("%d: %.17g %d\n", rank, total, n);
    MPI_Finalize();
    return 0;
}
