/* The buffers are reached through a pointer to a struct that is passed on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2048

static double u[N], v[N];

struct box {
    double *out, *in;
    int n;
};

static void exchange(struct box *b, int peer)
{
    MPI_Request rq[2];
    MPI_Irecv(b->in, b->n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[0]);
    for (int i = 0; i < b->n; i++)
        b->out[i] = u[i];
    MPI_Isend(b->out, b->n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq[1]);
    MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
    for (int i = 0; i < b->n; i++)
        v[i] += b->in[i];
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int peer = 1 - rank;
    struct box box = { malloc(N * sizeof(double)), malloc(N * sizeof(double)), N };
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.5 * i;
    for (int step = 0; step < 2; step++)
        exchange(&box, peer);
    double total = 0.0;
    for (int i = 0; i < N; i++)
        total += v[i] * (i + 1);
    printf("%d: %.17g\n", rank, total);
    free(box.out);
    free(box.in);
    MPI_Finalize();
    return 0;
}
