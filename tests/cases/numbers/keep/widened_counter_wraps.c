/* An unsigned counter goes on from 0 after its end, and is made wider: only its first turns fill the buffer. */
#include <mpi.h>
#include <stdio.h>

#define N 20

static double sbuf[N], rbuf[N];

int main(int argc, char **argv)
{
    int rank;
    double s = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        sbuf[i] = 100 + i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            unsigned u = 4244967296u;
            for (int k = 0; k < N; k++) {
                if ((long)u >= 4244967296L)
                    sbuf[k] = t + k;
                u += 5000000;
            }
            MPI_Send(sbuf, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < N; i++)
                s += rbuf[i] * (i % 7 + 1);
        }
    }
    printf("%d %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
