/* A function fills each row of a matrix of variable length but for its end; rows of another length would be filled whole. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void fill(int n, int m, double a[n][m], int step)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = i + 0.5 * j + step;
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 20 + argc, m = 40 + argc;
    double *out = malloc(sizeof(double) * m * m), *in = malloc(sizeof(double) * m * m);

    for (int i = 0; i < m * m; i++)
        out[i] = in[i] = -1.0;
    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            fill(n, m, (double(*)[m])out, step);
            MPI_Send(out, n * m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(out)
        } else if (rank == 1) {
            MPI_Recv(in, n * m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < n * m; i++)
                total += in[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
