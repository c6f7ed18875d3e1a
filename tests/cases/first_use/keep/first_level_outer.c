/* All levels receive into one block, which the caller made: what the first has brought is there at the next. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

static double deeper(double *next, const double *mine, int depth, int to, int from)
{
    MPI_Request request;
    MPI_Isend(mine, N - 3 * depth, MPI_DOUBLE, to, depth, MPI_COMM_WORLD, &request);
    MPI_Recv(next, N, MPI_DOUBLE, from, depth, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    double total = next[N - 1] * (depth + 1);
    next[N - 1] += depth;
    if (depth < 3)
        return total + deeper(next, mine, depth + 1, to, from);
    free(next);
    return total;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *mine = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        mine[i] = rank + 0.25 * i;
    double *next = malloc(N * sizeof(double));
    printf("%d: %.17g\n", rank, deeper(next, mine, 0, (rank + 1) % size, (rank + size - 1) % size));
    free(mine);
    MPI_Finalize();
    return 0;
}
