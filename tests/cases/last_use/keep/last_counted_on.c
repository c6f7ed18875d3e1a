/* What the call returns is added to an element of the block, or to what a pointer leads to: C orders them in no way. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

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
    double *a, *b, s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = made(n, rank);
    b = a;
    if (rank == 0) {
        b[1] += MPI_Send(a, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD) != MPI_SUCCESS; //~ keep
    } else if (rank == 1) {
        MPI_Recv(a, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s = a[n - 1];
    }
    printf("%d %.17g\n", rank, s);
    free(a);
    MPI_Finalize();
    return 0;
}
