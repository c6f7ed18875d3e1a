/* A row is sent, and all rows are read by a sum that begins with the first. */
#include <mpi.h>
#include <stdio.h>

#define N 512

static double m[2][N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < N; i++) {
            m[0][i] = rank + i;
            m[1][i] = rank - i;
        }
        if (rank == 0) {
            MPI_Send(m[1], N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(m)
            for (int i = 0; i < 2 * N; i++)
                total += *(*m + i);
        } else if (rank == 1) {
            MPI_Recv(m[0], N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                total += m[0][i];
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
