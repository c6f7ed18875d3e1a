/* The buffer is exposed in an RMA window; the other rank reads it there. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double sbuf[N], rbuf[N], u[N], v[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win win;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    MPI_Win_create(rbuf, sizeof rbuf, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI214
    }
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Get(v, N, MPI_DOUBLE, 1, 0, N, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
