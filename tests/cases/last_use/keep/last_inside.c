/* What is sent begins inside the block, and may not be given away. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    double *a, *whole, s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    whole = made(n, rank);
    a = whole;
    if (rank == 0) {
        a = a + 10;
        MPI_Send(a, n - 10, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
    } else if (rank == 1) {
        MPI_Recv(a, n - 10, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s = a[n - 11];
    }
    printf("%d %.17g\n", rank, s);
    if (rank != 0)
        free(whole);
    MPI_Finalize();
    return 0;
}
