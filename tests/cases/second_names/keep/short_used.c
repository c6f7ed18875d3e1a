/* The name is used after the message, when the words mean another row. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double sbuf[2][N], rbuf[2][N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < N; i++) {
                sbuf[0][i] = k + 0.5 * i;
                sbuf[1][i] = k - 0.5 * i;
            }
            int row = k;
            double *out = sbuf[row];
            MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(out)
            row = 1 - row;
            out[0] = 100.0;
            MPI_Send(sbuf[1 - k], N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(sbuf[1 - k])
        }
    } else if (rank == 1) {
        for (int k = 0; k < 4; k++) {
            MPI_Recv(rbuf[k % 2], N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sum += (k + 1) * rbuf[k % 2][i];
        }
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
