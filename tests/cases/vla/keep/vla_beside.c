/* The next variable of the declaration changes the number that was the length. */
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
        double a[n], b = n -= 100;
        if (rank == 0) {
            for (int j = 0; j < n + 100; j++)
                a[j] = j + i;
            MPI_Send(a, n + 100, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a) OPI114
        } else if (rank == 1) {
            MPI_Recv(a, n + 100, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(a) OPI215
            for (int j = 0; j < n + 100; j++)
                total += a[j] * (j + 1);
        }
        total += b;
    }
    free(sizes);
    printf("%d: %.17g %d\n", rank, total, n);
    MPI_Finalize();
    return 0;
}
