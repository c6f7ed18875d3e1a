/* A pointer to a row walks over the next one, too: its subscripts are not those of the row that it begins with. */
#include <mpi.h>
#include <stdio.h>

#define R 4
#define C 300

static double a[R][C], in[R * C];

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int k = 0; k < R; k++)
            for (int j = 0; j < C; j++)
                a[k][j] = k * C + j;
        for (int d = 0; d < R; d++) {
            double *p = a[d];
            if (d % 2 == 0)
                for (int j = 0; j < 2 * C; j++)
                    p[j] += j;
            MPI_Send(p, C, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ keep
        }
    } else if (rank == 1) {
        double s = 0;
        for (int k = 0; k < R; k++) {
            MPI_Recv(in, C, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int j = 0; j < C; j++)
                s += in[j] * (j + 1 + k);
        }
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
