/* By a switch. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n;
    double total = 0.0;
    double *u;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    switch (rank) {
    case 0:
        n = 600 + argc;
        u = malloc(n * sizeof(double));
        for (int i = 0; i < n; i++)
            u[i] = 0.25 * i;
        for (int i = 1; i < size; i++) {
            MPI_Send(&n, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
            MPI_Send(u, n, MPI_DOUBLE, i, 1, MPI_COMM_WORLD);
        }
        break;
    default:
        MPI_Recv(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        u = malloc(n * sizeof(double));
        MPI_Recv(u, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(u)
    }
    for (int i = 0; i < n; i++)
        total += u[i] * (i % 5 + rank);
    free(u);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
