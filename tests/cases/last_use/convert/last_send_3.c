/* A sum in a tree: the program says by a remainder that rank 0 does not send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = 256;
    double *sum, *in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sum = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        sum[i] = rank + i;
    for (int step = 1; step < size; step *= 2) {
        if (rank % (2 * step) != 0) {
            MPI_Send(sum, n, MPI_DOUBLE, rank - step, 0, MPI_COMM_WORLD); //~ give(sum)
            break;
        }
        if (rank + step < size) {
            in = malloc(n * sizeof(double));
            MPI_Recv(in, n, MPI_DOUBLE, rank + step, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n; i++)
                sum[i] += in[i];
            free(in);
        }
    }
    if (rank == 0)
        printf("%.17g %.17g\n", sum[0], sum[n - 1]);
    free(sum);
    MPI_Finalize();
    return 0;
}
