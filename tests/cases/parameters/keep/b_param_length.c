/* The length of an array says the size of what the parameter points to. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 100

static float sbuf[N], rbuf[N];

static void put(float *b, int n, int to)
{
    char first[4 * sizeof *b];

    memcpy(first, b, sizeof first);
    MPI_Send(b, n, MPI_FLOAT, to, 7, MPI_COMM_WORLD); //~ keep OPI104
    printf("%d bytes, %d\n", (int)sizeof first, first[3]);
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++)
                sbuf[i] = t + i;
            put(sbuf, N, 1);
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_FLOAT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < N; i++)
                total += rbuf[i] * i;
        }
    }
    printf("%d %g\n", rank, total);
    MPI_Finalize();
    return 0;
}
