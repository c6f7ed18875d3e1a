/* The inside of a grid of one cell: no size is negative, and both differences are. */
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
    int rows = 16, m = argc > 1 ? 6 : 1, n = argc > 1 ? 6 : 1;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MAX; i++)
        sbuf[i] = 100.0 + i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int p = 0;

            for (int k = 1; k < m - 1; k++)
                for (int j = 1; j < n - 1; j++)
                    for (int i = 0; i < rows; i++)
                        sbuf[p++] = k * 3 + j + t;
            MPI_Send(sbuf, (m - 2) * (n - 2) * rows, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
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
