/* The number of columns becomes another one; the rows stay as they were declared. */
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
    const int rows = n, columns = m;
    double out[n][m], in[n][m];

    m = 1;

    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < rows; i++) //~ hole: i = 0 => i = 1
                for (int j = 0; j < columns; j++)
                    out[i][j] = i + 0.5 * j + step + m;
            MPI_Send(out, rows * columns, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, rows * columns, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < columns; j++)
                    total += in[i][j] * (j + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
