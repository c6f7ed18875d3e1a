/* A jump goes back over the number of the row, and not over the name. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 600

static double sbuf[2][N], rbuf[2][N];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int turn = 0;
    again:;
        const int k = turn++;
        for (int i = 0; i < N; i++)
            sbuf[k][i] = k + 0.5 * i;
        if (k > 0)
            goto send;
        double *out = sbuf[k];
    send:
        MPI_Send(out, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep(out)
        if (turn < 2)
            goto again;
    } else if (rank == 1) {
        for (int j = 0; j < 2; j++) {
            MPI_Recv(rbuf[j], N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < N; i++)
                sum += (j + 1) * rbuf[j][i];
        }
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
