#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define EDGES edges
#define BEFORE u[0] += 1
#include "edges.h"
#undef EDGES
#undef BEFORE
#define EDGES edges_back
#define BEFORE u[0] += 2
#include "edges.h"

int main(int argc, char **argv)
{
    int rank, size, n = 60;
    double *out = NULL, *in = NULL, total = 0.0;
    MPI_Status st;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *u = malloc(2 * n * sizeof *u);
    for (int i = 0; i < 2 * n; i++)
        u[i] = rank + i;
    for (int t = 0; t < 4; t++)
        if (t % 2)
            edges(u, n, rank - 1, rank + 1 < size ? rank + 1 : -1, out, in, &st);
        else
            edges_back(u, n, rank + 1 < size ? rank + 1 : -1, rank - 1, out, in, &st);
    for (int i = 0; i < 2 * n; i++)
        total += u[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(u);
    MPI_Finalize();
    return 0;
}
