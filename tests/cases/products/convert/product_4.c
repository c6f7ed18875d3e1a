/* Two fields, one after the other, in one message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int ny = argc > 1 ? 6 : 5, nz = argc > 1 ? 3 : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (ny < 1 || nz < 1)
        return 1;
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int second = ny * nz;

            for (int k = 0; k < nz; k++) //~ hole: k = 0 => k = 1
                for (int j = 0; j < ny; j++) {
                    sbuf[k * ny + j] = u[k + j] + t;
                    sbuf[k * ny + j + second] = u[k] - t;
                }
            MPI_Send(sbuf, 2 * ny * nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, 2 * ny * nz, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int k = 0; k < nz; k++)
                for (int j = 0; j < ny; j++)
                    total += rbuf[k * ny + j] - rbuf[k * ny + j + ny * nz] * j;
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
