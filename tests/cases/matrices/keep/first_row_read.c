/* The row after the first one is read after the send of all. */
#include <mpi.h>
#include <stdio.h>

#define N 24
#define M 40

static double a[N][M], b[N][M];

int main(int argc, char **argv)
{
    int rank;
    double last = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    a[i][j] = i * t + j;
            MPI_Send(a[0], N * M, MPI_DOUBLE, 1, t, MPI_COMM_WORLD); //~ keep OPI101
            last = a[1][2];
        } else if (rank == 1) {
            MPI_Recv(b[0], N * M, MPI_DOUBLE, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            double s = 0;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    s += b[i][j] * (i + 2 * j);
            printf("%d: %.17g\n", t, s);
        }
    }
    if (rank == 0)
        printf("%g\n", last);
    MPI_Finalize();
    return 0;
}
