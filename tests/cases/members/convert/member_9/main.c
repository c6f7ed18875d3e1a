#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "halo.h"

static void doubled(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = 2 * from[i];
}

int main(int argc, char **argv)
{
    int rank, size, n = 300;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *u = malloc(2 * n * sizeof *u);
    for (int i = 0; i < 2 * n; i++)
        u[i] = rank * 1000 + i;
    halo *h = halo_new(n, (rank + size - 1) % size, (rank + 1) % size);
    if (h == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    halo_run(h, u);
    halo_packing(h, doubled);
    for (int t = 0; t < 3; t++) {
        halo_run(h, u);
        for (int i = 0; i < n; i++)
            u[n + i] += 0.25 * u[i];
    }
    double sum = 0;
    for (int i = 0; i < 2 * n; i++)
        sum += u[i] * (i % 7);
    printf("%d: %.17g\n", rank, sum);
    halo_delete(h);
    free(u);
    MPI_Finalize();
    return 0;
}
