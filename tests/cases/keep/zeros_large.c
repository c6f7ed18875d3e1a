/* Most of the matrix is never touched, and is more memory than there may be. */
#include <mpi.h>
#include <stdio.h>

#define N 32

static double c[300000][N];
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
        add(rank);
        MPI_Send(c, N * N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI110
    } else if (rank == 1) {
        double s = 0;
        MPI_Recv(c, N * N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI210
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                s += c[i][j] * (i + 2 * j);
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
