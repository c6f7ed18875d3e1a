/* Tiles of a box, counted without signs. */
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
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 10, m = argc > 1 ? 5 : 7;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n < 1 || m < 1)
        return 1;
    for (int i = 0; i < MAX; i++)
        u[i] = rank + 0.5 * i;
    for (int t = 0; t < 3; t++) {
        if (rank == 0) {
            for (size_t a = 0; a < n; a += 4) //~ hole: a = 0 => a = 4
                for (size_t b = 0; b < m; b += 4)
                    for (size_t i = a; i < MIN(a + 4, n); i++)
                        for (size_t j = b; j < MIN(b + 4, m); j++)
                            sbuf[i * m + j] = u[i + j] + t;
            MPI_Send(sbuf, n * m, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); //~ give(sbuf)
        } else if (rank == 1) {
            MPI_Recv(rbuf, n * m, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ take(rbuf)
            for (size_t a = 0; a < n; a += 4)
                for (size_t b = 0; b < m; b += 4)
                    for (size_t i = a; i < MIN(a + 4, n); i++)
                        for (size_t j = b; j < MIN(b + 4, m); j++)
                            total += rbuf[i * m + j] * (i + 1);
        }
    }
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
