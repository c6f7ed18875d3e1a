/* Sizes that are what lies between two bounds, and loops that go down. */
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
    int j0 = argc > 1 ? 1 : 2, j1 = argc > 1 ? 7 : 6, k0 = argc > 1 ? 3 : 1, k1 = argc > 1 ? 5 : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (j1 < j0 || k1 < k0)
        return 1;
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int ny = j1 - j0 + 1, nz = k1 - k0 + 1;

            for (int k = nz - 1; k >= 0; k--) //~ hole: k >= 0 => k >= 1
                for (int j = ny - 1; j >= 0; j--)
                    sbuf[k * ny + j] = u[k + j] + t;
            MPI_Send(sbuf, ny * nz, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, (j1 - j0 + 1) * (k1 - k0 + 1), MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int k = k0; k <= k1; k++)
                for (int j = j0; j <= j1; j++)
                    total += rbuf[(k - k0) * (j1 - j0 + 1) + j - j0] * k;
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
