/* What is added up in a static matrix begins with its zeros, also where a single place was set before. */
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
        add(rank);
        MPI_Send(c, N * N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(c)
    } else if (rank == 1) {
        double s = 0;
        MPI_Recv(c, N * N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(c)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                s += c[i][j] * (i + 2 * j);
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
