/* A difference of addresses, taken in floating point arithmetic before the send and after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define N 2048
static double sbuf[N];
int main(int argc, char **argv)
{
    int rank;
    double rest = 0.5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long was = 0;
    double *end = sbuf + N;
    if (rank == 0) {
        for (int i = 0; i < N; i++) sbuf[i] = i;
        rest += 2.0 * (double)(end - sbuf);
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI105
        rest -= 0.5 * (end - sbuf);
        if (rest > (end > sbuf + 1)) was++;
    } else {
        MPI_Recv(sbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep OPI205
        rest += sbuf[3];
    }
    printf("%d %g %ld\n", rank, rest, was);
    MPI_Finalize();
    return 0;
}
