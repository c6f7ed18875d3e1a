/* A function that calls itself allocates, frees and sends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long down(int *a, int n, int depth, int rank)
{
    long s = 0;
    int *b = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        b[i] = a[i] + depth;
    if (depth > 0)
        s = down(b, n, depth - 1, rank);
    if (rank == 0)
        MPI_Send(b, n, MPI_INT, 1, depth, MPI_COMM_WORLD); //~ keep
    else if (rank == 1)
        MPI_Recv(b, n, MPI_INT, 0, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        s += b[n - 1];
    free(b);
    return s;
}

int main(int argc, char **argv)
{
    int rank, n = 100, *a;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        a[i] = i + rank;
    printf("%d %ld\n", rank, down(a, n, 3, rank));
    free(a);
    MPI_Finalize();
    return 0;
}
