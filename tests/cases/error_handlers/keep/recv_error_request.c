/* A nonblocking receive that fails leaves no request: the program compares it. */
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
        MPI_Request rq = MPI_REQUEST_NULL;
        MPI_Irecv(rbuf, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, &rq); //~ keep(rbuf) OPI203
        if (rq == MPI_REQUEST_NULL)
            printf("nothing will come\n");
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            s += rbuf[i];
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
