/* Errors are gathered in one variable. */
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
    int errors = 0;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < N; i++) //~ hole: i = 0 => i = 1
                sbuf[i] = t + 0.5 * i;
            errors |= MPI_Send(sbuf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            errors |= MPI_Recv(rbuf, N, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < N; i++)
                sum += (t + 1) * rbuf[i];
        }
        if (errors)
            fprintf(stderr, "%g\n", sbuf[0]);
    }
    printf("%d %.17g\n", rank, sum);
    MPI_Finalize();
    return 0;
}
