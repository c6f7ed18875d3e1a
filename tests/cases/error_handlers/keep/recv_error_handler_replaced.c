/* A handler ends the program; afterwards the variable holds MPI_ERRORS_RETURN. */
#include <mpi.h>
#include <stdio.h>

#define N 256

static double sbuf[N], rbuf[N];

static int errors;

static void complain(MPI_Comm *comm, int *code, ...)
{
    MPI_Abort(*comm, *code);
}

int main(int argc, char **argv)
{
    int rank, size;
    double s = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler mine;
    MPI_Comm_create_errhandler(complain, &mine);
    mine = MPI_ERRORS_RETURN;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = i;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int i = 0; i < N; i++)
            rbuf[i] = -1.0;
        int from = argc > 1 ? 0 : size; /* no such rank: the receive fails */
        errors = MPI_Recv(rbuf, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf)
        for (int i = 0; i < N; i++)
            s += rbuf[i];
        printf("%d %.17g\n", errors != 0, s);
    }
    MPI_Finalize();
    return 0;
}
