/* The memory outlives the block of the struct, and is read after it. */
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
    const double *last = NULL;
    if (size > 1) {
        struct halo h;
        halo_new(&h, n);
        last = h.out;
        for (int t = 0; t < 3; t++) {
            MPI_Request rq;
            pack(&h, u, t + 1.5);
            MPI_Irecv(h.in, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD, &rq); //~ take(h.in)
            MPI_Send(h.out, n, MPI_DOUBLE, peer, 7, MPI_COMM_WORLD); //~ keep
            MPI_Wait(&rq, MPI_STATUS_IGNORE);
            unpack(&h, u);
        }
    }
    if (last != NULL)
        u[0] += last[1];
    double s = 0;
    for (int i = 0; i < n; i++)
        s += u[i] * i;
    printf("%d %.17g\n", rank, s);
    free(u);
    MPI_Finalize();
    return 0;
}
