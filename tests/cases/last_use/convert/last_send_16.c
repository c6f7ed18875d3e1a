/* The function is asked for less than nothing on a rank that has nothing to do: malloc gives NULL, and nobody looks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void *get(size_t bytes)
{
    return malloc(bytes);
}

int main(int argc, char **argv)
{
    int rank, size, n = 400;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int more = 3 - 4 * rank;
    double *spare = get(more * (int)sizeof(double));
    for (int i = 0; i < more; i++)
        spare[i] = i;
    for (int i = 0; i < more; i++)
        total += spare[i];
    double *mine = get(n * sizeof(double));
    for (int i = 0; i < n; i++)
        mine[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        double *next = get(n * sizeof(double));
        MPI_Request request;
        MPI_Isend(mine, n, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request); //~ give(mine)
        MPI_Recv(next, n, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(next)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            total += next[i] * (i % 7);
        free(mine);
        mine = next;
    }
    printf("%d: %.17g\n", rank, total);
    free(mine);
    free(spare);
    MPI_Finalize();
    return 0;
}
