/* Code that an MPI decides about names another pointer into the buffer, after the send. */
#include <mpi.h>
#include <stdio.h>

#define N 500

static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        double *first = sbuf;
        for (int i = 0; i < N; i++)
            first[i] = 0.5 * i;
        MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep OPI112
#ifdef OPEN_MPI_TRACE
        printf("sent from %g\n", first[0]);
#endif
        printf("sent\n");
    } else if (rank == 1) {
        MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%g\n", rbuf[N - 1]);
    }
    MPI_Finalize();
    return 0;
}
//~ silent: the text is what forbids it
