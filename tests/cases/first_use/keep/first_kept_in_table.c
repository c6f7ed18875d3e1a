/* The address stands in a table before the receive, and the block is read from there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;
    static double *table[3];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    double *mine = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        mine[i] = rank + 0.25 * i;

    for (int t = 0; t < 3; t++) {
        double *next = malloc(N * sizeof(double));
        MPI_Request request;
        table[t] = next;
        MPI_Isend(mine, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(next, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (t == 0)
            free(mine);
        mine = next;
    }
    for (int t = 0; t < 3; t++)
        total += table[t][t + 1];
    free(table[0]);
    free(table[1]);

    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
