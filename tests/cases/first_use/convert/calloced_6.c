/* A receive from nobody leaves the zeros. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 120

static double *from_below(int rank)
{
    int from = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    double *row = calloc(N, sizeof(double));
    MPI_Recv(row, N, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(row)
    return row;
}

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0, *row;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    row = from_below(rank);
    for (int i = 0; i < N; i++) {
        row[i] += rank + 0.5 * i;
        sum += row[i] * (i + 1);
    }
    if (rank + 1 < size)
        MPI_Send(row, N, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD); //~ give(row)
    free(row);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
