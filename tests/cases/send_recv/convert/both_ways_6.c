/* Scratch of the call's size: each message that comes has room for what goes after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double g[512], h[512];
static int nx, ny, rank, size;

static void edges(int last, int first)
{
    double *dum = malloc(2 * (nx > ny ? nx : ny) * sizeof *dum);
    MPI_Request q;
    if (last && rank + 1 < size) {
        MPI_Irecv(dum, 2 * nx, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD, &q); //~ take(dum)
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        for (int i = 0; i < nx; i++) {
            g[i] += dum[i];
            h[i + 1] = dum[i + nx];
        }
    }
    if (first && rank > 0) {
        for (int i = 0; i < nx; i++) {
            dum[i] = g[i + 8];
            dum[i + nx] = h[i + 8];
        }
        MPI_Isend(dum, 2 * nx, MPI_DOUBLE, rank - 1, 3, MPI_COMM_WORLD, &q); //~ give(dum)
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    if (last && rank + 1 < size) {
        MPI_Irecv(dum, 2 * ny, MPI_DOUBLE, rank + 1, 4, MPI_COMM_WORLD, &q); //~ take(dum)
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        for (int i = 0; i < ny; i++) {
            g[i] += dum[i];
            h[i + 1] = dum[i + ny];
        }
    }
    if (first && rank > 0) {
        for (int i = 0; i < ny; i++) {
            dum[i] = g[i + 8];
            dum[i + ny] = h[i + 8];
        }
        MPI_Isend(dum, 2 * ny, MPI_DOUBLE, rank - 1, 4, MPI_COMM_WORLD, &q); //~ give(dum)
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    free(dum);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    nx = argc + 20;
    ny = argc + 30;
    for (int i = 0; i < 512; i++) {
        g[i] = i + rank;
        h[i] = i * rank;
    }
    for (int step = 0; step < 3; step++)
        edges(argc > 0, argc < 5);
    double sum = 0;
    for (int i = 0; i < 512; i++)
        sum += (g[i] - 2 * h[i]) * (i + 1);
    printf("%d %.2f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
