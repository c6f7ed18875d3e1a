/* The same; the error is kept in a variable. */
#include <mpi.h>
#include <stdio.h>

#define N 256

static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank, size;
    double s = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = i;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int i = 0; i < N; i++)
            rbuf[i] = -1.0;
        int from = argc > 1 ? 0 : size; /* no such rank: the receive fails */
        int failed = MPI_Recv(rbuf, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI203
        printf("%d\n", failed != MPI_SUCCESS);
        for (int i = 0; i < N; i++)
            s += rbuf[i];
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
