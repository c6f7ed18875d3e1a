/* Messages come for the even rows only; all rows are unpacked. */
//~ silent: the rows that are read stale have no message of their own, and each row counts as an object
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
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int d = 0; d < D; d += 2) {
            for (int i = 0; i < N; i++)
                sbuf[d][i] = u[i] + d;
            MPI_Send(sbuf[d], N, MPI_DOUBLE, 1, d, MPI_COMM_WORLD);
        }
    } else if (rank == 1) {
        for (int d = 0; d < D; d += 2)
            MPI_Recv(rbuf[d], N, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI210
        for (int d = 0; d < D; d++)
            for (int i = 0; i < N; i++)
                v[i] += rbuf[d][i] * (d + 1);
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
