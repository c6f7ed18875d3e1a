/* A function marks the block, by a name of its own, before the receive of a shorter message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

static void mark(double *block)
{
    double *last = block + N - 1;
    *last = -3.25;
}

int main(int argc, char **argv)
{
    int rank, size, sent = argc > 9 ? N : N - 1;
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
        MPI_Request request;
        mark(next);
        MPI_Isend(mine, sent, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(next, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        total += next[N - 1] + next[t];
        free(mine);
        mine = next;
    }

    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
