/* A stride that is negative: the places go down from the first, which lies after the message. */
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
    int step = argc > 1 ? atoi(argv[1]) : -5, ny = 2, nz = 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (ny < 1 || nz < 1)
        return 1;
    for (int i = 0; i < MAX; i++)
        rbuf[i] = i;
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < MAX; i++)
                sbuf[i] = u[i] + t;
            MPI_Send(sbuf, 31 + step * (nz - 1), MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(rbuf, 31 + step * (nz - 1), MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI201
            for (int k = 0; k < nz; k++)
                total += rbuf[30 + k * step] * (k + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
