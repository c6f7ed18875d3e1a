/* The buffer is enlarged by realloc before the first send, in each turn of a
 * loop: realloc also frees the smaller block, which would be left. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static double rbuf[N];
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    if (rank == 0) {
        for (int t = 0; t < 3; t++) {
            double *sbuf = malloc(8);
            sbuf = realloc(sbuf, N * sizeof(double));
            for (int i = 0; i < N; i++)
                sbuf[i] = 2.0 * u[i];
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI114
            free(sbuf);
        }
    } else if (rank == 1) {
        for (int t = 0; t < 3; t++) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
