/* A negative number that becomes unsigned, and then wider, is a large one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank, n = atoi(argc > 8 ? "5" : "-1");

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && n < 0) {
        unsigned u = n;
        long l = u;
        for (int i = 0; i < N; i++)
            sbuf[i] = i;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI101
        if (l > 0)
            printf("%g\n", sbuf[5]);
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%g\n", rbuf[399]);
    }
    MPI_Finalize();
    return 0;
}
