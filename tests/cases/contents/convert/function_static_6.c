/* Static arrays of long inside main, counted down. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    static long sbuf[N], rbuf[N];
    if (rank == 0) {
        for (int i = N - 1; i >= 0; i--)
            sbuf[i] = 3L * i;
        MPI_Send(sbuf, N, MPI_LONG, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        long total = 0;
        MPI_Recv(rbuf, N, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = N - 1; i >= 0; i--)
            total += rbuf[i] * i;
        printf("%ld\n", total);
    }
    MPI_Finalize();
    return 0;
}
