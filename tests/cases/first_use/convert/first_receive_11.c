/* Memory is freed where there is some, and the pointer is NULL then. */
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
        double *room, *next;
        MPI_Request request;
        if (t % 2)
            room = malloc(N * sizeof(double));
        else
            room = malloc(sizeof(double) * N);
        next = room;
        MPI_Isend(mine, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request);
        if (MPI_Recv(next, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS) //~ take(next)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += next[i] * (i % 7);
        free(mine);
        mine = next;
    }

    printf("%d: %.17g\n", rank, total);
    if (mine) {
        free(mine);
        mine = NULL;
    }
    MPI_Finalize();
    return 0;
}
