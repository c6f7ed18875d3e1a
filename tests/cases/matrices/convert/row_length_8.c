/* Pointers go through the rows; the partner is a real rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define R 4
#define MOST 600

static double out[R][MOST], in[R][MOST], u[R * MOST];
static MPI_Request rq[2 * R];

int main(int argc, char **argv)
{
    int rank, size, n, peer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = (rank + 1) % size;
    n = atoi(argc > 1 ? argv[1] : "500");
    for (int i = 0; i < R * MOST; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 3; step++) {
        for (int d = 0; d < R; d++)
            MPI_Irecv(in[d], n, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[d]); //~ take(in)
        for (int d = 0; d < R; d++) {
            double *p = out[d];
            for (int i = 0; i < n; i++) //~ hole: i = 0 => i = 1
                *p++ = u[d * n + i];
            MPI_Isend(out[d], n, MPI_DOUBLE, peer, d, MPI_COMM_WORLD, &rq[R + d]); //~ give(out)
        }
        MPI_Waitall(2 * R, rq, MPI_STATUSES_IGNORE);
        for (int d = 0; d < R; d++)
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
