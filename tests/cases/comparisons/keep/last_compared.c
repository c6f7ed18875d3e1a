/* The pointer tells after the send whether there was a result. */
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
    int rank, n = 100, had = 0;
    double *a = NULL, s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < 2)
        a = made(n, rank);
    if (rank == 0) {
        MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
    } else if (rank == 1) {
        MPI_Recv(a, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s = a[n - 1];
    }
    if (a != NULL)
        had++;
    printf("%d %d %.17g\n", rank, had, s);
    free(a);
    MPI_Finalize();
    return 0;
}
