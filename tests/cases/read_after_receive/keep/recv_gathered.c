/* Parts come one by one into one array that is read as a whole. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N], v[N];
static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        for (int k = 0; k < 4; k++)
            MPI_Send(sbuf + k * (N / 4), N / 4, MPI_DOUBLE, 1, k, MPI_COMM_WORLD); //~ keep
    } else if (rank == 1) {
        for (int k = 0; k < 4; k++)
            MPI_Recv(rbuf + k * (N / 4), N / 4, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
