/* The variable is set anew after the test. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = rank == 0 ? 1 : rank == 1 ? 0 : MPI_PROC_NULL, next = argc > 5 ? MPI_PROC_NULL : peer;
    for (int i = 0; i < N; i++)
        rbuf[i] = -1.0;
    for (int t = 0; t < 3; t++) {
        MPI_Request rq;
        for (int i = 0; i < N; i++)
            sbuf[i] = rank + t + 0.5 * i;
        MPI_Isend(sbuf, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &rq);
        MPI_Recv(rbuf, N, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ replace(rbuf) OPI203
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        int there = next != MPI_PROC_NULL;
        there = argc < 9;
        if (there)
            for (int i = 0; i < N; i++)
                sum += (t + 1) * rbuf[i];
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
