/* Two fields in turn at each place, one loop inside the other the other way round; the sizes are given. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];

static void put(int ny, int nz, int t)
{
    if (ny <= 0 || nz <= 0)
        return;
    for (int j = 0; j < ny; j++) //~ hole: j = 0 => j = 1
        for (int k = 0; k < nz; k++) {
            sbuf[2 * (k * ny + j)] = u[k + j] + t;
            sbuf[2 * (k * ny + j) + 1] = u[k] - t;
        }
    MPI_Send(sbuf, 2 * ny * nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
}

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int ny = argc > 1 ? 6 : 5, nz = argc > 1 ? 3 : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            put(ny, nz, t);
        } else if (rank == 1) {
            MPI_Recv(rbuf, 2 * ny * nz, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int k = 0; k < nz; k++)
                for (int j = 0; j < ny; j++) {
                    double a = rbuf[2 * (k * ny + j)], b = rbuf[2 * (k * ny + j) + 1];
                    total += a * b * (k + 1);
                }
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
