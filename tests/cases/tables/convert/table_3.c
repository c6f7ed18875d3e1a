/* Tables of pointers on the heap. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define DIRS 4

static double **out, **in;
static int count, to;

static void setup(int n, int peer)
{
    out = malloc(DIRS * sizeof(double *));
    in = malloc(DIRS * sizeof *in);
    for (int d = 0; d < DIRS; d++) {
        to = peer;
        count = n;
        out[d] = malloc(n * sizeof(double));
        in[d] = malloc(n * sizeof(double));
    }
}

static void exchange(double *u)
{
    MPI_Request rq[2 * DIRS];
    for (int d = 0; d < DIRS; d++)
        MPI_Irecv(in[d], count, MPI_DOUBLE, to, d, MPI_COMM_WORLD, &rq[d]); //~ take(in[d])
    for (int d = 0; d < DIRS; d++) {
        for (int i = 0; i < count; i++)
            out[d][i] = u[i] * (d + 2);
        MPI_Isend(out[d], count, MPI_DOUBLE, to, d, MPI_COMM_WORLD, &rq[DIRS + d]); //~ give(out[d])
    }
    MPI_Waitall(2 * DIRS, rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < DIRS; d++)
        for (int i = 0; i < count; i++)
            u[i] += in[d][i] * 0.25;
}

static void finish(void)
{
    for (int d = 0; d < DIRS; d++) {
        free(out[d]);
        free(in[d]);
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 500;
    double *u = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        u[i] = rank + i;
    setup(n, size - 1 - rank);
    for (int t = 0; t < 3; t++)
        exchange(u);
    finish();
    double s = 0;
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    free(u);
    MPI_Finalize();
    return 0;
}
