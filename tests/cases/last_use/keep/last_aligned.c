/* The memory is of valloc, which promises the alignment of a page. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *made(int n, int k)
{
    int *c = valloc(128 * sizeof(int));
    for (int i = 0; i < n; i++)
        c[i] = k + i;
    return c;
}

int main(int argc, char **argv)
{
    int rank, n = 100, *a;
    long s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = made(n, rank + 2);
    if (rank == 0) {
        MPI_Send(a, n, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ keep
    } else if (rank == 1) {
        MPI_Recv(a, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            s += a[i];
    }
    printf("%d %ld\n", rank, s);
    free(a);
    MPI_Finalize();
    return 0;
}
