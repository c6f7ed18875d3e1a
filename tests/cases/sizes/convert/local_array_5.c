/* Automatic arrays between other variables of one declaration. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static double u[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double factor = 2.0, sbuf[N], rbuf[N], total = 0.0;
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = factor * u[i];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < N; i++)
            total += rbuf[i] / factor * i;
        printf("%.17g\n", total);
    }
    MPI_Finalize();
    return 0;
}
