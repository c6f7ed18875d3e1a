/* A pointer that moves on through three loops. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 400

static double u[MAX];
static double *sbuf, *rbuf;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int nx = argc > 1 ? 4 : 3, ny = argc > 1 ? 6 : 5, nz = argc > 1 ? 3 : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (nx < 0 || ny < 0 || nz < 0)
        return 1;
    sbuf = malloc(MAX * sizeof(double));
    rbuf = malloc(MAX * sizeof(double));
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            double *p = sbuf;

            for (int i = 0; i < nx; i++) //~ hole: i = 0 => i = 1
                for (int k = 0; k < nz; k++)
                    for (int j = 0; j < ny; j++)
                        *p++ = u[i + k + j] + t;
            MPI_Send(sbuf, nx * ny * nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, nz * ny * nx, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            int n = 0;
            for (int i = 0; i < nx; i++)
                for (int k = 0; k < nz; k++)
                    for (int j = 0; j < ny; j++)
                        total += rbuf[n++] * (k + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
