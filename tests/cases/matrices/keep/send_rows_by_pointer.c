/* A pointer to a row runs over two. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define R 8
#define C 64

static double a[R][C], u[R * C], in[R * C];

int main(int argc, char **argv)
{
    int rank, n = (argc + 1) * C; /* two rows */

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < R * C; i++)
        u[i] = i + 1;
    if (rank == 0) {
        for (int k = 0; k < R; k += 2) {
            double *p = a[k];
            for (int j = 0; j < n; j++)
                p[j] = u[k * C + j];
        }
        for (int k = 0; k < R; k++)
            MPI_Send(a[k], C, MPI_DOUBLE, 1, k, MPI_COMM_WORLD); //~ keep OPI104
    } else if (rank == 1) {
        double s = 0;
        for (int k = 0; k < R; k += 1) {
            MPI_Recv(in, R * C, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int j = 0; j < C; j++)
                s += in[j] * (j + 1);
        }
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
