/* Messages are as long as a pointer to a row walks: over the next one, too. */
#include <mpi.h>
#include <stdio.h>

#define R 4
#define C 300

static double a[R][C], in[R * C];

int main(int argc, char **argv)
{
    int rank, got;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int k = 0; k < R; k++)
            for (int j = 0; j < C; j++)
                a[k][j] = k * C + j;
        for (int d = 0; d < R; d++) {
            double *p = a[d];
            int w = d < R - 1 ? (argc + 1) * C : C; /* two rows, and one */
            for (int j = 0; j < w; j++)
                p[j] += 1;
            MPI_Send(p, w, MPI_DOUBLE, 1, d, MPI_COMM_WORLD); //~ keep
        }
    } else if (rank == 1) {
        double s = 0;
        for (int k = 0; k < R; k++) {
            MPI_Status status;
            MPI_Recv(in, R * C, MPI_DOUBLE, 0, k, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &got);
            for (int j = 0; j < got; j++)
                s += in[j] * (j + 1 + k);
        }
        printf("%.17g\n", s);
    }
    MPI_Finalize();
    return 0;
}
