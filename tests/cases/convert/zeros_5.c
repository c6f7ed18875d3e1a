/* A static table of whole numbers is added up and sent; what comes is another one. */
#include <mpi.h>
#include <stdio.h>

#define N 32

static int c[N][N], sum[N][N];
static double w[N];

static void add(int rank)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                c[i][j] += (k + rank) * (i - j);
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
        MPI_Send(c, N * N, MPI_INT, 1, 0, MPI_COMM_WORLD); //~ give(c)
    } else if (rank == 1) {
        double s = 0;
        MPI_Recv(sum, N * N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(sum)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                s += sum[i][j] * (i + 2 * j);
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
