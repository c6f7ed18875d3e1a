/* Rows are exchanged by one call for both sides. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define R 4
#define MOST 600

static double out[R][MOST], in[R][MOST], u[R * MOST];
static MPI_Request rq[2 * R];

int main(int argc, char **argv)
{
    int rank, n;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n = atoi(argc > 1 ? argv[1] : "500");
    for (int i = 0; i < R * MOST; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++)
        for (int d = 0; d < R; d += 1) {
            for (int i = 0; i < n; ++i) //~ hole: i = 0 => i = 1
                out[d][i] = u[d * n + i];
            MPI_Sendrecv(out[d], n, MPI_DOUBLE, 1 - rank, d, in[d], n, MPI_DOUBLE, 1 - rank, d, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(out) take(in)
            for (int i = 0; i < n; i++)
                u[d * n + i] += in[d][i];
        }
    double total = 0.0;
    for (int i = 0; i < R * MOST; i++)
        total += u[i] * (i % 5 + 1);
    printf("%d: %.17g\n", rank, total);
    MPI_Finalize();
    return 0;
}
