/* What the length is read from may change by itself: it is not read once more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000

static volatile int length = N;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; i++) {
        double a[length];
        if (rank == 0) {
            for (int j = 0; j < N; j++)
                a[j] = j + i;
            MPI_Send(a, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(a) OPI114
        } else if (rank == 1) {
            MPI_Recv(a, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int j = 0; j < N; j++)
                total += a[j] * (j + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
