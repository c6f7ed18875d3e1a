/* A definition of the old kind: its list has names only. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double old(b, n, rank)
    double *b;
    int n, rank;
{
    double sum = 0.0;

    b = malloc(n * sizeof *b);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
        for (int i = 0; i < n; i++)
            b[i] = -i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int k = 0; k < 2; k++) {
            MPI_Recv(b, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            for (int i = 0; i < n; i++)
                sum += b[i] * (k + 1);
        }
    }
    free(b);
    return sum;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("%d: %.17g\n", rank, old((double *)NULL, 60, rank));
    MPI_Finalize();
    return 0;
}
