/* An error handler prints and ends the program; the size is a global variable. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static int n = N;

static void complain(MPI_Comm *comm, int *code, ...)
{
    fprintf(stderr, "error %d\n", *code);
    MPI_Abort(*comm, 1);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *sbuf = malloc(N * sizeof(double)), *rbuf = malloc(N * sizeof(double));

    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(complain, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
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
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
