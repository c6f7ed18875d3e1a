/* A function is given one row after the other, and once the address of all rows. */
#include <mpi.h>
#include <stdio.h>

#define N 1200

static double rows[2][N];
static double v[N];

static void put(void *buf, int n, int to)
{
    MPI_Send(buf, n, MPI_DOUBLE, to, 7, MPI_COMM_WORLD); //~ keep OPI104
}

int main(int argc, char **argv)
{
    int rank;
    double s = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int d = 0; d < 2; d++) {
            for (int i = 0; i < N; i++)
                rows[d][i] = 0.5 * i + d;
            put(rows[d], N, 1);
        }
        for (int i = 0; i < N; i++)
            rows[0][i] = i;
        put(&rows, N, 1);
    } else if (rank == 1) {
        for (int d = 0; d < 3; d++) {
            MPI_Recv(v, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(v)
            for (int i = 0; i < N; i++)
                s += v[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
