/* From both sizes is taken a remainder, and they are negative on every other rank. */
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

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 5; t++) {
        int ny = argc + 1 - 4 * ((rank + 1) % 2), nz = ny;
        if (rank == 0) {
            for (int k = 0; k < nz; k++)
                for (int j = 0; j < ny; j++)
                    sbuf[k * ny + j] = u[k + j] + t;
            MPI_Send(sbuf, ny * nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, MAX, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 60; i++)
                total += rbuf[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
