/* Five numbers for each cell, in global sizes; rows are copied out as they come. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];
static int ny, nz;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    ny = argc > 1 ? 6 : 5;
    nz = argc > 1 ? 3 : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (ny < 1 || nz < 1)
        return 1;
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int k = 0; k < nz; k++) //~ hole: k = 0 => k = 1
                for (int j = 0; j < ny; j++)
                    for (int m = 0; m < 5; m++)
                        sbuf[(k * ny + j) * 5 + m] = u[k + j + m] + t;
            MPI_Send(sbuf, 5 * ny * nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            double row[5 * MAX];

            MPI_Recv(rbuf, 5 * ny * nz, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int k = 0; k < nz; k++) {
                memcpy(row, &rbuf[k * ny * 5], ny * 5 * sizeof(double));
                for (int j = 0; j < 5 * ny; j++)
                    total += row[j] * (j + 1);
            }
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
