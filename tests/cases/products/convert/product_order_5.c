/* Three loops in another order than that of the places, one of them downwards. */
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
    int nx = argc > 1 ? 4 : 3, ny = argc > 1 ? 6 : 5, nz = argc > 1 ? 3 : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (nx < 1 || ny < 1 || nz < 1)
        return 1;
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int k = nz - 1; k >= 0; k--) //~ hole: k >= 0 => k >= 1
                for (int i = 0; i < nx; i++)
                    for (int j = 0; j < ny; j++)
                        sbuf[(i * ny + j) * nz + k] = u[i + k + j] + t;
            MPI_Send(sbuf, nx * ny * nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, nx * ny * nz, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int k = nz - 1; k >= 0; k--)
                for (int j = 0; j < ny; j++)
                    for (int i = 0; i < nx; i++)
                        total += rbuf[(i * ny + j) * nz + k] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
