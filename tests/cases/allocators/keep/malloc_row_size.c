/* The size is that of a row as long as a parameter says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double *make(int n)
{
    return malloc(sizeof(double[n]));
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int n = 1;
    double *b;

    total += n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    b = make(N);
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                b[i] = i + step;
            MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(b) OPI114
        } else if (rank == 1) {
            MPI_Recv(b, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(b) OPI215
            for (int i = 0; i < N; i++)
                total += b[i];
        }
    }
    free(b);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
