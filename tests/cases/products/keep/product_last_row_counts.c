/* Rows of several lengths, of which the last is counted. */
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
            int row[8], p = 0, n, k = 0;

            for (int i = 0; i < nz; i++)
                row[i] = i + ny;
            do {
                n = 0;
                for (int j = 0; j < row[k]; j++) {
                    sbuf[p++] = u[k + j] + t;
                    n++;
                }
                k++;
            } while (k < nz);
            MPI_Send(sbuf, nz * n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
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
