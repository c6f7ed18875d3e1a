/* The buffer is asked for anew in every turn; without memory the turn is left out. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double x = 0;
    int n = 1000;
    for (int k = 0; k < 3; k++) {
        double *b = malloc(k == 1 ? (size_t)1 << 50 : 8000);
        if (!b)
            continue;
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            b[i] = i;
        MPI_Send(b, n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(b)
    } else if (rank == 1) {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
        for (int i = 0; i < n; i++)
            x += b[i];
    }
        free(b);
    }
    printf("%d %g\n", rank, x);
    MPI_Finalize();
    return 0;
}
