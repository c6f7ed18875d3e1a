/* The memory of the first turn is read when that of the second has come. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n;
    double total = 0.0;
    double *u;
    double *first = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = 700;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 0) {
            u = malloc(n * sizeof(double));
            for (int i = 0; i < n; i++)
                u[i] = 0.5 * i;
            first = u;
            if (rank == 0)
                MPI_Send(u, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep(u)
        } else if (rank > 0) {
            u = malloc(n * sizeof(double));
            u[0] = 0.0;
            MPI_Recv(u, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(u)
        }
    }
    for (int i = 0; i < n; i++)
        total += u[i] * (i % 5 + rank);
    total += first[7];
    free(u);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
