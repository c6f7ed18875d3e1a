/* Text that another configuration compiles reads the block after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int *merged(int *a, int n)
{
    int *c = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        c[i] = a[i] * 2;
    return c;
}

int main(int argc, char **argv)
{
    int rank, n = 100, *a, *b;
    long s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        a[i] = rank * 3 + i;
    b = merged(a, n);
    free(a);
    a = b;
    if (rank == 0) {
        MPI_Send(a, n, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ keep
#ifdef SHOW
        printf("%d\n", b[0]);
#endif
    } else if (rank == 1) {
        int *in = malloc(n * sizeof(int));
        MPI_Recv(in, n, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s = in[n - 1];
        free(in);
    }
    printf("%d %ld\n", rank, s);
    free(a);
    MPI_Finalize();
    return 0;
}
