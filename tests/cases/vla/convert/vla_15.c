/* Three sizes, one of them a constant; rows are reached by pointers. */
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
    double out[n][m][3], in[n][m][3];

    for (int step = 0; step < 3; step++) {
        if (rank == 0) {
            for (int i = 0; i < n; i++) { //~ hole: i = 0 => i = 1
                double(*plane)[3] = out[i];
                for (int j = 0; j < m; j++)
                    for (int k = 0; k < 3; k++)
                        plane[j][k] = i + 0.5 * j + k + step;
            }
            MPI_Send(out, 3 * n * m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(out)
        } else if (rank == 1) {
            MPI_Recv(in, 3 * n * m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(in)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    for (int k = 0; k < 3; k++)
                        total += *(*(*(in + i) + j) + k) * (j + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
