/* One struct is used by name in main, and by the functions through its address. */
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

static void exchange(struct halo *h, double *u, int peer, int tag)
{
    MPI_Request rq;
    for (int i = 0; i < h->n; i++)
        h->out[i] = 2.0 * u[i] + tag;
    MPI_Irecv(h->in, h->n, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &rq); //~ take(h->in)
    MPI_Send(h->out, h->n, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD); //~ give(h->out)
    MPI_Wait(&rq, MPI_STATUS_IGNORE);
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
    halo_init(&west, N);
    halo_init(&east, N / 2);
    for (int t = 0; t < 3; t++) {
        exchange(&west, u, 1 - rank, 1);
        for (int i = 0; i < east.n; i++)
            east.out[i] = 3.0 * u[i];
        MPI_Sendrecv(east.out, east.n, MPI_DOUBLE, 1 - rank, 2, //~ give(east.out) take(east.in)
                     east.in, east.n, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < east.n; i++)
            u[i] -= 0.25 * east.in[i];
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += u[i] * (i + 1);
    printf("%d %.17g\n", rank, sum);
    halo_free(&west);
    halo_free(&east);
    MPI_Finalize();
    return 0;
}
