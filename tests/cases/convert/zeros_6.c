/* The border of a static grid is never written, and read in each turn; all of it is packed from another one. */
#include <mpi.h>
#include <stdio.h>

#define N 40

static double grid[N][N], sent[N][N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int t = 0; t < 3; t++)
            for (int i = 1; i < N - 1; i++)
                for (int j = 1; j < N - 1; j++)
                    sent[i][j] = (sent[i - 1][j] + sent[i + 1][j]) * 0.5 + i + j;
        for (int j = 0; j < N; j++)
            sent[0][j] = sent[N - 1][j] = sent[j][0] = sent[j][N - 1] = j;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                sent[i][j] = sent[i][j] * 2;
        MPI_Send(&sent[0][0], N * N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(sent)
    } else if (rank == 1) {
        double s = 0;
        MPI_Recv(&grid[0][0], N * N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(grid)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                s += grid[i][j] * (i + 2 * j);
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
