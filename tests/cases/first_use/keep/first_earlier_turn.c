/* The memory that a turn of the loop asks for is received into in the next one, with a number of elements of that turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

int main(int argc, char **argv)
{
    int rank, size, n = 0, had = 0;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    double *next = malloc(N * sizeof(double));
    double *mine = malloc(4 * N * sizeof(double));
    for (int i = 0; i < 4 * N; i++)
        mine[i] = rank + 0.25 * i;

    for (int t = 0; t < 4; t++) {
        MPI_Request request;
        n = (4 - t) * N;
        if (t == 0) {
            free(next);
            next = malloc(n * sizeof(double));
        }
        MPI_Isend(mine, n, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(next, n, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = n; i < had; i++)
            next[i] = next[i - n] + 1.0;
        total += next[n - 1] + (t > 0 ? next[had - 1] : 0.0);
        had = n;
        free(mine);
        mine = next;
        next = malloc(n * sizeof(double));
    }
    free(next);

    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
