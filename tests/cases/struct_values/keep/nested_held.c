/* A pointer to a row is taken before the exchange, and its buffer is read through it after the send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define DIRS 4

struct nb {
    int peer, n;
    double *out, *in;
};

struct dom {
    int n;
    double *u;
    struct nb nbs[DIRS];
};

static void setup(struct dom *d, int n, int rank, int size)
{
    d->n = n;
    d->u = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        d->u[i] = rank + i;
    for (int k = 0; k < DIRS; k++) {
        struct nb *b = &d->nbs[k];
        b->peer = (rank + (k % 2 ? 1 : size - 1)) % size;
        b->n = n / DIRS;
        b->out = malloc(b->n * sizeof *b->out);
        b->in = malloc(b->n * sizeof *b->in);
    }
}

static void pack(struct dom *d, struct nb *b, int k)
{
    for (int i = 0; i < b->n; i++)
        b->out[i] = d->u[i * DIRS + k];
}

static void unpack(struct dom *d, struct nb *b, int k)
{
    for (int i = 0; i < b->n; i++)
        d->u[i * DIRS + k] += 0.5 * b->in[i];
}

static void exchange(struct dom *d)
{
    MPI_Request rq[2 * DIRS];
    for (int k = 0; k < DIRS; k++) {
        struct nb *b = &d->nbs[k];
        MPI_Irecv(b->in, b->n, MPI_DOUBLE, b->peer, k ^ 1, MPI_COMM_WORLD, &rq[k]);
    }
    for (int k = 0; k < DIRS; k++) {
        struct nb *b = &d->nbs[k];
        pack(d, b, k);
        MPI_Isend(b->out, b->n, MPI_DOUBLE, b->peer, k, MPI_COMM_WORLD, &rq[DIRS + k]); //~ keep
    }
    MPI_Waitall(2 * DIRS, rq, MPI_STATUSES_IGNORE);
    for (int k = 0; k < DIRS; k++)
        unpack(d, &d->nbs[k], k);
}

int main(int argc, char **argv)
{
    int rank, size;
    struct dom d;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    setup(&d, 400, rank, size);
    double *first = d.nbs[DIRS - 1].out;
    for (int t = 0; t < 3; t++)
        exchange(&d);
    double s = 0;
    for (int i = 0; i < d.n; i++)
        s += d.u[i] * i;
    for (int i = 0; i < d.nbs[0].n; i++)
        s += first[i];
    printf("%d %.17g\n", rank, s);
    for (int k = 0; k < DIRS; k++) {
        free(d.nbs[k].out);
        free(d.nbs[k].in);
    }
    free(d.u);
    MPI_Finalize();
    return 0;
}
