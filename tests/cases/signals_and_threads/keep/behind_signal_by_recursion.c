/* The handler is set by a function that calls itself, which is not followed. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define N 3000

static int n = 1000;

static void stop(int number)
{
    (void)number;
    n = 2000;
}

static void install(int depth)
{
    if (depth > 0)
        install(depth - 1);
    else
        signal(SIGUSR1, stop);
}

int main(int argc, char **argv)
{
    int rank;
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    install(3);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = i + 1;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            total += rbuf[i];
    }
    for (int i = 0; i < n; i++)
        sbuf[i] = 2 * i;
    raise(SIGUSR1);
    if (rank == 0) {
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i % 7);
    }
    printf("%d %g\n", rank, total);
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
