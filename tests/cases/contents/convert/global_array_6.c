/* External arrays of bytes. */
#include <mpi.h>
#include <stdio.h>

#define N 2048

unsigned char sbuf[4 * N];
unsigned char rbuf[4 * N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < 4 * N; i++) //~ hole: i = 0 => i = 1
            sbuf[i] = (unsigned char)(i * 7);
        MPI_Send(sbuf, 4 * N, MPI_UNSIGNED_CHAR, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
    } else if (rank == 1) {
        long total = 0;
        MPI_Recv(rbuf, 4 * N, MPI_UNSIGNED_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
        for (int i = 0; i < 4 * N; i++)
            total += (long)rbuf[i] * i;
        printf("%ld\n", total);
    }
    MPI_Finalize();
    return 0;
}
