/* A variable number of rows, each a message: an array of pointers with so many cells has no initialiser. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define M 300

int main(int argc, char **argv)
{
    int rank, n;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = 3 + argc;
    double t[n][M];

    for (int r = 0; r < n; r++) {
        if (rank == 0) {
            for (int i = 0; i < M; i++)
                t[r][i] = r + 0.5 * i;
            MPI_Send(t[r], M, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        } else if (rank == 1) {
            MPI_Recv(t[r], M, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
            for (int i = 0; i < M; i++)
                total += t[r][i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
