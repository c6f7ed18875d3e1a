/* A function makes the block, receives into it, and hands it out; the caller has it under two names, one after the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

static double *arrival(int from, int n)
{
    double *block = malloc(n * sizeof(double));
    MPI_Recv(block, n, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(block)
    return block;
}

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
        MPI_Request request;
        MPI_Isend(mine, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request);
        double *next = arrival(from, N);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += next[i] * (i % 7);
        free(mine);
        mine = next;
    }

    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
