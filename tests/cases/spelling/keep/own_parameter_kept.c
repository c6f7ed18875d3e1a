/* The caller's pointer is kept first, and read after the message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double *last;

static void post(double *b, int n, int rank)
{
    if (n > 40)
        b = last = malloc(n * sizeof *b);
    for (int i = 0; i < n; i++)
        b[i] = rank + i;
    if (rank == 0)
        MPI_Send(b, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep
    else if (rank == 1)
        MPI_Recv(b, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
}

int main(int argc, char **argv)
{
    int rank;
    double small[40] = {0.0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    post(small, 40, rank);
    post(small, 90, rank);
    printf("%d: %.17g %.17g\n", rank, small[7], last[8]);
    free(last);
    MPI_Finalize();
    return 0;
}
