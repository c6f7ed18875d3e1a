/* Three loops, one number for the place, sizes that are parameters. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];

static void put(int nx, int ny, int nz, int t)
{
    for (int i = 0; i < nx; i++) //~ hole: i = 0 => i = 1
        for (int j = 0; j < ny; j++)
            for (int k = 0; k < nz; k++)
                sbuf[(i * ny + j) * nz + k] = u[i + j + k] + t;
    MPI_Send(sbuf, nx * ny * nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
}

static double get(int nx, int ny, int nz)
{
    double sum = 0.0;

    MPI_Recv(rbuf, nx * ny * nz, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            for (int k = 0; k < nz; k++)
                sum += rbuf[(i * ny + j) * nz + k] * (i + k);
    return sum;
}

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
            put(nx, ny, nz, t);
        } else if (rank == 1) {
            total += get(nx, ny, nz);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
