/* One handler ends the program, the other counts; the variable holds either. */
#include <mpi.h>
#include <stdio.h>

#define N 256

static double sbuf[N], rbuf[N];

static int errors;

static void complain(MPI_Comm *comm, int *code, ...)
{
    MPI_Abort(*comm, *code);
}

static void count(MPI_Comm *comm, int *code, ...)
{
    errors++;
}

int main(int argc, char **argv)
{
    int rank, size;
    double s = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler mine;
    if (argc > 1)
        MPI_Comm_create_errhandler(complain, &mine);
    else
        MPI_Comm_create_errhandler(count, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = i;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int i = 0; i < N; i++)
            rbuf[i] = -1.0;
        int from = argc > 1 ? 0 : size; /* no such rank: the receive fails */
        MPI_Recv(rbuf, N, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf)
        for (int i = 0; i < N; i++)
            s += rbuf[i];
        printf("%d %.17g\n", errors, s);
    }
    MPI_Finalize();
    return 0;
}
