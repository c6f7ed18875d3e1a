/* A function with tiles, or without them where all is one; three directions. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX 400

static double u[MAX];
static double sbuf[MAX], rbuf[MAX];

static void pack(int rows, int columns, int size, int t)
{
    if (size < rows) {
        for (int a = 0; a < rows; a += size)
            for (int b = 0; b < columns; b += size)
                for (int c = 0; c < 3; c += 2)
                    for (int i = a; i < MIN(rows, a + size); i++)
                        for (int j = b; j < MIN(columns, b + size); j++) //~ hole: j = b => j = b + t
                            for (int k = c; k < MIN(3, c + 2); k++)
                                sbuf[(k * rows + i) * columns + j] = u[i + j + k] + t;
    } else
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++)
                for (int k = 0; k < 3; k++)
                    sbuf[(k * rows + i) * columns + j] = u[i + j + k] + t;
}

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
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            pack(n, m, tile, t);
            MPI_Send(sbuf, n * m * 3, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, n * m * 3, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (int i = 0; i < n * m * 3; i++)
                total += rbuf[i] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
