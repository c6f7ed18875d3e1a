/* The next turn of the loop reads the block where nothing has taken its place. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *merged(int *a, int *b, int n)
{
    int *c = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        c[i] = a[i] > b[i] ? a[i] : b[i];
    return c;
}

int main(int argc, char **argv)
{
    int rank, n = 100, *a, *b;
    long s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = malloc(n * sizeof(int));
    b = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        a[i] = b[i] = rank * 3 + i;
    for (int t = 0; t < 4; t++) {
        if (t % 2 == 0) {
            int *c = merged(a, b, n);
            free(a);
            a = c;
        } else if (rank == 0) {
            MPI_Send(a, n, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(b, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            s += b[n - 1];
        }
    }
    printf("%d %ld\n", rank, s);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
