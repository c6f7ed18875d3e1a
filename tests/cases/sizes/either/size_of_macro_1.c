/* A macro that is a sum is how many elements a wrapper is asked for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 2000 + 48

static double *make(int n)
{
    return malloc(n * sizeof(double));
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *b = make(COUNT);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < 2048; i++)
                b[i] = i + step;
            MPI_Send(b, 2048, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(b, 2048, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 2048; i++)
                total += b[i];
        }
    }
    free(b);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
