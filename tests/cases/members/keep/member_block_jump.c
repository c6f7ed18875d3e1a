/* A jump out of the block may leave it before the receive is complete. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct halo {
    int n;
    double *out, *in;
};

static void halo_new(struct halo *h, int n)
{
    h->n = n;
    h->out = malloc(n * sizeof(double));
    h->in = malloc(n * sizeof(double));
    if (h->out == NULL || h->in == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void halo_free(struct halo *h)
{
    free(h->out);
    free(h->in);
}

static void pack(struct halo *h, const double *u, double by)
{
    for (int i = 0; i < h->n; i++)
        h->out[i] = u[i] * by;
}

static void unpack(const struct halo *h, double *u)
{
    for (int i = 0; i < h->n; i++)
        u[i] += h->in[i] / 4;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 400, peer = size - 1 - rank;
    double *u = malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        u[i] = rank + i;
    MPI_Request rq = MPI_REQUEST_NULL;
    switch (size > 0) {
    default: {
        struct halo h;
        halo_new(&h, n);
        pack(&h, u, 1.5);
        MPI_Irecv(h.in, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ keep
        MPI_Send(h.out, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD); //~ give(h.out)
        if (rank >= 0)
            break;
        MPI_Wait(&rq, MPI_STATUS_IGNORE);
        unpack(&h, u);
    }
    }
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
    double s = 0;
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    free(u);
    MPI_Finalize();
    return 0;
}
