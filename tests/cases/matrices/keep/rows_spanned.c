/* A checksum runs over all rows as one array. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

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
    double check = 0.0;
    if (rank == 0) {
        for (int d = 0; d < D; d++) {
            for (int i = 0; i < N; i++)
                sbuf[d][i] = u[i] + d;
        }
        const double *all = &sbuf[0][0];
        for (int i = 0; i < D * N; i++)
            check += all[i];
        for (int d = 0; d < D; d++)
            MPI_Send(sbuf[d], N, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ keep OPI104
        printf("%.17g\n", check);
    } else if (rank == 1) {
        for (int d = 0; d < D; d++)
            MPI_Recv(rbuf[d], N, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI204
        memcpy(v, rbuf, sizeof v);
        for (int d = 1; d < D; d++)
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
//~ points 4
//~ silent: all reads across the rows are before the messages or bring what has arrived: the names forbid it
