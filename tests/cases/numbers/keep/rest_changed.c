/* The number grows after the division. */
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
    int n = argc > 1 ? 9 : 8, m = argc > 1 ? 5 : 7, tile = argc > 1 ? 3 : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n < 1 || m < 1 || tile < 1)
        return 1;
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int i = 0; i < MAX; i++)
        sbuf[i] = 3 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            int all = n - 1;
            int whole = all / tile;

            for (int k = 0; k < whole; k++)
                for (int i = 0; i < tile; i++)
                    sbuf[k * tile + i] = u[i + k] + t;
            all++;
            if (all % tile)
                for (int i = whole * tile; i < all; i++)
                    sbuf[i] = u[i] + t;
            MPI_Send(sbuf, n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ keep(sbuf) OPI102
        } else if (rank == 1) {
            MPI_Recv(rbuf, n, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < n; i++)
                total += rbuf[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
