/* sizeof of a local array and of its elements. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sbuf[N];
    double rbuf[sizeof sbuf / sizeof(double)];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        memcpy(sbuf, u, sizeof sbuf);
        MPI_Send(sbuf, sizeof sbuf / sizeof *sbuf, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (size_t i = 0; i < sizeof rbuf / sizeof rbuf[0]; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
