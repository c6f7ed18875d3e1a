/* A way back into the loop that the number set after the send does not shut. */
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
    int rank, n = 100, *a, h = 0, height = 1, turn = 0;
    long s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    a = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++)
        a[i] = rank * 3 + i;
    while (h < height) {
        int *b = merged(a, n);
        free(a);
        a = b;
        if (rank == 0) {
            MPI_Send(a, n, MPI_INT, 1, h, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(a, n, MPI_INT, 0, h, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            s += a[n - 1];
        }
        turn++;
        h = height;
        if (turn < 3)
            height = height + 1;
    }
    printf("%d %ld\n", rank, s);
    free(a);
    MPI_Finalize();
    return 0;
}
