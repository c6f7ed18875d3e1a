/* The address of the block is in a table, too, by which it is read after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *table[2];

static double *made(int n, int k)
{
    double *c = malloc(n * sizeof *c);
    for (int i = 0; i < n; i++)
        c[i] = k + i;
    return c;
}

int main(int argc, char **argv)
{
    int rank, n = 100;
    double *a, s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = made(n, 1);
    table[rank % 2] = a;
    if (rank == 0) {
        MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
    } else if (rank == 1) {
        MPI_Recv(a, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < n; i++)
        s += table[rank % 2][i];
    printf("%d %.17g\n", rank, s);
    free(a);
    MPI_Finalize();
    return 0;
}
