/* The size that another file allocates depends on a macro which means something else here. */
#define WIDTH 1
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

double *vector(int count);

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i * WIDTH;
    double *sbuf = vector(N);
    double *rbuf = vector(N);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 2.0 * u[i];
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep
        sbuf[0] = 1.0;
    } else if (rank == 1) {
        rbuf[0] = 1.0;
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i];
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
