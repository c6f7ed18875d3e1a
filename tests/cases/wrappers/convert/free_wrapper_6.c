/* Rows are freed one by one by a function. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

static void release(double *b)
{
    free(b);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    double *sbuf[2], *rbuf[2];
    for (int d = 0; d < 2; d++) {
        sbuf[d] = malloc(N * sizeof(double));
        rbuf[d] = malloc(N * sizeof(double));
    }
    if (rank == 0) {
        for (int d = 0; d < 2; d++) {
            for (int i = 0; i < N; i++)
                sbuf[d][i] = (d + 1.0) * u[i];
            MPI_Send(sbuf[d], N, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ give(sbuf[d])
        }
    } else if (rank == 1) {
        double total = 0.0;
        for (int d = 0; d < 2; d++) {
            MPI_Recv(rbuf[d], N, MPI_DOUBLE, 0, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf[d])
            for (int i = 0; i < N; i++)
                v[i] = rbuf[d][i];
            for (int i = 0; i < N; i++)
                total += v[i] * (i + 1);
        }
        printf("%d: %.17g\n", rank, total);
    }
    for (int d = 0; d < 2; d++) {
        release(sbuf[d]);
        release(rbuf[d]);
    }
    MPI_Finalize();
    return 0;
}
