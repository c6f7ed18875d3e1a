/* Between replaced turns, a plain send and a plain receive of the same buffer. */
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
    for (int i = 0; i < N; i++)
        a[i] = rank + 0.5 * i;
    MPI_Sendrecv_replace(a, N, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(a) take(a)
    if (rank == 0) {
        MPI_Send(a, N, MPI_DOUBLE, size - 1, 1, MPI_COMM_WORLD); //~ give(a)
        MPI_Recv(a, N, MPI_DOUBLE, size - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
    } else if (rank == size - 1) {
        MPI_Recv(a, N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(a)
        MPI_Send(a, N, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD); //~ give(a)
        for (int i = 0; i < N; i++)
            a[i] = i;
    }
    MPI_Sendrecv_replace(a, N, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(a) take(a)
    for (int i = 0; i < N; i++)
        total += a[i] * (i % 5);
    free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
