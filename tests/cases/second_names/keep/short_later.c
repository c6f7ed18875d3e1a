/* The name is set by an assignment; the row is another one when it is sent. */
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
            int row = k;
            double *out;
            out = sbuf[row];
            row = 1 - row;
            for (int i = 0; i < N; i++)
                sbuf[row][i] = k + 0.5 * i;
            MPI_Send(out, N, MPI_DOUBLE, 1, k, MPI_COMM_WORLD); //~ keep(out)
        }
    } else if (rank == 1) {
        for (int k = 0; k < 2; k++) {
            MPI_Recv(rbuf[k], N, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sum += (k + 1) * rbuf[k][i];
        }
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
