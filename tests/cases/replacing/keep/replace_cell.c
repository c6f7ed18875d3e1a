/* The buffer is a row of a live matrix. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static double u[4][N];

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < N; i++)
            u[r][i] = rank + 0.5 * i + r;
    MPI_Sendrecv_replace(u[1], N, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < N; i++)
            total += u[r][i] * (i % 5);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
