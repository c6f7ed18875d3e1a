/* Half of the buffer travels; what is written and read after it needs the whole one. */
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
    MPI_Sendrecv_replace(a, N / 2, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
    a[N - 1] = rank;
    total += a[N - 1];
    for (int i = 0; i < N / 2; i++)
        total += a[i] * (i % 5);
    free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
