/* One block goes to two ranks: the second send needs what the first one sends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *doubled(int *a, int n)
{
    int *c = malloc(2 * n * sizeof(int));
    for (int i = 0; i < 2 * n; i++)
        c[i] = a[i / 2];
    return c;
}

int main(int argc, char **argv)
{
    int rank, n = 100, *a;
    long s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        a[i] = i + rank;
    if (rank == 0) {
        int *old = a;
        a = doubled(a, n);
        free(old);
        for (int tag = 0; tag < 2; tag++)
            MPI_Send(a, 2 * n, MPI_INT, 1, tag, MPI_COMM_WORLD); //~ keep
        free(a);
    } else {
        free(a);
        a = malloc(2 * n * sizeof(int));
        for (int tag = 0; tag < 2 && rank == 1; tag++) {
            MPI_Recv(a, 2 * n, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            s += a[2 * n - 1];
        }
        free(a);
    }
    printf("%d %ld\n", rank, s);
    MPI_Finalize();
    return 0;
}
