/* A pointer to one struct, set before the exchanges, reads what was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define DIRS 4

struct nb {
    int peer, n;
    double *out, *in;
};

static struct nb nb[DIRS];

static void setup(int n, int peer)
{
    for (int d = 0; d < DIRS; d++) {
        nb[d].peer = peer;
        nb[d].n = n;
        nb[d].out = malloc(n * sizeof(double));
        nb[d].in = malloc(n * sizeof(double));
    }
}

static void exchange(double *u)
{
    MPI_Request rq[2 * DIRS];
    for (int d = 0; d < DIRS; d++)
        MPI_Irecv(nb[d].in, nb[d].n, MPI_DOUBLE, nb[d].peer, d, MPI_COMM_WORLD, &rq[d]);
    for (int d = 0; d < DIRS; d++) {
        for (int i = 0; i < nb[d].n; i++)
            nb[d].out[i] = u[i] * (d + 2);
        MPI_Isend(nb[d].out, nb[d].n, MPI_DOUBLE, nb[d].peer, d, MPI_COMM_WORLD, &rq[DIRS + d]); //~ keep
    }
    MPI_Waitall(2 * DIRS, rq, MPI_STATUSES_IGNORE);
    for (int d = 0; d < DIRS; d++)
        for (int i = 0; i < nb[d].n; i++)
            u[i] += nb[d].in[i] * 0.25;
}

static void finish(void)
{
    for (int d = 0; d < DIRS; d++) {
        free(nb[d].out);
        free(nb[d].in);
    }
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
    struct nb *p = &nb[rank > 0];
    for (int t = 0; t < 3; t++)
        exchange(u);
    u[1] += p->out[2];
    finish();
    double s = 0;
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    free(u);
    MPI_Finalize();
    return 0;
}
