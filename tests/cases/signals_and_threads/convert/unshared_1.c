/* A handler of signals sets a flag; it does not know of the count. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static volatile sig_atomic_t hit;
static int n = N;

static void note(int number)
{
    (void)number;
    hit = 1;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));

    signal(SIGUSR1, note);
    signal(SIGPIPE, SIG_IGN);
    if (rank == 0) {
        for (int i = 0; i < n; i++)
            sbuf[i] = 2.0 * i + 1;
        raise(SIGUSR1);
        MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        double total = 0.0;
        MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < n; i++)
            total += rbuf[i] * (i + 1);
        printf("%d: %.17g\n", rank, total);
    }
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
