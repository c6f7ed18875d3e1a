/* The index table names one row twice: that row is still needed after its
 * first send. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

#define D 4

static double u[N], v[N];
static double sbuf[D][N], rbuf[D][N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static const int order[D] = { 0, 1, 1, 2 };
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int d = 0; d < D; d++)
            for (int i = 0; i < N; i++)
                sbuf[d][i] = u[i] + d;
        for (int k = 0; k < D; k++)
            MPI_Send(sbuf[order[k]], N, MPI_DOUBLE, 1, k, MPI_COMM_WORLD); //~ keep OPI102
    } else if (rank == 1) {
        for (int k = 0; k < D; k++) {
            MPI_Recv(rbuf[k], N, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += rbuf[k][i] * (k + 1);
        }
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
