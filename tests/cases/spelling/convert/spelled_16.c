/* An array of rows has a short name where it is read. */
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
    MPI_Request rq[4];
    for (int k = 0; k < 2; k++)
        MPI_Irecv(rbuf[k], N, MPI_DOUBLE, 1 - rank, k, MPI_COMM_WORLD, &rq[k]); //~ take(rbuf[k])
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[k][i] = rank + k + 0.5 * i;
        MPI_Isend(sbuf[k], N, MPI_DOUBLE, 1 - rank, k, MPI_COMM_WORLD, &rq[2 + k]); //~ give(sbuf[k])
    }
    MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
    double (*got)[N] = rbuf;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++)
            sum += (k + 1) * got[k][i];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
