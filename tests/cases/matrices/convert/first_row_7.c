/* Helpers are given the first row of a matrix, and send or receive all of it. */
#include <mpi.h>
#include <stdio.h>

#define N 30
#define M 20

static double a[N][M], b[N][M];

static void put(const void *buf, int n)
{
    MPI_Send(buf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(buf)
}

static void get(void *buf, int n)
{
    MPI_Recv(buf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(buf)
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                for (int j = 0; j < M; j++)
                    a[i][j] = i * t + j;
            put(a[0], N * M);
        } else if (rank == 1) {
            double s = 0;
            get(b[0], N * M);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    s += b[i][j] * (i + 2 * j);
            printf("%d: %.17g\n", t, s);
        }
    }
    MPI_Finalize();
    return 0;
}
