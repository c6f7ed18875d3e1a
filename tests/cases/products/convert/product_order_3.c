/* A border of two rows: one size is a literal, the other what lies between two bounds. */
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
    int j0 = argc > 1 ? 1 : 2, j1 = argc > 1 ? 7 : 6, k1 = argc > 1 ? 9 : 8, width = j1 - j0 + 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (width < 2)
        return 1;
    sbuf = malloc(sizeof(double) * 2 * width);
    rbuf = malloc(sizeof(double) * 2 * width);
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int p = 0, k = k1 - 1; k <= k1; k++) //~ hole: k1 - 1 => k1
                for (int j = j0; j <= j1; j++)
                    sbuf[p++] = u[k + j] + t;
            MPI_Send(sbuf, 2 * width, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, 2 * width, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < 2 * width; i++)
                total += rbuf[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
