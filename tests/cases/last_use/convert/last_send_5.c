/* Blocks go round: each turn allocates the next one, frees the one that was sent, and moves on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = 200;
    double *cur, *nxt, s = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cur = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        cur[i] = rank + i;
    for (int t = 0; t < 2 * size; t++) {
        nxt = malloc(n * sizeof(double));
        if (rank % 2 == 0) {
            MPI_Send(cur, n, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD); //~ give(cur)
            MPI_Recv(nxt, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(nxt, n, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(cur, n, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD); //~ give(cur)
        }
        free(cur);
        cur = nxt;
        for (int i = 0; i < n; i++)
            s += cur[i] * (t + 1);
    }
    printf("%d %.17g\n", rank, s);
    free(cur);
    MPI_Finalize();
    return 0;
}
