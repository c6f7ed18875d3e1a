/* One walk over the faces packs and unpacks; a parameter says which. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define NX 40
#define NY 60
#define CELLS (NX * NY)

static double u[CELLS];
static double *out, *in;

static int walk(int column, double *buf, int unpack)
{
    int n = 0;
    for (int i = 0; i < NX; i++) {
        double *cell = &u[i * NY + column];
        if (unpack)
            *cell += buf[n];
        else
            buf[n] = *cell;
        n++;
    }
    return n;
}

static void exchange(int peer, int tag)
{
    MPI_Request rq[2];
    MPI_Irecv(in, NX, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &rq[0]); //~ take(in)
    int n = walk(1, out, 0);
    MPI_Isend(out, n, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &rq[1]); //~ give(out)
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    walk(0, in, 1);
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
    out = malloc(NX * sizeof(double));
    in = malloc(NX * sizeof(double));
    if (peer < size)
        for (int t = 0; t < 3; t++)
            exchange(peer, t);
    free(out);
    free(in);
    double s = 0;
    for (int i = 0; i < CELLS; i++)
        s += u[i] * (i % 13 + 1);
    printf("%d %.17g\n", rank, s);
    MPI_Finalize();
    return 0;
}
