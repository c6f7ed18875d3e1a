/* Two of three sizes are negative, that of the row among them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 400

static double sbuf[MAX], rbuf[MAX];

int main(int argc, char **argv)
{
    int rank, got;
    double total = 0.0;
    int rows = 16, m = argc > 1 ? 3 : -1, n = argc > 1 ? 3 : -1;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MAX; i++)
        sbuf[i] = 100.0 + i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int j = 0; j < m; j++)
                for (int k = 0; k < rows; k++)
                    for (int i = 0; i < n; i++)
                        sbuf[(k * m + j) * n + i] = i + 0.5 * t;
            MPI_Send(sbuf, rows * m * n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, MAX, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_DOUBLE, &got);
            for (int i = 0; i < got; i++)
                total += rbuf[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
