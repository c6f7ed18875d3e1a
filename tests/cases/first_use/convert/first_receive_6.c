/* The blocks come by way of a line that ends: from MPI_PROC_NULL nothing comes, and nothing is read then. */
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
    int to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, from = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    double *mine = malloc(N * sizeof(double));
    for (int i = 0; i < N; i++)
        mine[i] = rank + 0.25 * i;
    for (int t = 0; t < 3; t++) {
        double *fresh = malloc(N * sizeof(double)), *old;
        MPI_Request request;
        MPI_Isend(mine, N, MPI_DOUBLE, to, 3, MPI_COMM_WORLD, &request);
        MPI_Recv(fresh, N, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(fresh)
        old = mine;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (from != MPI_PROC_NULL) {
            for (int i = 0; i < N; i++)
                total += fresh[i] * (i % 7);
        } else {
            for (int i = 0; i < N; i++)
                fresh[i] = old[i] + t;
        }
        mine = fresh;
        free(old);
    }

    printf("%d: %.17g\n", rank, total);
    free(mine);
    MPI_Finalize();
    return 0;
}
