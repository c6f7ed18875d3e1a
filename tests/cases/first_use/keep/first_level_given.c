/* A deeper level is given the block, and marks it before the receive of a shorter message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

static double *mine;

static double deeper(double *given, int depth, int to, int from)
{
    double total = 0.0;
    double *next = malloc(N * sizeof(double));
    if (given != NULL)
        given[N - 1] = -2.5 - depth;
    if (depth > 0)
        total = deeper(next, depth - 1, to, from);
    MPI_Request request;
    MPI_Isend(mine, N - (depth > 0), MPI_DOUBLE, to, depth, MPI_COMM_WORLD, &request);
    MPI_Recv(next, N, MPI_DOUBLE, from, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    total += next[N - 1] + next[depth];
    free(next);
    return total;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        mine[i] = rank + 0.25 * i;
    printf("%d: %.17g\n", rank, deeper(NULL, 3, (rank + 1) % size, (rank + size - 1) % size));
    free(mine);
    MPI_Finalize();
    return 0;
}
