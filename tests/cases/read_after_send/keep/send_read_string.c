/* Printed as a string after the send. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 2048

static char sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        memset(sbuf, 'a', N - 1);
        sbuf[N - 1] = 0;
        MPI_Send(sbuf, N, MPI_CHAR, 1, 7, MPI_COMM_WORLD); //~ keep OPI101
        printf("%.10s\n", sbuf);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d\n", rbuf[3]);
    }
    MPI_Finalize();
    return 0;
}
//~ silent: printf reads the bytes, where nothing is traced
