/* Both borders come into arrays of the function, which are read only where there is a neighbour; a loop waits for all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double borders(double *x, int n, int rank, int size)
{
    double mine[n], theirs[n];
    MPI_Request sends[2], receives[2];
    double total = 0;

    for (int i = 0; i < 2; i++) {
        sends[i] = MPI_REQUEST_NULL;
        receives[i] = MPI_REQUEST_NULL;
    }
    for (int i = 0; i < n; i++)
        mine[i] = x[i * n + 1];
    if (rank > 0)
        MPI_Isend(mine, n, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, &sends[0]); //~ give(mine)
    if (rank < size - 1)
        MPI_Irecv(theirs, n, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD, &receives[1]); //~ take(theirs)
    for (int i = 0; i < 2; i++) {
        MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
        MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    }
    if (rank < size - 1)
        for (int i = 0; i < n; i++)
            total += theirs[i] * (i % 7 + 1);
    return total;
}

int main(int argc, char **argv)
{
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 300;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *x = malloc(n * n * sizeof *x);
    for (int i = 0; i < n * n; i++)
        x[i] = rank + 0.5 * i;
    printf("%d: %.17g\n", rank, borders(x, n, rank, size));
    free(x);
    MPI_Finalize();
    return 0;
}
