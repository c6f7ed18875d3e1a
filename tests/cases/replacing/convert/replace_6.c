/* The buffer is a member of a struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

struct block {
    int n;
    double *v;
};

int main(int argc, char **argv)
{
    int rank, size;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    struct block block;

    block.n = N;
    block.v = malloc(block.n * sizeof *block.v);
    for (int i = 0; i < block.n; i++)
        block.v[i] = rank + 0.5 * i;
    for (int k = 0; k < size; k++)
        MPI_Sendrecv_replace(block.v, block.n, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(block.v) take(block.v)
    for (int i = 0; i < block.n; i++)
        total += block.v[i] * (i % 5);
    free(block.v);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
