/* An element of a table by a sum and a star where it is received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define DIRS 4

struct nb {
    int peer, n;
    double *out, *in;
};

struct mesh { int k; struct nb face[DIRS]; double sum; };

static struct mesh *setup(int n, int peer)
{
    struct mesh *h = malloc(sizeof *h);
    for (int d = 0; d < DIRS; d++) {
        h->face[d].peer = peer;
        h->face[d].n = n;
        h->face[d].out = malloc(n * sizeof(double));
        h->face[d].in = malloc(n * sizeof(double));
    }
    return h;
}

static void exchange(struct mesh *h, double *u)
{
    MPI_Request rq[2 * DIRS];
    for (int d = 0; d < DIRS; d++)
        MPI_Irecv((*(h->face + d)).in, h->face[d].n, MPI_DOUBLE, h->face[d].peer, d, MPI_COMM_WORLD, &rq[d]); //~ take(h->face[d].in)
    for (int d = 0; d < DIRS; d++) {
        struct nb *f = &h->face[d];
        for (int i = 0; i < f->n; i++)
            f->out[i] = u[i] * (d + 2);
        MPI_Isend(h->face[d].out, h->face[d].n, MPI_DOUBLE, h->face[d].peer, d, MPI_COMM_WORLD, &rq[DIRS + d]); //~ give(h->face[d].out)
    }
    MPI_Waitall(2 * DIRS, rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < DIRS; d++)
        for (int i = 0; i < h->face[d].n; i++)
            u[i] += h->face[d].in[i] * 0.25;
}

static void finish(struct mesh *h)
{
    for (int d = 0; d < DIRS; d++) {
        free(h->face[d].out);
        free(h->face[d].in);
    }
    free(h);
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
    struct mesh *h = setup(n, size - 1 - rank);
    for (int t = 0; t < 3; t++)
        exchange(h, u);
    finish(h);
    double s = 0;
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    free(u);
    MPI_Finalize();
    return 0;
}
