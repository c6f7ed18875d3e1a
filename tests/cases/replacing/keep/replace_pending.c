/* A send from the buffer is under way during the call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    double *a = malloc(N * sizeof *a);
    double *b = malloc(N * sizeof *b);
    MPI_Request request;

    for (int i = 0; i < N; i++)
        a[i] = rank + 0.5 * i;
    MPI_Isend(a, N, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request); //~ keep
    MPI_Recv(b, N, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
    MPI_Sendrecv_replace(a, N, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        total += a[i] * (i % 5) + b[i];
    free(a);
    free(b);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
