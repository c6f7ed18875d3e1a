/* Two nests pack by one counter: what the second one writes begins after a product of sizes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];
static int ny, nz;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ny = argc > 1 ? 6 : 5;
    nz = argc > 1 ? 3 : 4;
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int p = 0;

            for (int k = 0; k < nz; k++) //~ hole: k = 0 => k = 1
                for (int j = 0; j < ny; j++) {
                    sbuf[p] = u[k + j] + t;
                    sbuf[p + 1] = t;
                    p += 2;
                }
            for (int m = 4; m <= 5; m++)
                for (int k = 0; k < nz; k++)
                    for (int j = 0; j < ny; j++)
                        sbuf[p++] = u[k + j + m] - t;
            MPI_Send(sbuf, 4 * (ny * nz), MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, 4 * (ny * nz), MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < 4 * (ny * nz); i++)
                total += rbuf[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
