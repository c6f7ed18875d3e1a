/* One of two buffers of a kind is sent with the zeros it was allocated with. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 300

struct halo {
    double *out, *in;
    int n;
};

static void halo_init(struct halo *h, int n)
{
    h->n = n;
    h->out = malloc(n * sizeof(double));
    h->in = malloc(n * sizeof(double));
}

static void halo_free(struct halo *h)
{
    free(h->out);
    free(h->in);
}

static void pack(struct halo *h, const double *u, int tag)
{
    for (int i = 0; i < h->n; i++)
        h->out[i] = 2.0 * u[i] + tag;
}

static void post(struct halo *h, int peer, int tag, MPI_Request *rq)
{
    MPI_Irecv(h->in, h->n, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, rq); //~ take(h->in)
}

static void ship(struct halo *h, int peer, int tag, MPI_Request *rq)
{
    MPI_Isend(h->out, h->n, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, rq); //~ give(h->out)
}

static void unpack(struct halo *h, double *u)
{
    for (int i = 0; i < h->n; i++)
        u[i] += 0.5 * h->in[i];
}

int main(int argc, char **argv)
{
    int rank;
    static double u[N];
    struct halo west, east;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        u[i] = rank + 0.25 * i;
    west.n = N;
    west.out = calloc(N, sizeof(double));
    west.in = malloc(N * sizeof(double));
    halo_init(&east, N / 2);
    MPI_Request rq[4];
    post(&west, 1 - rank, 1, &rq[0]);
    post(&east, 1 - rank, 2, &rq[1]);
    pack(&east, u, 2);
    ship(&west, 1 - rank, 1, &rq[2]);
    ship(&east, 1 - rank, 2, &rq[3]);
    MPI_Waitall(4, rq, MPI_STATUSES_IGNORE);
    unpack(&west, u);
    unpack(&east, u);
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += u[i] * (i + 1);
    printf("%d %.17g\n", rank, sum);
    halo_free(&west);
    halo_free(&east);
    MPI_Finalize();
    return 0;
}
