/* The program ends before the message from the last row, which would be too long. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define R 4
#define C 300

static double a[R][C], in[R * C];

static void finish(void)
{
    MPI_Finalize();
    exit(0);
}

int main(int argc, char **argv)
{
    int rank, got, n = (argc + 1) * C; /* two rows */

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int step = 0; step < 2; step++) {
            for (int k = 0; k < R; k++)
                for (int j = 0; j < C; j++)
                    a[k][j] = step + k * C + j;
            for (int d = 0; d < R; d++) {
                if (d == R - 1)
                    finish();
                MPI_Send(a[d], n, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ keep OPI104
            }
        }
    } else if (rank == 1) {
        double s = 0;
        for (int k = 0; k < R - 1; k++) {
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
