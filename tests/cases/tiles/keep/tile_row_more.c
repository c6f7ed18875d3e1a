/* One row more is read than came. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];

int main(int argc, char **argv)
{
    int rank;
    double total = 0.0;
    int n = argc > 1 ? 9 : 10, m = argc > 1 ? 5 : 7, tile = argc > 1 ? 3 : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n < 1 || m < 1 || tile < 1)
        return 1;
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < MAX; i++)
        rbuf[i] = i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (int i = 0; i < MAX; i++)
                sbuf[i] = u[i] + t;
            MPI_Send(sbuf, n * m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, n * m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ keep(rbuf) OPI201
            for (int a = 0; a < n + 1; a += tile)
                for (int b = 0; b < m; b += tile)
                    for (int i = a; i < MIN(a + tile, n + 1); i++)
                        for (int j = b; j < MIN(b + tile, m); j++)
                            total += rbuf[i * m + j] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
