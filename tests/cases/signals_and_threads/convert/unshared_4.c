/* A window is over another array than the message, and the count is not in it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double shared[N];
static int n = N;

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));

    MPI_Win win;
    MPI_Win_create(shared, sizeof shared, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            sbuf[i] = 2.0 * i + 1;
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        double total = 0.0;
        MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
