/* A pointer to rows of variable length begins after the first row. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = 30 + argc, m = 40 + argc;
    double out[n][m], in[n][m];
    double(*from)[m] = in + 1;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i][j] = in[i][j] = -1.0;

    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    out[i][j] = i + 0.5 * j + step;
            MPI_Send(&out[0][0], (n - 1) * m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(&in[0][0], (n - 1) * m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(in)
            for (int i = 0; i < n - 1; i++)
                for (int j = 0; j < m; j++)
                    total += from[i][j] * (j + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
