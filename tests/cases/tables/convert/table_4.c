/* Arrays of pointers and of requests in a struct on the heap, reached through a parameter. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define DIRS 4

struct nb {
    int peer, n;
    double *out[DIRS], *in[DIRS];
    MPI_Request rq[2 * DIRS];
};

static struct nb *setup(int n, int peer)
{
    struct nb *h = malloc(sizeof *h);
    for (int d = 0; d < DIRS; d++) {
        h->peer = peer;
        h->n = n;
        h->out[d] = malloc(n * sizeof(double));
        h->in[d] = malloc(n * sizeof(double));
    }
    return h;
}

static void exchange(struct nb *h, double *u)
{
 for (int d = 0; d < DIRS; d++)
        MPI_Irecv(h->in[d], h->n, MPI_DOUBLE, h->peer, d, MPI_COMM_WORLD, &h->rq[d]); //~ take(h->in[d])
    for (int d = 0; d < DIRS; d++) {
        for (int i = 0; i < h->n; i++)
            h->out[d][i] = u[i] * (d + 2);
        MPI_Isend(h->out[d], h->n, MPI_DOUBLE, h->peer, d, MPI_COMM_WORLD, &h->rq[DIRS + d]); //~ give(h->out[d])
    }
    MPI_Waitall(2 * DIRS, h->rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < DIRS; d++)
        for (int i = 0; i < h->n; i++)
            u[i] += h->in[d][i] * 0.25;
}

static void finish(struct nb *h)
{
    for (int d = 0; d < DIRS; d++) {
        free(h->out[d]);
        free(h->in[d]);
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
    struct nb *h = setup(n, size - 1 - rank);
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
