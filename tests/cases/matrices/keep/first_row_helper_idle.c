/* A helper that may do nothing is given the second row then, which is no matrix by its first row. */
#include <mpi.h>
#include <stdio.h>

#define N 30
#define M 20

static double a[N][M], b[N][M];

static void put(const void *buf, int n, int to)
{
    if (to >= 0)
        MPI_Send(buf, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ keep(buf)
}

static void get(void *buf, int n, int from)
{
    if (from >= 0)
        MPI_Recv(buf, n, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(buf)
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    a[i][j] = i * t + j;
            put(a[0], N * M, 1);
            put(a[1], M, -1);
        } else if (rank == 1) {
            double s = 0;
            get(b[0], N * M, 0);
            get(b[1], M, -1);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++)
                    s += b[i][j] * (i + 2 * j);
            printf("%d: %.17g\n", t, s);
        }
    }
    MPI_Finalize();
    return 0;
}
//~ silent: the second row goes nowhere, so the helper could be given the matrix; it is not looked for
