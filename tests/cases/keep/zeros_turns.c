/* It is given away in the first turn, and added to in the second. */
#include <mpi.h>
#include <stdio.h>

#define N 32

static double c[N][N];
static double w[N];

static void add(int rank)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                c[i][j] += w[k] * (i + j) + rank;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        w[i] = i * 0.5;
    if (rank == 0) {
        c[3][3] = 7;
        for (int t = 0; t < 2; t++) {
            add(rank);
            MPI_Send(c, N * N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI101
        }
    } else if (rank == 1) {
        for (int t = 0; t < 2; t++) {
            double s = 0;
            MPI_Recv(c, N * N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(c)
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    s += c[i][j] * (i + 2 * j);
            printf("%.17g\n", s);
        }
    }
    MPI_Finalize();
    return 0;
}
