/* Packed by snprintf, which writes only as far as the text goes. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

static char sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        snprintf(sbuf, sizeof sbuf, "rank %d of %d", rank, argc);
        MPI_Send(sbuf, N, MPI_CHAR, 1, 7, MPI_COMM_WORLD); //~ keep
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%s %d\n", rbuf, rbuf[N - 1]);
    }
    MPI_Finalize();
    return 0;
}
