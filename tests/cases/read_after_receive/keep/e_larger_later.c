/* A short message is received, then all of the buffer is added to by a call that
 * stays. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        MPI_Send(u, 8, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, u, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, 8, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        v[0] = rbuf[7];
        MPI_Allreduce(MPI_IN_PLACE, rbuf, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 1; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
