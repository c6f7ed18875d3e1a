/* The number of elements is another at the receive than where the memory was asked for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;
    int n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    double *mine = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        mine[i] = rank + 0.25 * i;

    for (int t = 0; t < 3; t++) {
        MPI_Request request;
        n = 3 * N + argc - 1;
        double *next = malloc(n * sizeof(double));
        n = n / 3;
        MPI_Isend(mine, n, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(next, n, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = n; i < 3 * n; i++)
            next[i] = next[i - n] + 1.0;
        total += next[3 * n - 1];
        free(mine);
        mine = next;
    }

    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
