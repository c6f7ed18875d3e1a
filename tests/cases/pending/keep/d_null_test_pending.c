/* A pointer is compared with NULL while a receive into its memory is under way. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500

static double sbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < N; i++)
            sbuf[i] = 0.5 * i;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        printf("sent\n");
    } else if (rank == 1) {
        double *rbuf = malloc(N * sizeof *rbuf);
        MPI_Request request;
        MPI_Irecv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request); //~ keep OPI206
        int there = rbuf != NULL;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("%d %g\n", there, rbuf[N - 1]);
        free(rbuf);
    }
    MPI_Finalize();
    return 0;
}
//~ silent: nothing is read or written, the address alone is looked at
