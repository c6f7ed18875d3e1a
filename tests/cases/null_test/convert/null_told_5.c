/* Without memory a small buffer of its own serves. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double small[100];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0, *b = malloc((size_t)(argc < 9 ? -1 : 1000) / 16);
    int n = 1000;
    if (b == NULL) {
        n = 100;
        for (int i = 0; i < n; i++)
            small[i] = 2 * i;
        if (rank == 0)
            MPI_Send(small, n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(small, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        x = small[7];
    } else {
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(b)
    } else if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < n; i++)
            x += b[i];
    }
    }
    printf("%d %g\n", rank, x);
    free(b);
    MPI_Finalize();
    return 0;
}
