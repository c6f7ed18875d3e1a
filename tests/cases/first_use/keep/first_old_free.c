/* The block that malloc gave is freed by the name that it had before the receive. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    double *mine = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        mine[i] = rank + 0.25 * i;

    for (int t = 0; t < 3; t++) {
        double *next = malloc(N * sizeof(double));
        double *same;
        MPI_Request request;
        double *other = malloc(sizeof(double));
        same = t < 2 ? next : other;
        MPI_Isend(mine, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(next, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++) {
            mine[i] = next[i];
            total += next[i] * (i % 7);
        }
        free(same);
        free(t < 2 ? other : next);
    }

    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
