/* A pointer to rows in a struct, by which they are read. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

int main(int argc, char **argv)
{
    static double sbuf[2][N], rbuf[2][N];
    MPI_Request rq[4];
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 2; k++)
        MPI_Irecv(rbuf[k], N, MPI_DOUBLE, 1 - rank, k, MPI_COMM_WORLD, &rq[k]); //~ take(rbuf)
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
            sbuf[k][i] = rank + k + 0.5 * i;
        MPI_Isend(sbuf[k], N, MPI_DOUBLE, 1 - rank, k, MPI_COMM_WORLD, &rq[2 + k]); //~ give(sbuf)
    }
    MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
    struct {
        double (*rows)[N];
        int count;
    } got;
    got.rows = rbuf;
    got.count = 2;
    for (int k = 0; k < got.count; k++)
        for (int i = 0; i < N; i++)
            sum += (k + 1) * got.rows[k][i];
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
