/* Both sizes are negative: the nest does not run, and what is written after it does not begin at their product. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int ny = argc > 1 ? -2 : -3, nz = argc > 1 ? -5 : -4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < 60; i++)
        sbuf[i] = i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int p = 0;

            for (int i = 0; i < ny * nz; i++)
                sbuf[i] = i + t;
            for (int k = 0; k < nz; k++)
                for (int j = 0; j < ny; j++)
                    sbuf[p++] = u[k + j] + t;
            for (int i = 0; i < ny * nz; i++)
                sbuf[p++] = u[i] - t;
            MPI_Send(sbuf, 2 * (ny * nz), MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, MAX, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < 24; i++)
                total += rbuf[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
