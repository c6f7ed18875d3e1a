/* The flag goes down through two calls, turned over on the way. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 500

static double u[CELLS];

static void copy(double *restrict field, double *restrict buf, int n, int to_field, int scale)
{
    for (int i = 0; i < n; i++) {
        if (!to_field && scale > 0)
            buf[i] = field[i] * scale;
        if (to_field)
            field[i] = 0.5 * (field[i] + buf[i]);
    }
}

static void pack(double *buf, int n, int reverse)
{
    copy(u, buf, n, reverse, 3);
}

static void swap(int peer, int n, int tag)
{
    double *mine = malloc(n * sizeof *mine), *theirs = malloc(n * sizeof *theirs);
    pack(mine, n, 0);
    MPI_Sendrecv(mine, n, MPI_DOUBLE, peer, tag, theirs, n, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); //~ give(mine) take(theirs)
    pack(theirs, n, !0);
    free(mine);
    free(theirs);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < CELLS; i++)
        u[i] = rank + i * 0.25;
    int peer = rank ^ 1;
    if (peer < size)
        for (int t = 0; t < 3; t++)
            swap(peer, CELLS - t, t);
    double s = 0;
    for (int i = 0; i < CELLS; i++)
        s += u[i] * (i % 13 + 1);
    printf("%d %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
