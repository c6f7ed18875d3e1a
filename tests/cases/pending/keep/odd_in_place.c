/* Rows of a live matrix are sent and received in place. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

#define R 4

static double m[R][N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < R; i++)
        for (int j = 0; j < N; j++)
            m[i][j] = rank + i + 0.5 * j;
    if (rank == 0)
        MPI_Send(m[1], N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
    else if (rank == 1)
        MPI_Recv(m[2], N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    double total = 0.0;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < N; j++)
            total += m[i][j] * (i + j);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
