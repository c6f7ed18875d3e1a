/* Rows of different lengths, each in front of the one before it by its own length: there are holes between them. */
#include <mpi.h>
#include <stdio.h>

#define N 500

static double sbuf[N], rbuf[N], v[N];

int main(int argc, char **argv)
{
    int rank, m = 7 + argc;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        sbuf[i] = 1000 + i;
    for (int turn = 0; turn < 3; turn++) {
        if (rank == 0) {
            for (int k = 0; k < m; k++)
                for (int j = 0; j < 2 * (m - k); j++)
                    sbuf[m * m + m - 2 * k * m + k * (k - 1) + j] = turn + 10 * k + j;
            MPI_Send(sbuf, m * m + 3 * m, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < m * m + 3 * m; i++)
                v[i] += rbuf[i];
        }
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += v[i] * (i % 7);
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
