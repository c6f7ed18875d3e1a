/* The zeros are there in the first turn only; later ones pack all of it into memory that comes anew. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *sbuf = (rank < 2) ? calloc(2 * N / 2, sizeof(double)) : NULL;
    double *rbuf = calloc(sizeof(double), N);
    if (rank == 1)
        for (int i = 0; i < N; i++)
            v[i] = rbuf[i] - 1.0;
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
            for (int i = 0; i < N; i++)
                sbuf[i] = u[i] * step;
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    free(sbuf);
    free(rbuf);
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
