/* What is freed may be memory that is there besides what is received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n;
    double total = 0.0;
    double *u;
    double *mine = malloc(900 * sizeof(double));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 900; i++)
        mine[i] = i;
    if (rank == 0) {
        n = 600 + argc;
        u = mine;
        for (int i = 0; i < n; i++)
            u[i] = 0.25 * i;
        for (int i = 1; i < size; i++) {
            MPI_Send(&n, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
            MPI_Send(u, n, MPI_DOUBLE, i, 1, MPI_COMM_WORLD); //~ keep(u)
        }
    } else {
        MPI_Recv(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        u = malloc(n * sizeof(double));
        u[0] = 0.0;
        MPI_Recv(u, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI215
    }
    for (int i = 0; i < n; i++)
        total += u[i] * (i % 5 + rank);
    total += mine[3];
    free(u);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
