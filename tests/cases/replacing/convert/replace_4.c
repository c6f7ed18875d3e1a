/* A function makes the exchange for its caller's buffer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static void turn(double *p, int to, int from)
{
    MPI_Sendrecv_replace(p, N, MPI_DOUBLE, to, 7, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(p) take(p)
}

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
    for (int k = 0; k < size; k++)
        turn(a, right, left);
    for (int i = 0; i < N; i++)
        total += a[i] * (i % 5);
    free(a);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
