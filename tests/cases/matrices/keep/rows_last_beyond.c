/* What is written beyond the last row is nothing: the loop does not run. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define R 4
#define C 300

static double a[R][C], in[R * C];

int main(int argc, char **argv)
{
    int rank, got, more = argc - 1, n = 2 * C + more; /* two rows */

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int j = 0; j < more; j++)
            a[R - 1][2 * C + j] = 0;
        for (int j = 0; j < C; j++) {
            a[0][j] = 0 * C + j;
            a[1][j] = 1 * C + j;
            a[2][j] = 2 * C + j;
            a[3][j] = 3 * C + j;
        }
        MPI_Send(a[0], n, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); //~ keep
        MPI_Send(a[1], n, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); //~ keep OPI104
        MPI_Send(a[2], n, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD); //~ keep OPI104
        MPI_Send(a[3], C, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); //~ keep OPI104
    } else if (rank == 1) {
        double s = 0;
        for (int k = 0; k < R; k++) {
            MPI_Status status;
            MPI_Recv(in, R * C, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &got);
            for (int j = 0; j < got; j++)
                s += in[j] * (j + 1);
        }
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
