/* Loops from 1, and sizes that are members; the memory is larger than the message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAX 400

static double u[MAX];
static struct grid {
    int ny, nz;
    double *sbuf, *rbuf;
} g;

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    g.ny = argc > 1 ? 6 : 5;
    g.nz = argc > 1 ? 3 : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (g.ny < 1 || g.nz < 1)
        return 1;
    g.sbuf = malloc(MAX * sizeof(double));
    g.rbuf = malloc(MAX * sizeof(double));
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int k = 1; k <= g.nz; k++) //~ hole: k = 1 => k = 2
                for (int j = 1; j <= g.ny; j++)
                    g.sbuf[(k - 1) * g.ny + (j - 1)] = u[k + j] + t;
            MPI_Send(g.sbuf, g.ny * g.nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(g.sbuf)
        } else if (rank == 1) {
            MPI_Recv(g.rbuf, g.ny * g.nz, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(g.rbuf)
            for (int k = 1; k <= g.nz; k++)
                for (int j = 1; j <= g.ny; j++)
                    total += g.rbuf[(k - 1) * g.ny + (j - 1)] * k;
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
