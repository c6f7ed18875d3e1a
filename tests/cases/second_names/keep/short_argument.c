/* The number of the row grows in another argument. */
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
    MPI_Request rq[2];
    if (rank == 0) {
        int k = 0;
        for (int i = 0; i < N; i++)
            sbuf[0][i] = 0.5 * i;
        while (k < 2) {
            double *out = sbuf[k];
            MPI_Isend(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &rq[k++]); //~ keep(out)
            if (k < 2)
                for (int i = 0; i < N; i++)
                    sbuf[k][i] = k + 0.5 * i;
        }
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        for (int k = 0; k < 2; k++) {
            MPI_Recv(rbuf[k], N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sum += (k + 1) * rbuf[k][i];
        }
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
