/* The same, as `*a`; local arrays of three dimensions. */
#include <mpi.h>
#include <stdio.h>

#define N 24
#define M 40

#define K 3

int main(int argc, char **argv)
{
    double a[K][N][M], b[K][N][M];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int k = 0; k < K; k++)
                for (int i = 0; i < N; i++)
                    for (int j = 0; j < M; j++)
                        a[k][i][j] = k + i * t + j;
            MPI_Send(*a, K * N * M, MPI_DOUBLE, 1, t, MPI_COMM_WORLD); //~ give(a)
        } else if (rank == 1) {
            MPI_Recv(*b[0], K * N * M, MPI_DOUBLE, 0, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(b)
            double s = 0;
            for (int k = 0; k < K; k++)
                for (int i = 0; i < N; i++)
                    for (int j = 0; j < M; j++)
                        s += b[k][i][j] * (i + 2 * j);
            printf("%d: %.17g\n", t, s);
        }
    }
    MPI_Finalize();
    return 0;
}
