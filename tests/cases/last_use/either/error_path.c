/* On an error path the buffer is freed and the function left. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];
static double rbuf[N];

static int ship(int step)
{
    double *sbuf = malloc(N * sizeof(double));
    if (!sbuf)
        return -1;
    for (int i = 0; i < N; i++)
        sbuf[i] = u[i] + step;
    if (sbuf[0] < 0.0) {
        free(sbuf);
        return -1;
    }
    MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    free(sbuf);
    return 0;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 4; step++) {
        if (rank == 0) {
            if (ship(step) < 0)
                printf("not sent\n");
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                v[i] += rbuf[i];
        }
    }
    if (rank == 1) {
        double total = 0.0;
        for (int i = 0; i < N; i++)
            total += v[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Finalize();
    return 0;
}
